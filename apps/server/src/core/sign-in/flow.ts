import { SIGN_IN } from '@postern/contract/sign-in/sign-in'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { publicUrl, type ServerConfig } from '../../config.ts'
import type { Database } from '../../db/schema.ts'
import { createSignInAttempts, digest } from './attempts.ts'
import { orNoAnswer, redirectUrlOf } from './callback.ts'
import type { Providers } from './create-provider.ts'
import type { FlowTokens } from './flow-tokens.ts'
import { findConsoleDomain, findGuarded, findGuardedById, findMember, type GuardedDomain } from './guarded.ts'
import { recordSignIn } from './record.ts'
import type { VisitorClaims, VisitorSessions } from './sessions.ts'
import { isSignedOut, keepSignedOut } from './signed-out.ts'
import { beginAt, type Cookies, cookieOf, dropCookie, failed, type Step, wantedOf } from './steps.ts'

/** How long a session is renewed without asking the provider. */
const RENEWED_SECONDS = 7 * 86_400
/** A session of this age should work everywhere by now; a visitor who still comes here would be in a loop. */
const JUST_MADE_SECONDS = 30

/** The steps of a sign-in in front of services. `cookies` are those of the request, `address` is the visitor's. */
export interface Flow {
  findDomain(host: string): Promise<GuardedDomain | undefined>
  /** From another address of the console to its domain, if that requires sign-in. */
  leadToConsole(query: { to?: string }): Promise<Step | undefined>
  /** Redirects to the usual spelling of the domain's name. */
  leadToDomain(domain: GuardedDomain, query: { to?: string }): Step
  begin(domain: GuardedDomain, cookies: Cookies, query: { to?: string; account?: string }): Promise<Step>
  /**
   * At the console's host.
   * @param search the query of the address to which the provider has sent the visitor
   */
  callback(search: string, address: string): Promise<Step>
  arrive(domain: GuardedDomain, cookies: Cookies, query: { ticket?: string }, address: string): Promise<Step>
  renew(domain: GuardedDomain, cookies: Cookies, query: { to?: string }): Promise<Step>
  signOut(domain: GuardedDomain, cookies: Cookies, query: object, address: string): Promise<Step>
}

interface FlowParts {
  config: ServerConfig
  db: Kysely<Database>
  log: Logger
  clock(): number
  randomBytes(count: number): Buffer
  flowTokens: FlowTokens
  visitorSessions: VisitorSessions
  providers: Providers
}

export function createFlow(context: FlowParts): Flow {
  const { db, clock, visitorSessions, providers } = context
  const attempts = createSignInAttempts({ ...context, redirectUrl: () => redirectUrlOf(context) })
  const oldestRenewed = () => Math.floor(clock() / 1000) - RENEWED_SECONDS
  const addressOf = ({ domain }: { domain: string }, path: string) =>
    `${publicUrl({ settings: context.config.settings, publicHost: domain })}${path}`
  const go = (to: string, cookies: string[] = []): Step => ({ kind: 'go', to, cookies })
  /** The visitor of a session, if still admitted here. */
  const findVisitor = async (domain: GuardedDomain, cookies: Cookies) => {
    const claims = await visitorSessions.read(cookies.get(SIGN_IN.cookie) ?? '')
    if (claims?.aud !== domain.domain) return undefined
    const member = await findMember(db, domain.id, claims.email)
    return String(member?.id) === claims.member ? claims : undefined
  }
  type Visitor = Pick<VisitorClaims, 'member' | 'email' | 'auth_time' | 'provider'>
  const sessionOf = async ({ domain: aud }: GuardedDomain, visitor: Visitor) => {
    const { member, email, auth_time, provider } = visitor
    const session = await visitorSessions.seal({ member, email, aud, auth_time, provider })
    return cookieOf(SIGN_IN.cookie, session, SIGN_IN.sessionSeconds)
  }

  return {
    findDomain: (host) => findGuarded(db, host),

    async leadToConsole({ to }) {
      const found = await findConsoleDomain(db)
      return found && go(addressOf(found, wantedOf(to)))
    },

    leadToDomain: (domain, { to }) => go(addressOf(domain, wantedOf(to))),

    async begin(domain, cookies, { to, account }) {
      const wanted = wantedOf(to)
      const asksAccount = account !== undefined
      const made = (await findVisitor(domain, cookies))?.iat ?? Number.NEGATIVE_INFINITY
      if (clock() / 1000 - made < JUST_MADE_SECONDS && !asksAccount)
        return failed('notYet', addressOf(domain, wanted))
      const provider = providers.current()
      if (!provider) return failed('noProvider')
      return await orNoAnswer(context, beginAt(wanted), async () => {
        const begun = await attempts.begin(provider, domain.id, { wanted, asksAccount, cookies })
        return go(begun.to, begun.cookies)
      })
    },

    async callback(search, address) {
      const end = attempts.findEnd(search)
      const domain = end && (await findGuardedById(db, end.domain))
      if (!domain) return failed('tooOld')
      const provider = providers.current()
      // A code of another provider is not for this one, which would learn it.
      if (provider?.issuer !== end.issuer) return failed('tooOld', addressOf(domain, '/'))
      return await orNoAnswer(context, addressOf(domain, '/'), async () => {
        const ticket = await attempts.redeem(provider, end, address)
        if (ticket === undefined) return failed('tooOld', addressOf(domain, '/'))
        return go(addressOf(domain, `${SIGN_IN.paths.arrive}?ticket=${encodeURIComponent(ticket)}`))
      })
    },

    async arrive(domain, cookies, { ticket = '' }, address) {
      const arrival = await attempts.arrive(domain.id, ticket, cookies)
      if (typeof arrival === 'string') return failed(arrival, '/')
      const { identity, wanted, at, provider, done } = arrival
      const { email, isVerified } = identity
      const member = isVerified ? await findMember(db, domain.id, email) : undefined
      const outcome = member ? 'signed-in' : 'refused'
      await recordSignIn(context, { domainId: domain.id, email, address, outcome })
      if (member) {
        const visitor = { member: String(member.id), email, auth_time: at, provider }
        return go(addressOf(domain, wanted), [await sessionOf(domain, visitor), done])
      }
      const again = beginAt(wanted, true)
      return { kind: 'refused', domain: domain.domain, identity, again, cookies: [done] }
    },

    async renew(domain, cookies, { to }) {
      const wanted = wantedOf(to)
      const visitor = await findVisitor(domain, cookies)
      const isTooOld = !visitor || visitor.auth_time < oldestRenewed()
      const issuer = providers.current()?.issuer
      // A provider that people have replaced vouches for nobody any more.
      const isVouched = issuer !== undefined && visitor?.provider === digest(issuer)
      if (isTooOld || !isVouched || (await isSignedOut(db, domain.id, visitor))) return go(beginAt(wanted))
      const cookie = await sessionOf(domain, visitor)
      return go(addressOf(domain, wanted), [cookie])
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
