import { MESSAGES } from '@postern/contract/messages'
import { Role, SESSION_KEY_HEADER } from '@postern/contract/sign-in/auth'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import * as z from 'zod/mini'
import type { ServerConfig } from '../../config.ts'
import type { Database } from '../../db/schema.ts'
import { takeTicket } from '../accounts/used-tickets.ts'
import { UnavailableError, ValidationError } from '../errors.ts'
import { hashToken, isSameHash, type Secrets } from '../secrets/secrets.ts'
import { orNoAnswer, redirectUrlOf } from '../sign-in/callback.ts'
import type { FlowTokens } from '../sign-in/flow-tokens.ts'
import type { Account } from '../sign-in/provider.ts'
import { ProviderError } from '../sign-in/provider-error.ts'
import { createOnce, createRedeeming, stateOf } from '../sign-in/redeeming.ts'
import { failed, type Step } from '../sign-in/steps.ts'
import { listNames } from './names.ts'
import { createOpenProviders, getProviderRow, rulesOf } from './open-providers.ts'
import { findRule } from './rules.ts'

/** In seconds: at the provider, where people look for passwords and codes; and from its answer to ours. */
const STATE_SECONDS = 900
const TICKET_SECONDS = 120
/** OpenID Connect allows 255 characters. */
const MAX_SUBJECT = 255

/** What somebody goes to a provider for. `hash`: of the link that is to be used up. */
const Purpose = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('login') }),
  z.object({ kind: z.literal('invite'), hash: z.string() }),
  /** `stamp`: see `accounts/stamp.ts`. */
  z.object({ kind: z.literal('connect'), userId: z.number(), sessionId: z.number(), stamp: z.string() }),
])
export type Purpose = z.infer<typeof Purpose>

const State = z.object({
  provider: z.number(),
  /** Another may be set up under its id meanwhile, which must not learn the code. */
  issuer: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Of the key of the browser that began it. */
  keyHash: z.string(),
  purpose: Purpose,
})

const Ticket = z.object({
  id: z.string(),
  keyHash: z.string(),
  purpose: Purpose,
  provider: z.number(),
  /** When the provider's record, with its rules, was last changed. */
  updatedAt: z.string(),
  issuer: z.string(),
  subject: z.string(),
  email: z.nullable(z.string()),
  /** What a new account could be called, the best first. */
  names: z.array(z.string()),
  /** By the rules; null: none fits. */
  role: z.nullable(Role),
})
/** Who comes from a provider, and what for. */
export type Arrived = z.infer<typeof Ticket>

/**
 * People's way to a provider and back to the console. The browser carries all of it, sealed: first through the provider,
 * then in the fragment of an address, which only this browser reads, and which is worth nothing without its key.
 */
export interface ProviderLogins {
  /**
   * @param key of the browser, `x-postern-key`
   * @returns the address at the provider
   * @throws ValidationError without a key, NotFoundError, UnavailableError
   */
  begin(provider: number, key: string | undefined, purpose: Purpose): Promise<string>
  /**
   * Takes the parameters with which the provider sent somebody back.
   * @param address of the request
   * @returns undefined when they belong to no such sign-in
   */
  callback(search: string, address: string): Promise<Step | undefined>
  /**
   * Redeems a ticket, once, in the browser that began.
   * @returns undefined for any other, and when the provider has changed meanwhile
   */
  arrive(ticket: string, key: string | undefined): Promise<Arrived | undefined>
}

interface Parts {
  config: ServerConfig
  db: Kysely<Database>
  log: Logger
  secrets: Secrets
  clock(): number
  randomBytes(count: number): Buffer
  tokens: FlowTokens<'console state' | 'console ticket'>
}

export function createProviderLogins(parts: Parts): ProviderLogins {
  const { db, clock, randomBytes, tokens } = parts
  const open = createOpenProviders(parts)
  const redeem = createRedeeming(clock)
  const takeState = createOnce(clock, STATE_SECONDS)
  const token = () => randomBytes(32).toString('base64url')
  const find = (id: number) =>
    db.selectFrom('console_providers').selectAll().where('id', '=', id).executeTakeFirst()

  return {
    async begin(id, key, purpose) {
      if (key === undefined)
        throw new ValidationError([{ field: SESSION_KEY_HEADER, message: MESSAGES.required }])
      const provider = open(await getProviderRow(db, id))
      const question = { nonce: token(), verifier: token() }
      const content = { provider: id, issuer: provider.issuer, keyHash: hashToken(key), purpose, ...question }
      const state = tokens.seal('console state', STATE_SECONDS, content satisfies z.infer<typeof State>)
      const place = { redirectUrl: redirectUrlOf(parts), asksAccount: purpose.kind === 'connect' }
      const address = await provider.address({ ...question, state, ...place }).catch((error: unknown) => {
        throw error instanceof ProviderError ? new UnavailableError(error.message) : error
      })
      return address.href
    },

    async callback(search, address) {
      const answer = new URL(redirectUrlOf(parts) + search)
      const state = State.safeParse(tokens.open('console state', stateOf(answer))).data
      if (!state) return undefined
      const { nonce, verifier, purpose, keyHash } = state
      const page = purpose.kind === 'connect' ? '/account' : '/login'
      const row = await find(state.provider)
      const provider = row && open(row)
      if (!row || provider?.issuer !== state.issuer || !takeState(nonce)) return failed('tooOld', page)
      return await orNoAnswer(parts, page, async () => {
        const question = { state: stateOf(answer), nonce, verifier }
        const account = await redeem(provider, answer, question, address)
        const ticket: Arrived = {
          ...{ id: token(), keyHash, purpose, provider: row.id, updatedAt: row.updated_at },
          ...identityOf(account),
          names: listNames(account),
          role: findRule(rulesOf(row), account)?.role ?? null,
        }
        const sealed = tokens.seal('console ticket', TICKET_SECONDS, ticket)
        return { kind: 'go', to: `${page}#ticket=${sealed}`, cookies: [] }
      })
    },

    async arrive(sealed, key) {
      const ticket = Ticket.safeParse(tokens.open('console ticket', sealed)).data
      // The ticket of another browser would sign this one in with a foreign account, and a stolen one the thief.
      if (!ticket || key === undefined || !isSameHash(ticket.keyHash, hashToken(key))) return undefined
      const row = await find(ticket.provider)
      if (row?.updated_at !== ticket.updatedAt) return undefined
      return (await takeTicket(parts, ticket.id, TICKET_SECONDS)) ? ticket : undefined
    },
  }
}

/** @throws ProviderError for an account that could not be known again */
function identityOf({ issuer, subject, email }: Account): Pick<Arrived, 'issuer' | 'subject' | 'email'> {
  if (subject === null || subject === '' || subject.length > MAX_SUBJECT)
    throw new ProviderError('untrusted', 'The provider does not say which account this is (sub).')
  return { issuer, subject, email }
}
