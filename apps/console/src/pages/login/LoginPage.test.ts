import { expect, test } from 'vitest'
import { ApiError } from '../../api/api-error.ts'
import { loginErrorMessage } from './LoginPage.tsx'

test.each([
  [429, 'Too many attempts, try again later'],
  [401, 'Invalid Credentials'],
  [422, 'Invalid Credentials'],
  [0, 'The server could not be reached.'],
  [503, 'The server could not be reached.'],
])('status %s reads as %s', (status, words) => {
  expect(loginErrorMessage(new ApiError('The server could not be reached.', { status }))).toBe(words)
})
