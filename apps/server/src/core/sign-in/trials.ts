import { SIGN_IN } from '@postern/contract/sign-in/sign-in'
import type { ProviderCheck, Trial, TrialAccount } from '@postern/contract/sign-in/trials'
import * as z from 'zod/mini'
import type { ServerConfig } from '../../config.ts'
import { ConflictError, UnavailableError } from '../errors.ts'
import { digest } from './attempts.ts'
import { redirectUrlOf } from './callback.ts'
import type { Providers } from './create-provider.ts'
import type { FlowTokens } from './flow-tokens.ts'
import type { Account, Provider } from './provider.ts'
import { ProviderError } from './provider-error.ts'
import { type Cookies, cookieOf } from './steps.ts'

/**
 * Sign-ins with which operators try the provider out. The outcome is shown to the console's session that began it,
 * and opens nothing: it never becomes a ticket.
 */
export interface Trials {
  check(): Promise<ProviderCheck>
  /**
   * Begins a trial in place of the session's last one. With `isBound` only the browser that has `cookie` can finish
   * it; without TLS no cookie would reach the redirect address. `provider`: another than that of the settings.
   * @throws ConflictError without a provider; UnavailableError with the reason when the provider cannot be reached
   */
  begin(
    sessionId: number,
    isBound: boolean,
    provider?: Provider,
  ): Promise<{ address: string; cookie: string | null }>
  find(sessionId: number): Trial
  /** The account of a trial that is done, with all that its claims hold. */
  findAccount(sessionId: number): Account | undefined
  /**
   * Takes the parameters with which the provider sent somebody back.
   * @returns whether they belong to a trial
   */
  end(search: string, cookies: Cookies): Promise<boolean>
}

interface Parts {
  clock(): number
  randomBytes(count: number): Buffer
  flowTokens: FlowTokens
  config: ServerConfig
  providers: Providers
}

interface Begun {
  id: string
  nonce: string
  verifier: string
  provider: Provider
  /** The digest of the cookie in the browser that began it. */
  browser: string | null
  until: number
  isUsed: boolean
  trial: Trial
  account?: Account
}

const SECONDS = 900
/** Over all sessions; beyond it, the oldest is dropped. */
const MAX_BEGUN = 100
const COOKIE = `${SIGN_IN.cookie}-trial`
const State = z.object({ id: z.string(), sessionId: z.number() })

export function createTrials(parts: Parts): Trials {
  const { clock, flowTokens, providers } = parts
  const begun = new Map<number, Begun>()
  const token = () => parts.randomBytes(32).toString('base64url')
  const find = (sessionId: number) => {
    const found = begun.get(sessionId)
    return found && found.until > clock() ? found : undefined
  }
  return {
    async check() {
      const provider = providers.current()
      const none = { issuer: null, redirectUrl: redirectUrlOf(parts), endpoints: [], problem: null }
      if (!provider) return none
      try {
        return { ...none, ...(await provider.discover()) }
      } catch (error) {
        return { ...none, issuer: provider.issuer, problem: problemOf(error) }
      }
    },

    async begin(sessionId, isBound, provider = providers.current()) {
      if (!provider) throw new ConflictError('No sign-in provider is set up')
      const [id, nonce, verifier, secret] = [token(), token(), token(), token()]
      const state = flowTokens.seal('trial', SECONDS, { id, sessionId })
      const question = { nonce, verifier, state, redirectUrl: redirectUrlOf(parts), asksAccount: true }
      const address = await provider.address(question).catch((error: unknown) => {
        throw new UnavailableError(problemOf(error))
      })
      begun.delete(sessionId)
      for (const oldest of [...begun.keys()].slice(0, Math.max(0, begun.size + 1 - MAX_BEGUN)))
        begun.delete(oldest)
      const browser = isBound ? digest(secret) : null
      const until = clock() + SECONDS * 1000
      const trial: Trial = { state: 'waiting' }
      begun.set(sessionId, { id, provider, nonce, verifier, browser, until, isUsed: false, trial })
      return { address: address.href, cookie: isBound ? cookieOf(COOKIE, secret, SECONDS) : null }
    },

    find: (sessionId) => find(sessionId)?.trial ?? { state: 'none' },

    findAccount: (sessionId) => find(sessionId)?.account,

    async end(search, cookies) {
      const answer = new URL(redirectUrlOf(parts) + search)
      const sealed = answer.searchParams.get('state') ?? ''
      const state = State.safeParse(flowTokens.open('trial', sealed))
      if (!state.success) return false
      const own = find(state.data.sessionId)
      const isOwn = own?.id === state.data.id && !own.isUsed && isBrowser(own, cookies)
      if (!own || !isOwn) return true
      own.isUsed = true
      const { provider, nonce, verifier } = own
      try {
        const account = await provider.redeem(answer, { state: sealed, nonce, verifier })
        own.trial = { state: 'done', account: shownOf(account) }
        own.account = { ...account, claims: boundedOf(account.claims) }
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

/** @throws errors other than the provider's */
function problemOf(error: unknown): string {
  if (error instanceof ProviderError || error instanceof UnavailableError) return error.message
  throw error
}

/** Characters of all claims that are kept for rules. */
const MAX_KEPT = 64 * 1024

/** Without those that would take too much memory, while other sessions try things out, too. */
function boundedOf(claims: Account['claims']): Account['claims'] {
  let room = MAX_KEPT
  return Object.fromEntries(
    Object.entries(claims).filter(([name, value]) => {
      const size = name.length + (JSON.stringify(value) ?? '').length
      if (size > room) return false
      room -= size
      return true
    }),
  )
}

const MAX_CLAIMS = 40
const MAX_CLAIM = 300
/** They contain nothing about a person. */
const OF_THE_PROTOCOL = ['nonce', 'at_hash', 'c_hash', 's_hash', 'sid', 'uti', 'rh', 'aio']

/** As a person sees an account. */
export function shownOf({ email, doubt, claims }: Account): TrialAccount {
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
