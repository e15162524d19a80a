import { createHash } from 'node:crypto'
import { SIGN_IN } from '@postern/contract/sign-in'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import * as z from 'zod/mini'
import { publicUrl, type ServerConfig } from '../../config.ts'
import type { Database } from '../../db/schema.ts'
import type { Notes } from './notes.ts'
import { type Identity, identityOf, type Provider } from './provider.ts'
import { ProviderError } from './provider-error.ts'
import { recordSignIn } from './record.ts'
import type { VisitorSessions } from './sessions.ts'
import { isSignedOut, keepSignedOut } from './signed-out.ts'

/** A domain whose sign-in is on. */
export interface GuardedDomain {
  id: number
  domain: string
}

/** How one step of the flow ends. */
export type Step =
  | { kind: 'go'; to: string; cookies: string[] }
  /** Who has come is not on the list. */
  | { kind: 'refused'; domain: string; identity: Identity; again: string; cookies: string[] }
  /** `again`: where to begin once more; null: only from the service itself. */
  | { kind: 'failed'; title: string; message: string; again: string | null; cookies: string[] }
  | { kind: 'out'; domain: string; cookies: string[] }

/** Seconds. A visitor may have to look for a password, or wait for a code. */
const ATTEMPT_SECONDS = 900
const TICKET_SECONDS = 60
/** Without the provider a session is renewed for so long. */
const RENEWED_SECONDS = 7 * 86_400
/** A session that is as new as this should be known everywhere by now; a visitor who still comes here would go round. */
const JUST_MADE_SECONDS = 30
/** Of one browser at a domain: older ones go, since all of them are sent with each request. */
const MAX_ATTEMPTS = 5
const MAX_WANTED = 2048

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

/** The steps of a sign-in in front of services. `cookies` are those of the request, `address` is the visitor's. */
export interface Flow {
  findDomain(host: string): Promise<GuardedDomain | undefined>
  /** From another address of the console to the domain where it asks for a sign-in, if it does. */
  leadToConsole(query: { to?: string }): Promise<Step | undefined>
  begin(domain: GuardedDomain, cookies: Cookies, query: { to?: string; account?: string }): Promise<Step>
  /** At the console's host. @param search of the address to which the provider has sent the visitor */
  callback(search: string): Promise<Step>
  arrive(domain: GuardedDomain, cookies: Cookies, query: { ticket?: string }, address: string): Promise<Step>
  renew(domain: GuardedDomain, cookies: Cookies, query: { to?: string }): Promise<Step>
  signOut(domain: GuardedDomain, cookies: Cookies, query: object, address: string): Promise<Step>
}

export type Cookies = ReadonlyMap<string, string>

interface FlowParts {
  config: ServerConfig
  db: Kysely<Database>
  log: Logger
  clock(): number
  randomBytes(count: number): Buffer
  notes: Notes
  visitorSessions: VisitorSessions
  /** Undefined: none is set up. */
  provider: Provider | undefined
}

export function createFlow(context: FlowParts): Flow {
  const { db, clock, randomBytes, notes, visitorSessions, provider } = context
  /** Tickets that were used, until they are too old anyway. */
  const used = new Map<string, number>()
  const redirectUrl = redirectUrlOf(context)

  const addressOf = (domain: string, path: string) =>
    `${publicUrl({ ...context.config, publicHost: domain })}${path}`
  const findMember = (domain: number, email: string) =>
    db
      .selectFrom('domain_members')
      .innerJoin('domains', 'domains.id', 'domain_members.domain_id')
      .select('domain_members.id')
      .where('domain_id', '=', domain)
      .where('authentication', '=', 1)
      .where('email', '=', email)
      .executeTakeFirst()

  /** The visitor of a session that still may come in here. */
  const findVisitor = async (domain: GuardedDomain, cookies: Cookies) => {
    const claims = visitorSessions.read(cookies.get(SIGN_IN.cookie) ?? '')
    if (claims?.aud !== domain.domain) return undefined
    const member = await findMember(domain.id, claims.email)
    return String(member?.id) === claims.member ? claims : undefined
  }

  const session = (domain: GuardedDomain, member: number, email: string, at: number) =>
    cookieOf(
      SIGN_IN.cookie,
      visitorSessions.seal({ member: String(member), email, aud: domain.domain, auth_time: at }),
      SIGN_IN.sessionSeconds,
    )

  const oldestRenewed = () => clock() / 1000 - RENEWED_SECONDS

  const take = (id: string): boolean => {
    const now = clock()
    for (const [old, until] of used) if (until <= now) used.delete(old)
    if (used.has(id)) return false
    used.set(id, now + TICKET_SECONDS * 1000)
    return true
  }

  return {
    async findDomain(host) {
      return await db
        .selectFrom('domains')
        .select(['id', 'domain'])
        .where('domain', '=', host.toLowerCase())
        .where('authentication', '=', 1)
        .executeTakeFirst()
    },

    async leadToConsole({ to }) {
      const found = await db
        .selectFrom('services')
        .innerJoin('domains', 'domains.id', 'services.domain_id')
        .select('domain')
        .where('system', '=', 1)
        .where('require_auth', '=', 1)
        .executeTakeFirst()
      return found && { kind: 'go', to: addressOf(found.domain, wantedOf(to)), cookies: [] }
    },

    async begin(domain, cookies, { to, account }) {
      const wanted = wantedOf(to)
      const visitor = await findVisitor(domain, cookies)
      const age = visitor ? clock() / 1000 - visitor.iat : Number.POSITIVE_INFINITY
      if (age < JUST_MADE_SECONDS && account === undefined) return failed(NOT_YET, wanted)
      if (!provider) return failed(NO_PROVIDER)
      const attempt = randomBytes(6).toString('hex')
      const secret = randomBytes(24).toString('base64url')
      const question = { nonce: token(randomBytes), verifier: token(randomBytes) }
      const state = { domain: domain.id, attempt, browser: digest(secret), ...question }
      const sealed = notes.seal('state', ATTEMPT_SECONDS, state)
      try {
        const address = await provider.address({
          ...question,
          state: sealed,
          redirectUrl,
          asksAccount: account !== undefined,
        })
        const note = notes.seal('attempt', ATTEMPT_SECONDS, { wanted, secret })
        const cookie = cookieOf(attemptCookie(attempt), note, ATTEMPT_SECONDS)
        return { kind: 'go', to: address.href, cookies: [cookie, ...dropOldAttempts(cookies)] }
      } catch (error) {
        return failed(noAnswer(context, error), beginAt(wanted))
      }
    },

    async callback(search) {
      const answer = new URL(redirectUrl + search)
      const sealed = answer.searchParams.get('state') ?? ''
      const state = State.safeParse(notes.open('state', sealed))
      if (!provider || !state.success) return failed(TOO_OLD)
      const domain = await db
        .selectFrom('domains')
        .select('domain')
        .where('id', '=', state.data.domain)
        .where('authentication', '=', 1)
        .executeTakeFirst()
      if (!domain) return failed(TOO_OLD)
      try {
        const { nonce, verifier } = state.data
        const identity = identityOf(await provider.redeem(answer, { state: sealed, nonce, verifier }))
        const { browser, attempt } = state.data
        const about = { domain: state.data.domain, browser, attempt, at: Math.floor(clock() / 1000) }
        const ticket = notes.seal('ticket', TICKET_SECONDS, { id: token(randomBytes), ...about, ...identity })
        const path = `${SIGN_IN.paths.arrive}?ticket=${encodeURIComponent(ticket)}`
        return { kind: 'go', to: addressOf(domain.domain, path), cookies: [] }
      } catch (error) {
        return failed(noAnswer(context, error), addressOf(domain.domain, '/'))
      }
    },

    async arrive(domain, cookies, query, address) {
      const ticket = Ticket.safeParse(notes.open('ticket', query.ticket ?? ''))
      if (!ticket.success || ticket.data.domain !== domain.id) return failed(TOO_OLD, '/')
      const { attempt: name, email, isVerified, at } = ticket.data
      const attempt = Attempt.safeParse(notes.open('attempt', cookies.get(attemptCookie(name)) ?? ''))
      // A ticket of somebody else would sign the visitor in with a strange account.
      if (!attempt.success || digest(attempt.data.secret) !== ticket.data.browser)
        return failed(OTHER_BROWSER, '/')
      if (!take(ticket.data.id)) return failed(TOO_OLD, '/')
      const { wanted } = attempt.data
      const done = dropCookie(attemptCookie(name))
      const member = isVerified ? await findMember(domain.id, email) : undefined
      const outcome = member ? 'signed-in' : 'refused'
      await recordSignIn(context, { domainId: domain.id, email, address, outcome })
      if (!member) {
        const identity = { email, isVerified }
        return {
          kind: 'refused',
          domain: domain.domain,
          identity,
          again: beginAt(wanted, true),
          cookies: [done],
        }
      }
      const cookie = session(domain, member.id, email, at)
      return { kind: 'go', to: addressOf(domain.domain, wanted), cookies: [cookie, done] }
    },

    async renew(domain, cookies, { to }) {
      const wanted = wantedOf(to)
      const visitor = await findVisitor(domain, cookies)
      const isTooOld = !visitor || visitor.auth_time < oldestRenewed()
      if (isTooOld || (await isSignedOut(db, domain.id, visitor)))
        return { kind: 'go', to: beginAt(wanted, false), cookies: [] }
      const cookie = session(domain, Number(visitor.member), visitor.email, visitor.auth_time)
      return { kind: 'go', to: addressOf(domain.domain, wanted), cookies: [cookie] }
    },

    async signOut(domain, cookies, _query, address) {
      const visitor = await findVisitor(domain, cookies)
      if (visitor) {
        const { email } = visitor
        await keepSignedOut(db, domain.id, visitor, oldestRenewed())
        await recordSignIn(context, { domainId: domain.id, email, address, outcome: 'signed-out' })
      }
      return { kind: 'out', domain: domain.domain, cookies: [dropCookie(SIGN_IN.cookie)] }
    },
  }
}

/** The one address that the provider has to know. */
export function redirectUrlOf({ config }: Pick<FlowParts, 'config'>): string {
  return `${publicUrl(config)}${SIGN_IN.callback}`
}

type Trouble = Pick<Extract<Step, { kind: 'failed' }>, 'title' | 'message'>

const NO_PROVIDER = {
  title: 'Sign-in is not set up',
  message:
    'This service asks for a sign-in, but nobody is set up to sign you in. Tell whoever runs this server.',
}
const TOO_OLD = {
  title: 'This sign-in is over',
  message: 'It took too long, or was used before. Open the page that you want once more.',
}
const OTHER_BROWSER = {
  title: 'This sign-in began elsewhere',
  message:
    'It belongs to another browser, or this one does not keep cookies. Open the page that you want once more.',
}
const NOT_YET = {
  title: 'You are signed in',
  message:
    'The server does not let you in yet, which usually takes less than a second. Try again in a moment.',
}

function noAnswer({ log }: Pick<FlowParts, 'log'>, error: unknown): Trouble {
  if (!(error instanceof ProviderError)) throw error
  log.warn({ reason: error.message }, 'a visitor could not be signed in')
  return {
    title: 'You could not be signed in',
    message:
      'The provider of accounts did not confirm who you are. Try again, or tell whoever runs this server.',
  }
}

function failed(trouble: Trouble, again: string | null = null): Step {
  return { kind: 'failed', ...trouble, again, cookies: [] }
}

/** A path of the domain itself; its host is put before it, so that it can lead nowhere else. */
function wantedOf(to: string | undefined): string {
  const isPath = to !== undefined && to.length <= MAX_WANTED && /^\/[\x21-\x7e]*$/.test(to)
  return isPath && !Object.values<string>(SIGN_IN.paths).includes(to.split('?')[0] ?? '') ? to : '/'
}

function beginAt(wanted: string, withAccount = false): string {
  const to = `${SIGN_IN.paths.begin}?to=${encodeURIComponent(wanted)}`
  return withAccount ? `${to}&account=other` : to
}

const attemptCookie = (id: string) => `${SIGN_IN.cookie}-${id}`

function cookieOf(name: string, value: string, seconds: number): string {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Lax`
}

function dropCookie(name: string): string {
  return cookieOf(name, '', 0)
}

function dropOldAttempts(cookies: Cookies): string[] {
  const attempts = [...cookies.keys()].filter((name) => name.startsWith(attemptCookie('')))
  return attempts.slice(0, Math.max(0, attempts.length + 1 - MAX_ATTEMPTS)).map(dropCookie)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function token(randomBytes: (count: number) => Buffer): string {
  return randomBytes(32).toString('base64url')
}
