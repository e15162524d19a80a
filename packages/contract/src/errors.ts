import * as z from 'zod/mini'
import { MESSAGES } from './messages.ts'

/** One field and what is wrong with it; `field` is a dotted path like `gatewayNetworks.0.subnet`. */
export const FieldError = z.object({ field: z.string(), message: z.string() })
export type FieldError = z.infer<typeof FieldError>

/** What went wrong, for programs; the words beside it are for people. */
export const ErrorCode = z.enum([
  // 400, 413, 415: the request itself.
  'unreadable',
  'too_large',
  'not_json',
  // 401: the caller is not known, or name and password do not match.
  'unauthenticated',
  'credentials',
  // A wrong code, or a passkey that is not known here; and the first step of signing in took too long ago.
  'factor',
  'sign_in_over',
  // The sign-in in front of a service, which answers instead of it.
  'sign_in',
  // 403: not this kind of caller, role, origin or host; a known token that was revoked or has expired.
  'kind',
  'role',
  // An account without a password does this only soon after it has signed in.
  'sign_in_again',
  // What decides who may come in needs the password once more, by `confirmAccount`.
  'confirm',
  // The installation requires a second factor, which this person must set up first.
  'second_factor',
  'origin',
  'host',
  'token_revoked',
  'token_expired',
  // The password is right, but only one person may use theirs: others sign in by a provider or a passkey.
  'password_off',
  // At a sign-in by a provider: the account there is connected with nobody; no rule gives it a role; the person is disabled.
  'no_account',
  'no_role',
  'disabled',
  // The node's form does not let its agent publish services.
  'may_not_publish',
  // 404
  'not_found',
  // 409: what is there already, changed meanwhile, in use, the installation's own, or held by an agent.
  'conflict',
  'stale',
  'in_use',
  'system',
  'local_node',
  'agent_key',
  // A service that an agent publishes is changed where the agent finds it.
  'published',
  // 422
  'validation',
  // 429
  'too_many',
  // 500 and 503
  'internal',
  'unavailable',
])
export type ErrorCode = z.infer<typeof ErrorCode>

/** The body of every answer that is not a success. */
export const ErrorBody = z.object({
  message: z.string(),
  /** A program may not know the code of a newer server. */
  code: z.catch(z.optional(ErrorCode), undefined),
  errors: z.optional(z.array(FieldError)),
  requestId: z.optional(z.string()),
})
export type ErrorBody = z.infer<typeof ErrorBody>

/** More unknown fields than this are no slip of a person, and need no answer each. */
const MAX_UNKNOWN = 100

type Issue = z.core.$ZodIssue

/**
 * The validator's issues in the words of the console, the first of each field under that field.
 * @param value what was parsed, to tell a missing field from one of a wrong type
 */
export function toFieldErrors(issues: readonly Issue[], value?: unknown): FieldError[] {
  const first = new Map<string, FieldError>()
  for (const error of issues.flatMap((issue) => fieldErrors(issue, value)))
    if (!first.has(error.field)) first.set(error.field, error)
  return [...first.values()]
}

function fieldErrors(issue: Issue, value: unknown): FieldError[] {
  const field = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return [{ field, message: wordsFor(issue, value) }]
  return issue.keys.slice(0, MAX_UNKNOWN).map((key) => ({
    field: field === '' ? key : `${field}.${key}`,
    message: MESSAGES.unknownField,
  }))
}

const DEFAULT_MESSAGES = new Set(['Invalid input', 'Invalid'])

const TYPE_MESSAGES: Readonly<Record<string, string>> = {
  string: 'must be a valid string',
  boolean: 'must be a boolean',
  number: 'must be a number',
  int: 'must be an integer',
  array: MESSAGES.array,
}

const FORMAT_MESSAGES: Readonly<Record<string, string>> = {
  url: 'must be a valid uri',
  email: MESSAGES.email,
  date: MESSAGES.date,
  datetime: MESSAGES.date,
}

function wordsFor(issue: Issue, value: unknown): string {
  const isOwn = !DEFAULT_MESSAGES.has(issue.message) && !issue.message.startsWith('Invalid input')
  return isOwn ? issue.message : genericWords(issue, value)
}

function genericWords(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      if (valueAt(value, issue.path) === undefined) return MESSAGES.required
      return TYPE_MESSAGES[issue.expected] ?? 'is not valid'
    case 'too_small':
      if (issue.origin === 'string') return tooShort(Number(issue.minimum))
      if (issue.minimum === 0 && !issue.inclusive) return 'must be a positive number'
      return `must be greater than or equal to ${issue.minimum}`
    case 'too_big':
      if (issue.origin === 'string') return `must be less than or equal to ${issue.maximum} characters long`
      if (issue.origin === 'array') return `must have at most ${issue.maximum} entries`
      if (issue.maximum === 0 && !issue.inclusive) return 'must be a negative number'
      return `must be less than or equal to ${issue.maximum}`
    case 'invalid_format':
      return FORMAT_MESSAGES[issue.format] ?? 'is not valid'
    case 'invalid_value':
      return 'must be one of the allowed values'
    default:
      return 'is not valid'
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    value,
  )
}

function tooShort(minimum: number): string {
  return minimum === 1 ? 'is not allowed to be empty' : `must be at least ${minimum} characters long`
}
