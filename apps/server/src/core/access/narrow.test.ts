import { type Reach, ROLES, type Role } from '@postern/contract/sign-in/auth'
import { describe, expect, test } from 'vitest'
import { isWithin, narrow } from './narrow.ts'

const reachOf = (nodes: number[], domains: number[] = []): Reach => ({ nodes, domains })

test.each<[Role, Role, Role]>([
  ['admin', 'admin', 'admin'],
  ['admin', 'editor', 'editor'],
  ['admin', 'viewer', 'viewer'],
  ['editor', 'viewer', 'viewer'],
  ['viewer', 'viewer', 'viewer'],
])('%s and %s allow what %s may', (one, other, both) => {
  expect(narrow({ role: one, reach: null }, { role: other, reach: null }).role).toBe(both)
  expect(narrow({ role: other, reach: null }, { role: one, reach: null }).role).toBe(both)
})

test.each(ROLES)('a role that this version does not know is less than %s', (role) => {
  // A newer version may have left it in the database.
  const unknown = 'auditor' as Role
  expect(narrow({ role, reach: null }, { role: unknown, reach: null }).role).toBe(unknown)
  expect(narrow({ role: unknown, reach: null }, { role, reach: null }).role).toBe(unknown)
  expect([isWithin(unknown, role), isWithin(role, unknown)]).toEqual([true, false])
})

describe('the records are', () => {
  test.each<[string, Reach, Reach, Reach]>([
    ['all where neither is limited', null, null, null],
    ['those of one where only it is limited', reachOf([1], [2]), null, reachOf([1], [2])],
    ['those in both', reachOf([1, 2], [5, 6]), reachOf([2, 3], [6, 7]), reachOf([2], [6])],
    ['none where they have none in common', reachOf([1]), reachOf([2]), reachOf([])],
    ['none where one is limited to nothing', reachOf([]), null, reachOf([])],
  ])('%s', (_, one, other, both) => {
    const role = 'editor'
    expect(narrow({ role, reach: one }, { role, reach: other }).reach).toEqual(both)
    expect(narrow({ role, reach: other }, { role, reach: one }).reach).toEqual(both)
  })
})
