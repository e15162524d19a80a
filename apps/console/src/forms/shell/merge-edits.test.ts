import { expect, test } from 'vitest'
import { mergeEdits } from './merge-edits.ts'

const OLD = { name: 'wiki', port: 80, ips: ['10.0.0.1'] as string[], ssl: false }

test('typed values stay, and untouched fields take their newest value', () => {
  const merged = mergeEdits(OLD, { ...OLD, port: 9999 }, { ...OLD, name: 'docs' })
  expect(merged).toEqual({
    taken: [{ name: 'name', words: 'wiki' }],
    kept: [{ name: 'port', value: 9999 }],
    conflicting: [],
  })
})

test('fields that both changed differently are returned with the newest value', () => {
  const merged = mergeEdits(
    OLD,
    { name: 'mine', port: 81, ips: [], ssl: true },
    { name: 'theirs', port: 81, ips: ['10.0.0.2', '10.0.0.3'], ssl: true },
  )
  expect(merged.kept.map(({ name }) => name)).toEqual(['name', 'port', 'ips', 'ssl'])
  expect(merged.conflicting).toEqual([
    { name: 'name', value: 'theirs', words: 'theirs' },
    { name: 'ips', value: ['10.0.0.2', '10.0.0.3'], words: '10.0.0.2, 10.0.0.3' },
  ])
})
