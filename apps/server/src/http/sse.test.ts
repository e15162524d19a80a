import { expect, test } from 'vitest'
import { renderEvent } from './sse.ts'

test('an event has the form of the standard', () => {
  expect(renderEvent({ data: '{}' })).toBe('data: {}\n\n')
  expect(renderEvent({ data: '[]', event: 'services', id: 'a-1' })).toBe(
    'id: a-1\nevent: services\ndata: []\n\n',
  )
})
