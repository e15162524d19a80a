import { MESSAGES } from '@postern/contract/messages'
import { expect, test } from 'vitest'
import { toPublished } from './published.ts'

test('each reason names its field, whether it is a sentence or goes on from the name', () => {
  const errors = [
    { field: 'backendPort', message: MESSAGES.port },
    { field: 'domain', message: 'belongs to services of another node' },
  ]
  expect(toPublished({ key: 'a', state: 'refused', errors }).problem).toBe(
    'backendPort: Enter a port from 1 to 65535; domain belongs to services of another node',
  )
})
