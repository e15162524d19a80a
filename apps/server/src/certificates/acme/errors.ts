import * as z from 'zod/mini'

/** The type that an authority gives a failure (RFC 8555, 6.7), without the prefix that all types share. */
export interface AcmeProblem {
  /** Like `rateLimited`; two are our own: `unreachable`, no answer, and `garbage`, an answer that makes no sense. */
  type: string
  /** Its own words, in one line. */
  detail: string
  /** The names concerned, where the authority says so. */
  identifiers?: readonly string[]
}

/** An authority refused, or its answer made no sense. */
export class AcmeError extends Error {
  readonly code = 'acme'
  readonly type: string
  /** The HTTP status; 0: there was no answer. */
  readonly status: number
  /** How long it asks us to wait, in ms. */
  readonly retryAfter: number | undefined
  readonly identifiers: readonly string[]
  constructor(
    {
      type,
      detail,
      identifiers = [],
      status = 0,
      retryAfter,
    }: AcmeProblem & { status?: number; retryAfter?: number | undefined },
    cause?: unknown,
  ) {
    super(detail, { cause })
    this.type = type
    this.status = status
    this.identifiers = identifiers
    this.retryAfter = retryAfter
  }
}

const URN = 'urn:ietf:params:acme:error:'
const MAX_DETAIL = 500

const identifier = z.optional(z.object({ value: z.string().check(z.maxLength(253)) }))

export const ProblemDocument = z.object({
  type: z.optional(z.string()),
  detail: z.optional(z.string()),
  identifier,
  subproblems: z.optional(z.array(z.object({ detail: z.optional(z.string()), identifier }))),
})

/** The text of a problem document; of several parts the first, which is closest to the cause. */
export function readProblem({
  type = '',
  detail,
  identifier,
  subproblems = [],
}: z.infer<typeof ProblemDocument>): AcmeProblem {
  const own = cleanWords(detail ?? '')
  const inner = cleanWords(subproblems[0]?.detail ?? '')
  const words = inner !== '' && !own.includes(inner) ? `${own} ${inner}`.trim() : own
  return {
    type: type.startsWith(URN) ? type.slice(URN.length) : 'other',
    detail: words === '' ? 'The certificate authority gave no reason' : words.slice(0, MAX_DETAIL),
    identifiers: [identifier, ...subproblems.map((each) => each.identifier)].flatMap(
      (each) => each?.value ?? [],
    ),
  }
}

/** One line for people, without control characters and marks that reverse a text. */
export function cleanWords(text: string): string {
  return text
    .slice(0, 4 * MAX_DETAIL)
    .replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_DETAIL)
}

const MOST_WAIT = 7 * 86_400_000

/** @returns ms; undefined when there is no such header, or none that can be read */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const wait = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), MOST_WAIT)
}
