import { createSecrets, SecretsError } from '../secrets/secrets.ts'
import { type KeysOfPurpose, LONGEST_SECONDS } from '../secrets/short-keys.ts'

/**
 * Data that the flow passes to itself through a browser: sealed, for a few minutes, and for one step only. None of it
 * is stored, so nobody can fill the memory with attempts.
 */
export interface FlowTokens<Kind extends string = FlowTokenKind> {
  /** @param seconds 900 at most */
  seal(kind: Kind, seconds: number, content: object): string
  /** @returns undefined for a token of another kind, one that is too old, and anything else */
  open(kind: Kind, token: string): unknown
}

/**
 * `attempt`: in a cookie of the browser that began it. `state`: through the provider. `ticket`: back to the domain.
 * `trial`: also through the provider, for an operator who tries it out.
 */
type FlowTokenKind = 'attempt' | 'state' | 'ticket' | 'trial'

const MAX_TOKEN = 8192

export function createFlowTokens<Kind extends string = FlowTokenKind>(
  keys: KeysOfPurpose,
  clock: () => number,
): FlowTokens<Kind> {
  return {
    seal(kind, seconds, content) {
      if (seconds > LONGEST_SECONDS) throw new RangeError(`no key lasts ${seconds} seconds`)
      const [newest] = keys()
      return createSecrets(newest).seal(JSON.stringify({ until: clock() + seconds * 1000, content }), kind)
    },
    open(kind, token) {
      if (token.length > MAX_TOKEN) return undefined
      for (const key of keys()) {
        const text = openWith(key, token, kind)
        if (text === undefined) continue
        const { until, content } = JSON.parse(text)
        return until > clock() ? content : undefined
      }
      return undefined
    },
  }
}

function openWith(key: Buffer, token: string, kind: string): string | undefined {
  try {
    return createSecrets(key).open(token, kind)
  } catch (error) {
    if (error instanceof SecretsError) return undefined
    throw error
  }
}
