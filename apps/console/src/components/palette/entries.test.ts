import { House } from 'lucide-react'
import { expect, it } from 'vitest'
import { type Entry, filterEntries, groupEntries } from './entries.ts'

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

it('keeps groups together, in the order of their first entries', () => {
  expect(groupEntries(ENTRIES).map(([group, list]) => [group, list.length])).toEqual([
    ['Pages', 1],
    ['Create', 2],
    ['Theme', 1],
  ])
})
