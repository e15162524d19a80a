import type { RoleRule } from '@postern/contract/sign-in/console-providers'
import { describe, expect, it } from 'vitest'
import { type Claimed, findRule } from './rules.ts'

const rule = (claim: string, value: string, role: RoleRule['role'] = 'editor'): RoleRule => ({
  ...{ claim, value, role },
})
const account = (claims: object, more: Partial<Claimed> = {}): Claimed => ({
  claims: { ...claims },
  email: null,
  doubt: null,
  ...more,
})

describe('a rule fits', () => {
  it.each([
    ['text', { department: 'ops' }, 'ops'],
    ['one value of a list', { department: ['dev', 'ops'] }, 'ops'],
    ['a number', { department: 42 }, '42'],
    ['a number in a list', { department: [7, 42] }, '42'],
    ['a boolean', { department: true }, 'true'],
  ])('%s', (_what, claims, value) => {
    expect(findRule([rule('department', value)], account(claims))).toEqual({ role: 'editor', index: 0 })
  })
})

describe('a rule does not fit', () => {
  it.each([
    ['another case', { groups: ['Ops'] }],
    ['a part of a value', { groups: ['ops-team'] }],
    ['a list within a list', { groups: [['ops']] }],
    ['an object', { groups: { name: 'ops' } }],
    ['an object in a list', { groups: [{ name: 'ops' }] }],
    ['nothing', { groups: null }],
    ['an absent claim', {}],
  ])('%s', (_what, claims) => {
    expect(findRule([rule('groups', 'ops')], account(claims))).toBeUndefined()
  })

  it('what every object has from its class', () => {
    const value = String(Object.prototype.constructor)
    expect(findRule([rule('constructor', value), rule('toString', '')], account({}))).toBeUndefined()
    expect(findRule([rule('null', 'null'), rule('x', 'null')], account({ x: null }))).toBeUndefined()
  })
})

it('an address counts in any case, and only when the provider has verified it', () => {
  const rules = [rule('email', 'Ann@Example.com', 'admin')]
  const claims = { email: 'ANN@example.com', email_verified: true }
  expect(findRule(rules, account(claims, { email: 'ann@example.com' }))?.role).toBe('admin')
  const doubted = account(claims, { email: 'ann@example.com', doubt: 'not verified' })
  expect(findRule(rules, doubted)).toBeUndefined()
  // Nor by another spelling that only folds to it.
  expect(findRule(rules, account(claims, { email: 'ann@example.co\u{212A}' }))).toBeUndefined()
})

it('the first one decides', () => {
  const rules = [rule('groups', 'none'), rule('groups', 'all', 'viewer'), rule('groups', 'ops', 'admin')]
  expect(findRule(rules, account({ groups: ['ops', 'all'] }))).toEqual({ role: 'viewer', index: 1 })
  expect(findRule([], account({ groups: ['ops'] }))).toBeUndefined()
})
