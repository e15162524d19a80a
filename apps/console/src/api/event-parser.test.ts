import { expect, test } from 'vitest'
import { createEventParser } from './event-parser.ts'

test('events come out whole however the text was cut', () => {
  const text = ': hello\n\nid: 7\ndata: {"a":1}\n\nevent: services\ndata: 1\ndata: 2\n\n'
  for (let cut = 0; cut < text.length; cut++) {
    const parse = createEventParser(1000)
    expect([...parse(text.slice(0, cut)), ...parse(text.slice(cut))]).toEqual([
      { data: '{"a":1}', id: '7', name: 'message' },
      { data: '1\n2', id: undefined, name: 'services' },
    ])
  }
})

test('comments and fields without data are no events', () => {
  expect(createEventParser(1000)(': ping\n\nretry: 1000\n\n')).toEqual([])
})

test('an event that never ends is refused', () => {
  const parse = createEventParser(10)
  expect(() => parse(`data: ${'x'.repeat(20)}`)).toThrow(RangeError)
})
