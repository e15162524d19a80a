import { createHash } from 'node:crypto'
import { SIGN_IN } from '@postern/contract/sign-in'
import * as z from 'zod/mini'
import { createAttempts } from '../accounts/attempts.ts'
import { type Source, sourceOf, widerNetworksOf } from '../accounts/sources.ts'
import type { FlowTokens } from './flow-tokens.ts'
import { type Identity, identityOf, type Provider } from './provider.ts'
import { type Cookies, cookieOf, dropCookie } from './steps.ts'

/** Seconds. A visitor may have to look for a password, or wait for a code. */
const ATTEMPT_SECONDS = 900
const TICKET_SECONDS = 60
/** Per browser and domain: older ones go, since all of them are sent with each request. */
const MAX_ATTEMPTS = 5

const Attempt = z.object({ wanted: z.string(), secret: z.string() })
const State = z.object({
  domain: z.number(),
  attempt: z.string(),
  /** The digest of the secret in the cookie of the browser that began. */
  browser: z.string(),
  nonce: z.string(),
  verifier: z.string(),
})
const Ticket = z.object({
  id: z.string(),
  domain: z.number(),
  attempt: z.string(),
  browser: z.string(),
  email: z.string(),
  isVerified: z.boolean(),
  at: z.number(),
})

/** A visitor's way from a domain to the provider and back. The browser carries all of it, sealed. */
export interface SignInAttempts {
  /** @throws ProviderError */
  begin(provider: Provider, domain: number, wish: Wish): Promise<{ to: string; cookies: string[] }>
  /** What the provider sends a visitor back with. @returns undefined when it is the end of no attempt */
  findEnd(search: string): AttemptEnd | undefined
  /**
   * Asks the provider once for each attempt, or one of a stranger's would be enough to keep it busy. The sources that ask
   * most for nothing wait longest.
   * @returns the ticket that the domain gets, undefined when the attempt has ended before. @throws ProviderError
   */
  redeem(provider: Provider, end: AttemptEnd, address: string): Promise<string | undefined>
  /** Takes a ticket for what it says, once, in the browser that began. */
  arrive(domain: number, ticket: string, cookies: Cookies): Arrival | 'tooOld' | 'otherBrowser'
}

interface Wish {
  wanted: string
  /** Whether the provider shall ask with which account. */
  asksAccount: boolean
  cookies: Cookies
}

interface AttemptEnd extends z.infer<typeof State> {
  answer: URL
}

interface Arrival {
  wanted: string
  identity: Identity
  /** When the provider was asked, in seconds. */
  at: number
  /** Ends the attempt's cookie. */
  done: string
}

interface Parts {
  clock(): number
  randomBytes(count: number): Buffer
  flowTokens: FlowTokens
  redirectUrl: string
}

export function createSignInAttempts({ clock, randomBytes, flowTokens, redirectUrl }: Parts): SignInAttempts {
  const takeTicket = createOnce(clock, TICKET_SECONDS)
  const takeState = createOnce(clock, ATTEMPT_SECONDS)
  const failures = createAttempts(clock)
  const token = () => randomBytes(32).toString('base64url')
  return {
    async begin(provider, domain, { wanted, asksAccount, cookies }) {
      const attempt = randomBytes(6).toString('hex')
      const secret = randomBytes(24).toString('base64url')
      const question = { nonce: token(), verifier: token() }
      const content = { domain, attempt, browser: digest(secret), ...question }
      const state = flowTokens.seal('state', ATTEMPT_SECONDS, content)
      const { href } = await provider.address({ ...question, state, redirectUrl, asksAccount })
      const note = flowTokens.seal('attempt', ATTEMPT_SECONDS, { wanted, secret })
      const cookie = cookieOf(cookieNameOf(attempt), note, ATTEMPT_SECONDS)
      return { to: href, cookies: [cookie, ...dropOld(cookies)] }
    },
    findEnd(search) {
      const answer = new URL(redirectUrl + search)
      const state = State.safeParse(flowTokens.open('state', stateOf(answer)))
      return state.success ? { ...state.data, answer } : undefined
    },
    async redeem(provider, { answer, nonce, verifier, domain, attempt, browser }, address) {
      if (!takeState(nonce)) return undefined
      const networks = networksOf(sourceOf(address))
      const rank = Math.max(...networks.map(failures.count))
      for (const network of networks) failures.add(network, 1)
      const account = await provider.redeem(answer, { state: stateOf(answer), nonce, verifier }, rank)
      for (const network of networks) failures.add(network, -1)
      const at = Math.floor(clock() / 1000)
      const content = { id: token(), domain, attempt, browser, at, ...identityOf(account) }
      return flowTokens.seal('ticket', TICKET_SECONDS, content)
    },
    arrive(domain, text, cookies) {
      const ticket = Ticket.safeParse(flowTokens.open('ticket', text)).data
      if (ticket?.domain !== domain) return 'tooOld'
      const { id, attempt, browser, at, email, isVerified } = ticket
      const name = cookieNameOf(attempt)
      const begun = Attempt.safeParse(flowTokens.open('attempt', cookies.get(name) ?? '')).data
      // A ticket of somebody else would sign the visitor in with a strange account.
      if (!begun || digest(begun.secret) !== browser) return 'otherBrowser'
      if (!takeTicket(id)) return 'tooOld'
      return { wanted: begun.wanted, identity: { email, isVerified }, at, done: dropCookie(name) }
    },
  }
}

/** Bounded memory: of more, the oldest go first. */
const MAX_USED = 20_000

/** @returns whether something is used for the first time; each is kept until it is too old anyway */
function createOnce(clock: () => number, seconds: number): (id: string) => boolean {
  const used = new Map<string, number>()
  return (id) => {
    const now = clock()
    for (const [old, until] of used) {
      if (until > now && used.size < MAX_USED) break
      used.delete(old)
    }
    if (used.has(id)) return false
    used.set(id, now + seconds * 1000)
    return true
  }
}

function networksOf(source: Source): string[] {
  const wider = widerNetworksOf(source).map(({ prefix, network }) => `${network}/${prefix}`)
  return [source.network, ...wider]
}

const stateOf = (answer: URL) => answer.searchParams.get('state') ?? ''

const cookieNameOf = (attempt: string) => `${SIGN_IN.cookie}-${attempt}`

function dropOld(cookies: Cookies): string[] {
  const attempts = [...cookies.keys()].filter((name) => name.startsWith(cookieNameOf('')))
  return attempts.slice(0, Math.max(0, attempts.length + 1 - MAX_ATTEMPTS)).map(dropCookie)
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
