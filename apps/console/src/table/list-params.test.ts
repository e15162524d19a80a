import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { expect, test } from 'vitest'
import {
  changeListParams,
  findUnusable,
  isNarrowed,
  listQueryOf,
  readListParams,
  stepBack,
} from './list-params.ts'

const change = (query: string, by: Parameters<typeof changeListParams>[1]) =>
  changeListParams(new URLSearchParams(query), by).toString()

test('the address is read', () => {
  const query = new URLSearchParams('page=3&limit=20&search=nas&type=gateways&orderBy=name,desc')
  expect(readListParams(query, 10)).toEqual({
    page: 3,
    limit: 20,
    search: 'nas',
    type: 'gateways',
    sort: { field: 'name', direction: 'desc' },
    filters: {},
  })
})

test.each([
  'page=0',
  'page=-1',
  'page=x',
  'limit=101',
  'limit=0',
  'orderBy=name',
  'orderBy=name,up',
  'orderBy=,asc',
])('%s reads as absent', (text) => {
  expect(readListParams(new URLSearchParams(text), 10)).toEqual({
    page: 1,
    limit: 10,
    search: '',
    type: '',
    sort: undefined,
    filters: {},
  })
})

test('a changed search, type or order goes back to page 1 and keeps the rest', () => {
  expect(change('page=3&type=nodes', { search: 'a' })).toBe('type=nodes&search=a')
  expect(change('page=3&search=a', { type: 'gateways' })).toBe('search=a&type=gateways')
  expect(change('page=3', { sort: { field: 'name', direction: 'asc' } })).toBe('orderBy=name%2Casc')
})

test('empty values are not in the address', () => {
  expect(change('search=a&type=nodes&page=2', { search: '', type: '' })).toBe('')
  expect(change('page=2&search=a', { page: 1 })).toBe('search=a')
})

test('the filters of a page are keys of its endpoint, and each change goes back to page 1', () => {
  const query = new URLSearchParams('page=2&state=failed&node=7&other=x')
  const params = readListParams(query, 10, '', ['state', 'node', 'domain'])
  expect(params.filters).toEqual({ state: 'failed', node: '7', domain: '' })
  expect(listQueryOf(params)).toEqual({ page: 2, limit: 10, state: 'failed', node: '7' })
  expect(isNarrowed(params)).toBe(true)
  expect(change('page=2&state=failed&node=7', { filters: { node: '' } })).toBe('state=failed')
})

test('a filter that the endpoint does not know is dropped, and the others stay', () => {
  const query = new URLSearchParams('state=gone&node=x&kind=udp')
  const params = readListParams(query, 10, '', ['state', 'node', 'kind'])
  expect(findUnusable(endpoints.listAllServices, params)).toEqual({
    filters: { state: '', node: '', kind: 'udp' },
  })
})

test('another page keeps everything else', () => {
  expect(change('search=a', { page: 2 })).toBe('search=a&page=2')
})

test('empty keys are not sent to the endpoint', () => {
  expect(listQueryOf(readListParams(new URLSearchParams(), 10))).toEqual({ page: 1, limit: 10 })
})

test.each([
  { page: 3, rows: 0, total: 20, to: 2 },
  { page: 9, rows: 0, total: 20, to: 2 },
  { page: 2, rows: 0, total: 0, to: 1 },
  { page: 1, rows: 0, total: 0, to: undefined },
  { page: 3, rows: 1, total: 21, to: undefined },
])('page $page with $rows rows of $total goes to $to', ({ page, rows, total, to }) => {
  expect(stepBack(page, 10, rows, total)).toBe(to)
})

test('several lists on a page do not interfere', () => {
  const query = new URLSearchParams('page=2&search=a&tokens.page=3&tokens.orderBy=name,asc')
  expect(readListParams(query, 5, 'tokens')).toMatchObject({ page: 3, search: '', limit: 5 })
  const next = changeListParams(query, { search: 'b' }, 'tokens')
  expect(readListParams(next, 10)).toMatchObject({ page: 2, search: 'a' })
  expect(readListParams(next, 5, 'tokens')).toMatchObject({ page: 1, search: 'b', sort: { field: 'name' } })
})
