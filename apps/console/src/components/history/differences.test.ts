import type { HistoryRecord } from '@postern/contract/history/history'
import { expect, it } from 'vitest'
import { differencesOf } from './differences.ts'

const record = (over: Partial<HistoryRecord>): HistoryRecord => ({
  ...{ kind: 'service', id: 3, nodeId: 2, domainId: null, name: 'wiki', isCut: false },
  ...{ before: {}, after: {}, ...over },
})

it('names fields as the forms do, and says what was and what is', () => {
  expect(
    differencesOf(
      record({
        before: { backendPort: 8080, stripPath: false, domain: null },
        after: { backendPort: 8081, stripPath: true, domain: 'wiki.example.com' },
      }),
    ),
  ).toEqual([
    { label: 'Backend Port', kind: 'value', from: '8080', to: '8081' },
    { label: 'Strip Path Prefix', kind: 'value', from: 'No', to: 'Yes' },
    { label: 'Domain', kind: 'value', from: null, to: 'wiki.example.com' },
  ])
})

it('says of lists what came and what left', () => {
  const before = { allowedIps: ['203.0.113.7', '203.0.113.8'] }
  const after = { allowedIps: ['203.0.113.8', '198.51.100.0/24'] }
  expect(differencesOf(record({ before, after }))).toEqual([
    { label: 'Allowed IPs', kind: 'list', added: ['198.51.100.0/24'], removed: ['203.0.113.7'] },
  ])
})

it('says of a secret only that it changed', () => {
  const differences = differencesOf(
    record({ kind: 'node', before: { presharedKey: 'set' }, after: { presharedKey: 'changed' } }),
  )
  expect(differences).toEqual([{ label: 'Preshared Key', kind: 'text', text: 'changed', isSecret: true }])
})

it('tells what something new has, and calls the value of a setting by its name', () => {
  const made = record({
    kind: 'node',
    before: null,
    after: { name: 'office', dns: null, gatewayNetworks: [] },
  })
  expect(differencesOf(made)).toEqual([{ label: 'Node Name', kind: 'text', text: 'office', isSecret: false }])
  const setting = {
    kind: 'setting',
    name: 'POSTERN_REQUESTS_DAYS',
    before: { value: null },
    after: { value: '5' },
  }
  expect(differencesOf(record(setting))).toEqual([
    { label: 'POSTERN_REQUESTS_DAYS', kind: 'value', from: null, to: '5' },
  ])
  expect(differencesOf(record({ before: { anyFieldYet: 1 }, after: { anyFieldYet: 2 } }))[0]?.label).toBe(
    'Any Field Yet',
  )
})
