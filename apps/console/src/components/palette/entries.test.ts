import { House } from 'lucide-react'
import { expect, it } from 'vitest'
import { type Entry, filterEntries, groupEntries, readVerb } from './entries.ts'

const entry = (group: string, text: string, words = ''): Entry => ({
  ...{ id: text, group, text, words, icon: House },
  run: () => {},
})
const ENTRIES = [
  entry('Pages', 'Home'),
  entry('Create', 'Add Client', 'new node'),
  entry('Theme', 'Dark', 'night'),
  entry('Create', 'Add Domain', 'new'),
]

it.each([
  ['', ['Home', 'Add Client', 'Dark', 'Add Domain']],
  ['NEW', ['Add Client', 'Add Domain']],
  ['new dom', ['Add Domain']],
  ['theme dark', ['Dark']],
  ['nothing', []],
])('"%s" finds %j', (typed, found) => {
  expect(filterEntries(ENTRIES, typed).map(({ text }) => text)).toEqual(found)
})

it('keeps together what is of one group, in the order of the first of each', () => {
  expect(groupEntries(ENTRIES).map(([group, list]) => [group, list.length])).toEqual([
    ['Pages', 1],
    ['Create', 2],
    ['Theme', 1],
  ])
})

it.each([
  ['logs wiki', { verb: 'logs', text: 'wiki' }],
  [' Disable  my shop ', { verb: 'disable', text: 'my shop' }],
  ['logs', { verb: undefined, text: 'logs' }],
  ['logstash', { verb: undefined, text: 'logstash' }],
])('reads "%s" as %j', (typed, read) => expect(readVerb(typed)).toEqual(read))
