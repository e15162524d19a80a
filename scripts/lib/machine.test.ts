import { expect, test } from 'vitest'
import { findEdgeObstacle, listMissingCapabilities } from './machine.ts'

test('names the capability that a container without network administration lacks', () => {
  expect(listMissingCapabilities('Name:\tnode\nCapEff:\t00000000a80425fb\n')).toEqual(['CAP_NET_ADMIN'])
  expect(listMissingCapabilities('CapEff:\t000001ffffffffff\n')).toEqual([])
  expect(listMissingCapabilities('CapEff:\t0000000000000000\n')).toHaveLength(5)
})

test('where there is no /proc nothing is said', () => {
  expect(listMissingCapabilities('')).toEqual([])
})

test('the edge needs Linux and root, and the message says which is missing', () => {
  const machine = { isLinux: true, isRoot: true, missingCapabilities: [] }
  expect(findEdgeObstacle(machine)).toBeUndefined()
  expect(findEdgeObstacle({ ...machine, isRoot: false })).toContain('sudo')
  expect(findEdgeObstacle({ ...machine, isLinux: false })).toContain('Linux only')
})
