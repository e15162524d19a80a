import { createHash } from 'node:crypto'
import { SIGN_IN } from '@postern/contract/sign-in/sign-in'
import type { Kysely } from 'kysely'
import * as z from 'zod/mini'
import type { Database } from '../../db/schema.ts'
import { takeTicket } from '../accounts/used-tickets.ts'
import type { FlowTokens } from './flow-tokens.ts'
import { type Identity, identityOf, type Provider } from './provider.ts'
import { createOnce, createRedeeming, stateOf } from './redeeming.ts'
import { type Cookies, cookieOf, dropCookie } from './steps.ts'

/** In seconds. A visitor may have to look for a password, or wait for a code. */
const ATTEMPT_SECONDS = 900
const TICKET_SECONDS = 60
/** Attempts per browser and domain: older ones are dropped, since all of their cookies are sent with each request. */
const MAX_ATTEMPTS = 5

const Attempt = z.object({ wanted: z.string(), secret: z.string() })
const State = z.object({
  domain: z.number(),
  attempt: z.string(),
  /** The digest of the secret in the cookie of the browser that began it. */
  browser: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The provider to which the visitor was sent: another may be set up meanwhile. */
  issuer: z.string(),
})
const Ticket = z.object({
  id: z.string(),
  domain: z.number(),
  attempt: z.string(),
  browser: z.string(),
  email: z.string(),
  isVerified: z.boolean(),
  at: z.number(),
  /** The digest of the provider's issuer. */
  provider: z.string(),
})

/** A visitor's path from a domain to the provider and back. The browser carries all data, sealed. */
export interface SignInAttempts {
  /** @throws ProviderError */
  begin(provider: Provider, domain: number, wish: Wish): Promise<{ to: string; cookies: string[] }>
  /**
   * Parses the parameters with which the provider sends a visitor back.
   * @returns undefined when they belong to no attempt
   */
  findEnd(search: string): AttemptEnd | undefined
  /**
   * Asks the provider only once for each attempt, so that a stranger cannot keep it busy with one. Sources with the
   * most failures wait longest.
   * @returns the ticket for the domain; undefined when the attempt has already ended
   * @throws ProviderError
   */
  redeem(provider: Provider, end: AttemptEnd, address: string): Promise<string | undefined>
  /** Redeems a ticket, once, in the browser that began the attempt. */
  arrive(domain: number, ticket: string, cookies: Cookies): Promise<Arrival | 'tooOld' | 'otherBrowser'>
}

interface Wish {
  wanted: string
  /** Whether the provider is to ask for the account. */
  asksAccount: boolean
  cookies: Cookies
}

interface AttemptEnd extends z.infer<typeof State> {
  answer: URL
}

interface Arrival {
  wanted: string
  identity: Identity
  /** When the provider confirmed the visitor, in seconds. */
  at: number
  /** The digest of its issuer. */
  provider: string
  /** Ends the attempt's cookie. */
  done: string
}

interface Parts {
  db: Kysely<Database>
  clock(): number
  randomBytes(count: number): Buffer
  flowTokens: FlowTokens
  /** Where the provider sends visitors back now. */
  redirectUrl(): string
}

export function createSignInAttempts(parts: Parts): SignInAttempts {
  const { clock, randomBytes, flowTokens, redirectUrl } = parts
  const takeState = createOnce(clock, ATTEMPT_SECONDS)
  const redeem = createRedeeming(clock)
  const token = () => randomBytes(32).toString('base64url')
  return {
    async begin(provider, domain, { wanted, asksAccount, cookies }) {
      const attempt = randomBytes(6).toString('hex')
      const secret = randomBytes(24).toString('base64url')
      const question = { nonce: token(), verifier: token() }
      const content = { domain, attempt, browser: digest(secret), issuer: provider.issuer, ...question }
      const state = flowTokens.seal('state', ATTEMPT_SECONDS, content)
      const { href } = await provider.address({
        ...{ ...question, state, redirectUrl: redirectUrl(), asksAccount },
      })
      const note = flowTokens.seal('attempt', ATTEMPT_SECONDS, { wanted, secret })
      const cookie = cookieOf(cookieNameOf(attempt), note, ATTEMPT_SECONDS)
      return { to: href, cookies: [cookie, ...dropOld(cookies)] }
    },
    findEnd(search) {
      const answer = new URL(redirectUrl() + search)
      const state = State.safeParse(flowTokens.open('state', stateOf(answer)))
      return state.success ? { ...state.data, answer } : undefined
    },
    async redeem(provider, { answer, nonce, verifier, domain, attempt, browser }, address) {
      if (!takeState(nonce)) return undefined
      const question = { state: stateOf(answer), nonce, verifier }
      const account = await redeem(provider, answer, question, address)
      const at = Math.floor(clock() / 1000)
      const issuer = digest(provider.issuer)
      const content = { id: token(), domain, attempt, browser, at, provider: issuer, ...identityOf(account) }
      return flowTokens.seal('ticket', TICKET_SECONDS, content)
    },
    async arrive(domain, text, cookies) {
      const ticket = Ticket.safeParse(flowTokens.open('ticket', text)).data
      if (ticket?.domain !== domain) return 'tooOld'
      const { id, attempt, browser, at, provider, email, isVerified } = ticket
      const name = cookieNameOf(attempt)
      const begun = Attempt.safeParse(flowTokens.open('attempt', cookies.get(name) ?? '')).data
      // Somebody else's ticket would sign the visitor in with a foreign account.
      if (!begun || digest(begun.secret) !== browser) return 'otherBrowser'
      if (!(await takeTicket(parts, id, TICKET_SECONDS))) return 'tooOld'
      return { wanted: begun.wanted, identity: { email, isVerified }, at, provider, done: dropCookie(name) }
    },
  }
}

const cookieNameOf = (attempt: string) => `${SIGN_IN.cookie}-${attempt}`

function dropOld(cookies: Cookies): string[] {
  const attempts = [...cookies.keys()].filter((name) => name.startsWith(cookieNameOf('')))
  return attempts.slice(0, Math.max(0, attempts.length + 1 - MAX_ATTEMPTS)).map(dropCookie)
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
