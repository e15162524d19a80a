import type { RoleRule } from '@postern/contract/sign-in/console-providers'
import { expect, test } from 'vitest'
import { completeRules, decisionText, providerValues, valuesOfClaim, withRule } from './provider-values.ts'

const rule = (claim: string, value: string, role: RoleRule['role'] = 'viewer') => ({ claim, value, role })

test.each([
  ['ann@example.com', ['ann@example.com']],
  ['["devs","ops"]', ['devs', 'ops']],
  ['[]', []],
  ['true', ['true']],
  ['42', ['42']],
  ['{"a":1}', []],
  ['["devs","op', []],
  ['[1,true,["x"],null]', ['1', 'true']],
])('the claim %s has the values %j', (text, values) => {
  expect(valuesOfClaim(text)).toEqual(values)
})

test('a chosen value becomes a rule, once, in the place of an empty one', () => {
  const one = withRule([], 'groups', 'devs')
  expect(one).toEqual([rule('groups', 'devs')])
  expect(withRule(one, 'groups', 'devs')).toBe(one)
  expect(withRule(one, 'groups', 'ops')).toEqual([rule('groups', 'devs'), rule('groups', 'ops')])
  expect(withRule([rule(' ', '', 'editor')], 'groups', 'ops')).toEqual([rule('groups', 'ops', 'editor')])
  expect(withRule([rule('groups', '', 'editor')], 'groups', 'ops')).toHaveLength(2)
})

test('rules that are still typed are left out, and the others keep their places', () => {
  const { rules, places } = completeRules([
    rule('', ''),
    rule('groups', ' ops ', 'editor'),
    rule('groups', ''),
  ])
  expect(rules).toEqual([rule('groups', 'ops', 'editor')])
  expect(decisionText({ role: 'editor', rule: 0 }, places)).toBe('Rule 2 gives Editor.')
  expect(decisionText({ role: null, rule: null }, places)).toBe(
    'No rule fits: nobody without an account gets in.',
  )
})

test('a stored secret stays, and a new provider has none', () => {
  const stored = {
    ...{ id: 1, name: 'Company', issuer: 'google', clientId: 'x', makesAccounts: true, people: 0 },
    ...{ rules: [rule('groups', 'ops')], created_at: '', updated_at: '' },
  }
  expect(providerValues(stored).clientSecret).toBeNull()
  expect(providerValues(undefined).clientSecret).toBe('')
})
