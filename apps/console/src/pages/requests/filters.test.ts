import { expect, test } from 'vitest'
import { addressOf, chipText, findErrors, queryOf, readFilters } from './filters.ts'

const read = (address: string) => readFilters(new URLSearchParams(address))

test('the address holds the filters, in one order', () => {
  const filters = read('path=%2Fapi&last=1h&status=5xx&colour=red&method=')
  expect(filters).toEqual({ last: '1h', path: '/api', status: '5xx' })
  expect(addressOf(filters).toString()).toBe('last=1h&status=5xx&path=%2Fapi')
})

test.each(['status=600', 'source=somewhere', 'last=9y', 'minTime=x', 'reason=no', 'service=0', 'from=now'])(
  '%s reads as absent',
  (address) => {
    expect(read(`${address}&path=a`)).toEqual({ path: 'a' })
  },
)

test('what is wrong is said for its field', () => {
  expect(findErrors({ status: '4x', source: '203.0.113.0/24' })).toEqual({
    status: 'must be a status like 404, or a class like 4xx',
  })
  expect(findErrors({ from: '2026-11-26T12:00:00.000Z', to: '2026-11-26T11:00:00.000Z' })).toEqual({
    to: 'must be after the beginning',
  })
})

test('a time that counts back does so from now', () => {
  const now = Date.parse('2026-11-26T12:00:00Z')
  expect(queryOf({ last: '1h', path: '/' }, now)).toEqual({ path: '/', from: '2026-11-26T11:00:00.000Z' })
  expect(queryOf({ path: '/' }, now)).toEqual({ path: '/' })
})

test('chips say what they are about', () => {
  const names = { service: 'web', node: undefined }
  expect(chipText('service', '7', names)).toBe('Service: web')
  expect(chipText('node', '3', names)).toBe('Node: 3')
  expect(chipText('reason', 'tunnel', names)).toBe('Reason: the tunnel to the node is down')
  expect(chipText('minTime', '500', names)).toBe('At least 500 ms')
})
