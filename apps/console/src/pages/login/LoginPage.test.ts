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

test('with the right password, the server says by what people sign in instead', () => {
  const words = 'Passwords are switched off here. Sign in by Google or a passkey.'
  expect(loginErrorMessage(new ApiError(words, { status: 403, code: 'password_off' }))).toBe(words)
})
