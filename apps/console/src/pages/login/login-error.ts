import { ApiError } from '../../api/api-error.ts'

/** What the alert of the sign-in page says. Only an answer of the server may blame the credentials. */
export function wordsForLoginError(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something went wrong in the console. Reload the page.'
  if (error.status === 0 || error.status >= 500) return error.message
  return error.status === 429 ? 'Too many attempts, try again later' : 'Invalid Credentials'
}
