import { codeOf } from '@postern/host/errors'

/**
 * `denied`: the person refused. `refused`: the provider refuses Postern's request. `unreachable`: it cannot be
 * reached now, or fails. `untrusted`: its answer must not be trusted.
 */
export type ProviderFault = 'denied' | 'refused' | 'unreachable' | 'untrusted'

/** A sign-in failed; `message` says why and, where known, what to do. */
export class ProviderError extends Error {
  readonly code = 'provider'
  readonly kind: ProviderFault
  constructor(kind: ProviderFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

const MAX_WORDS = 300
const WRONG_CLIENT = ['invalid_client', 'unauthorized_client', 'incorrect_client_credentials']

/**
 * Runs a step at a provider.
 * @throws ProviderError in place of the library's errors, which contain the answer
 */
export async function telling<T>(host: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw translate(error, host)
  }
}

function translate(error: unknown, host: string): unknown {
  const own = causesOf(error).find((each) => each instanceof ProviderError)
  if (own || !(error instanceof Error)) return own ?? error
  const tell = (kind: ProviderFault, words: string) =>
    new ProviderError(kind, words.slice(0, MAX_WORDS), error)
  switch (codeOf(error)) {
    case 'OAUTH_AUTHORIZATION_RESPONSE_ERROR':
    case 'OAUTH_RESPONSE_BODY_ERROR':
      return tell(textOf(error, 'error') === 'access_denied' ? 'denied' : 'refused', wordsOf(error, host))
    case 'OAUTH_TIMEOUT':
      return tell('unreachable', `${host} did not answer in time.`)
    case 'OAUTH_WWW_AUTHENTICATE_CHALLENGE':
      return tell('refused', `${host} doesn't accept its own token (status 401).`)
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
      return tell(...ofStatus(error.cause, host))
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      return tell('untrusted', `${host} names another issuer: enter the issuer as the provider writes it.`)
  }
  const code = causesOf(error)
    .map(codeOf)
    .find((each) => /^(E[A-Z]+|UND_ERR_\w+|\w*CERT\w*)$/.test(each))
  if (code !== undefined) return tell('unreachable', `${host} cannot be reached (${code}).`)
  return tell('untrusted', `The answer from ${host} can't be trusted: ${innermost(error).message}.`)
}

function wordsOf(error: Error, host: string): string {
  const name = textOf(error, 'error') ?? 'error'
  const words = textOf(error, 'error_description')
  const hint = WRONG_CLIENT.includes(name) ? ' Check the client ID and the client secret.' : ''
  return `${host} refused: ${words ?? name}${hint}`
}

function ofStatus(answer: unknown, host: string): [ProviderFault, string] {
  const status = answer instanceof Response ? answer.status : 0
  if (status >= 500) return ['unreachable', `${host} failed with status ${status}.`]
  return ['untrusted', `There is no OpenID provider at ${host}: it answers with status ${status}.`]
}

function textOf(error: Error, field: 'error' | 'error_description'): string | undefined {
  const value: unknown = Reflect.get(error, field)
  return typeof value === 'string' ? value : undefined
}

/** The error and the chain of its causes. */
function causesOf(error: unknown, depth = 0): unknown[] {
  const cause = error instanceof Error && depth < 8 ? error.cause : undefined
  return cause === undefined ? [error] : [error, ...causesOf(cause, depth + 1)]
}

function innermost(error: Error): Error {
  return causesOf(error).findLast((each) => each instanceof Error) ?? error
}
