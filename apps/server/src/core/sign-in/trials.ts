import { SIGN_IN } from '@postern/contract/sign-in'
import type { ProviderCheck, Trial, TrialAccount } from '@postern/contract/trials'
import * as z from 'zod/mini'
import { ConflictError, UnavailableError } from '../errors.ts'
import { digest } from './attempts.ts'
import type { FlowTokens } from './flow-tokens.ts'
import type { Account, Provider } from './provider.ts'
import { ProviderError } from './provider-error.ts'
import { type Cookies, cookieOf } from './steps.ts'

/**
 * Sign-ins by which operators try the provider out. What comes of one is shown to the session of the console that began
 * it, and opens nothing: it never becomes a ticket.
 */
export interface Trials {
  check(): Promise<ProviderCheck>
  /**
   * Takes the place of the session's last one. With `isBound` only the browser that has `cookie` can end it; without TLS
   * no cookie would reach the redirect address.
   * @throws ConflictError without a provider; UnavailableError that says why it cannot be asked
   */
  begin(sessionId: number, isBound: boolean): Promise<{ address: string; cookie: string | null }>
  find(sessionId: number): Trial
  /** What the provider sent an operator back with. @returns whether it was a trial's */
  end(search: string, cookies: Cookies): Promise<boolean>
}

interface Parts {
  clock(): number
  randomBytes(count: number): Buffer
  flowTokens: FlowTokens
  provider: Provider | undefined
  redirectUrl: string
}

interface Begun {
  id: string
  nonce: string
  verifier: string
  /** The digest of the cookie in the browser that began. */
  browser: string | null
  until: number
  isUsed: boolean
  trial: Trial
}

const SECONDS = 900
/** Over all sessions; the oldest goes. */
const MAX_BEGUN = 100
const COOKIE = `${SIGN_IN.cookie}-trial`
const State = z.object({ id: z.string(), sessionId: z.number() })

export function createTrials(parts: Parts): Trials {
  const { clock, flowTokens, provider, redirectUrl } = parts
  const begun = new Map<number, Begun>()
  const token = () => parts.randomBytes(32).toString('base64url')
  const find = (sessionId: number) => {
    const found = begun.get(sessionId)
    return found && found.until > clock() ? found : undefined
  }
  return {
    async check() {
      const none = { issuer: null, redirectUrl, endpoints: [], problem: null }
      if (!provider) return none
      try {
        return { ...none, ...(await provider.discover()) }
      } catch (error) {
        return { ...none, issuer: provider.issuer, problem: problemOf(error) }
      }
    },

    async begin(sessionId, isBound) {
      if (!provider) throw new ConflictError('No sign-in provider is set up')
      const [id, nonce, verifier, secret] = [token(), token(), token(), token()]
      const state = flowTokens.seal('trial', SECONDS, { id, sessionId })
      const question = { nonce, verifier, state, redirectUrl, asksAccount: true }
      const address = await provider.address(question).catch((error: unknown) => {
        throw new UnavailableError(problemOf(error))
      })
      begun.delete(sessionId)
      for (const oldest of [...begun.keys()].slice(0, Math.max(0, begun.size + 1 - MAX_BEGUN)))
        begun.delete(oldest)
      const browser = isBound ? digest(secret) : null
      const until = clock() + SECONDS * 1000
      const trial: Trial = { state: 'waiting' }
      begun.set(sessionId, { id, nonce, verifier, browser, until, isUsed: false, trial })
      return { address: address.href, cookie: isBound ? cookieOf(COOKIE, secret, SECONDS) : null }
    },

    find: (sessionId) => find(sessionId)?.trial ?? { state: 'none' },

    async end(search, cookies) {
      const answer = new URL(redirectUrl + search)
      const sealed = answer.searchParams.get('state') ?? ''
      const state = State.safeParse(flowTokens.open('trial', sealed))
      if (!state.success) return false
      const own = find(state.data.sessionId)
      const isOwn = own?.id === state.data.id && !own.isUsed && isBrowser(own, cookies)
      if (!provider || !own || !isOwn) return true
      own.isUsed = true
      const { nonce, verifier } = own
      try {
        const account = await provider.redeem(answer, { state: sealed, nonce, verifier })
        own.trial = { state: 'done', account: shownOf(account) }
      } catch (error) {
        own.trial = { state: 'failed', problem: problemOf(error) }
      }
      return true
    },
  }
}

function isBrowser({ browser }: Begun, cookies: Cookies): boolean {
  return browser === null || digest(cookies.get(COOKIE) ?? '') === browser
}

/** @throws whatever is not the provider's */
function problemOf(error: unknown): string {
  if (error instanceof ProviderError || error instanceof UnavailableError) return error.message
  throw error
}

const MAX_CLAIMS = 40
const MAX_CLAIM = 300
/** They say nothing of a person. */
const OF_THE_PROTOCOL = ['nonce', 'at_hash', 'c_hash', 's_hash', 'sid', 'uti', 'rh', 'aio']

function shownOf({ email, doubt, claims }: Account): TrialAccount {
  const shown = Object.entries(claims).filter(([name]) => !OF_THE_PROTOCOL.includes(name))
  return {
    email,
    doubt,
    claims: shown.slice(0, MAX_CLAIMS).map(([name, value]) => ({
      name: name.slice(0, MAX_CLAIM),
      value: (typeof value === 'string' ? value : String(JSON.stringify(value))).slice(0, MAX_CLAIM),
    })),
  }
}
