import { expect, it } from 'vitest'
import { keepScrollPlaces, readScrollPlaces } from './scroll-places.ts'

function storeOf(content: string | null) {
  let kept = content
  return {
    getItem: () => kept,
    setItem(_: string, value: string) {
      kept = value
    },
  }
}

it('keeps the places of the latest entries', () => {
  const store = storeOf(null)
  const places = new Map(Array.from({ length: 60 }, (_, i) => [`key-${i}`, i * 10]))
  keepScrollPlaces(places, store)
  const read = readScrollPlaces(store)
  expect([read.size, read.get('key-9'), read.get('key-59')]).toEqual([50, undefined, 590])
})

it.each([null, '', 'no JSON', '{"a":1}', '[["a","b"]]'])('%j is nothing kept', (content) => {
  expect(readScrollPlaces(storeOf(content))).toEqual(new Map())
})
