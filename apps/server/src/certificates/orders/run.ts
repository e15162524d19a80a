import { setTimeout as delay } from 'node:timers/promises'
import { ORDERS } from '../../changes/actor.ts'
import { change, removeStated } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { edgesOf } from '../../core/domains/edges.ts'
import { PLACES } from '../../core/secrets/secrets.ts'
import type { OrderRow } from '../../db/schema.ts'
import { readChain, renewalId, type SignedChain } from '../acme/chain.ts'
import type { AcmeClient, Looked } from '../acme/client.ts'
import { createCertificateKey, createCsr } from '../acme/csr.ts'
import { AcmeError, readProblem } from '../acme/errors.ts'
import type { Authorization, Order } from '../acme/objects.ts'
import type { Accounts } from './account.ts'
import { whenApplied } from './edges.ts'
import { pollWait } from './schedule.ts'

/** One order that is under way. Its progress is saved at once, so that a restarted server continues from there. */
export interface OrderRun {
  context: Context
  accounts: Accounts
  row: OrderRow
  domain: string
  /** Aborted when the order is not wanted any more, or the server stops. */
  signal: AbortSignal
  /**
   * Saves the changes.
   * @throws when the order is gone
   */
  keep(values: Partial<Pick<OrderRow, 'step' | 'url' | 'directory' | 'private_key'>>): Promise<void>
  /** The authority has the order. */
  onTaken(): Promise<void>
}

/** The longest time for one order. */
const PATIENCE = 15 * 60_000

/**
 * Takes an order from its present step to its certificate.
 * @throws AcmeError, EdgeNotReadyError
 */
export async function runOrder(run: OrderRun): Promise<SignedChain> {
  const { config, clock } = run.context
  const { client, account } = await run.accounts.open()
  const until = clock() + PATIENCE
  const kept = run.row.directory === config.settings.POSTERN_ACME_DIRECTORY ? run.row.url : null
  const url = (kept && (await isStillThere(client, account, kept))) || (await place(run, client, account))
  await run.onTaken()
  const at = { client, account, url }
  for (let polls = 0; clock() < until; polls++) {
    const looked = await client.readOrder(account, url)
    const order = looked.value
    if (order.status === 'valid' && order.certificate !== undefined)
      return await fetchChain(run, at, order.certificate)
    if (order.status === 'invalid') throw await whyInvalid(at, order)
    if (order.status === 'pending') await authorize(run, at, order, until)
    else if (order.status === 'ready') await finalize(run, at, order)
    await delay(pollWait(polls, looked.retryAfter), undefined, { signal: run.signal })
  }
  throw new AcmeError({
    type: 'unreachable',
    detail: 'The certificate authority did not finish the order in time',
  })
}

interface Placed {
  client: AcmeClient
  account: string
  url: string
}

/** Continues the order of a previous run, unless the authority has forgotten it. */
async function isStillThere(client: AcmeClient, account: string, url: string): Promise<string | undefined> {
  try {
    const { value } = await client.readOrder(account, url)
    return value.status === 'invalid' ? undefined : url
  } catch (error) {
    if (error instanceof AcmeError && error.status >= 400 && error.status < 500) return undefined
    throw error
  }
}

async function place(run: OrderRun, client: AcmeClient, account: string): Promise<string> {
  const { POSTERN_ACME_DIRECTORY: directory, POSTERN_ACME_PROFILE: profile } = run.context.config.settings
  await run.keep({ step: 'ordering' })
  if (profile !== null) await refuseProfile(client, profile)
  const identifiers = [{ type: 'dns', value: run.domain }]
  const wanted = { identifiers, ...(profile !== null && { profile }) }
  const replaces = await findReplaced(run, client)
  const { url } = await client
    .placeOrder(account, { ...wanted, ...(replaces !== undefined && { replaces }) })
    .catch((error: unknown) => {
      // Naming the replaced certificate is a courtesy; one that was replaced already is ordered like a new one.
      const isOver = error instanceof AcmeError && ['alreadyReplaced', 'malformed'].includes(error.type)
      if (replaces === undefined || !isOver) throw error
      return client.placeOrder(account, wanted)
    })
  await run.keep({ url, directory })
  return url
}

async function refuseProfile(client: AcmeClient, profile: string): Promise<void> {
  const offered = Object.keys((await client.directory()).meta?.profiles ?? {})
  if (offered.includes(profile)) return
  const words = offered.length > 0 ? `only ${offered.slice(0, 10).join(', ')}` : 'none'
  const detail = `The certificate authority offers no profile ${profile}, ${words}. Change POSTERN_ACME_PROFILE.`
  throw new AcmeError({ type: 'invalidProfile', detail })
}

/** The id of the certificate in use, if this authority signed it and supports renewal information (RFC 9773, 5). */
async function findReplaced({ context, row }: OrderRun, client: AcmeClient): Promise<string | undefined> {
  const { renewalInfo } = await client.directory()
  if (renewalInfo === undefined || row.directory !== context.config.settings.POSTERN_ACME_DIRECTORY)
    return undefined
  const held = await context.db
    .selectFrom('certificates')
    .select('chain')
    .where('domain_id', '=', row.domain_id)
    .where('kind', '=', 'certbot')
    .executeTakeFirst()
  return held?.chain ? renewalId(held.chain) : undefined
}

/** Shows that the name leads to us. */
async function authorize(run: OrderRun, at: Placed, order: Order, until: number): Promise<void> {
  for (const url of order.authorizations) {
    const { value } = await at.client.readAuthorization(at.account, url)
    if (value.status === 'valid') continue
    await answer(run, at, value)
    const looked = await pollAuthorization(run, at, url, until)
    if (looked.status !== 'valid') throw whyRefused(looked)
  }
}

async function answer(
  run: OrderRun,
  { client, account }: Placed,
  { challenges, status }: Authorization,
): Promise<void> {
  if (status !== 'pending') return
  const challenge = challenges.find(({ type }) => type === 'http-01')
  if (challenge?.token === undefined)
    throw new AcmeError({
      type: 'rejectedIdentifier',
      detail: 'The certificate authority does not offer to check this name over port 80',
    })
  await run.keep({ step: 'preparing' })
  const revision = await publish(run, challenge.token, await client.thumbprint())
  const { edges } = await getDomainEdges(run)
  await whenApplied(run.context, { revision, at: edgesOf({ edges }) }, run.signal)
  await run.keep({ step: 'validating' })
  // The authority may already be checking since before a restart; it is not asked twice.
  if (challenge.status === 'pending' || challenge.status === undefined)
    await client.startChallenge(account, challenge.url)
}

/** The authority may ask at each of them. */
async function getDomainEdges({ context, row }: OrderRun): Promise<{ edges: string | null }> {
  return await context.db
    .selectFrom('domains')
    .select('edges')
    .where('id', '=', row.domain_id)
    .executeTakeFirstOrThrow()
}

/** @returns the revision in which the edges have the answer */
async function publish(
  { context, row, domain }: OrderRun,
  token: string,
  thumbprint: string,
): Promise<number> {
  const there = await context.db
    .selectFrom('challenges')
    .select('revision')
    .where('domain_id', '=', row.domain_id)
    .where('token', '=', token)
    .where('thumbprint', '=', thumbprint)
    .executeTakeFirst()
  if (there) return there.revision
  const what = `certificate of ${domain} on order`
  return await change(context, { actor: ORDERS, what }, async (tx, revision) => {
    const at = new Date(context.clock()).toISOString()
    await removeStated(tx, 'challenges', { domain_id: row.domain_id })
    await tx
      .insertInto('challenges')
      .values({ domain_id: row.domain_id, token, thumbprint, created_at: at, updated_at: at, revision })
      .execute()
    return { value: revision, touched: {} }
  })
}

async function pollAuthorization(
  { context, signal }: OrderRun,
  { client, account }: Placed,
  url: string,
  until: number,
): Promise<Authorization> {
  let looked: Looked<Authorization> = await client.readAuthorization(account, url)
  for (let polls = 0; looked.value.status === 'pending' && context.clock() < until; polls++) {
    await delay(pollWait(polls, looked.retryAfter), undefined, { signal })
    looked = await client.readAuthorization(account, url)
  }
  return looked.value
}

async function finalize(run: OrderRun, { client, account }: Placed, { finalize }: Order): Promise<void> {
  const { secrets } = run.context
  const place = PLACES.order(run.row.id)
  const key =
    run.row.private_key === null ? await createCertificateKey() : secrets.open(run.row.private_key, place)
  await run.keep({ step: 'finalizing', private_key: run.row.private_key ?? secrets.seal(key, place) })
  await client.finalize(account, finalize, await createCsr(key, run.domain))
}

async function fetchChain(run: OrderRun, { client, account }: Placed, url: string): Promise<SignedChain> {
  const { context, row, domain } = run
  // Only a stored key can be in it.
  if (row.private_key === null)
    throw new AcmeError({ type: 'garbage', detail: 'Another client finished the order' })
  const text = await client.downloadChain(account, url)
  return readChain(text, context.secrets.open(row.private_key, PLACES.order(row.id)), domain, context.clock())
}

async function whyInvalid({ client, account }: Placed, order: Order): Promise<AcmeError> {
  for (const url of order.authorizations) {
    const { value } = await client.readAuthorization(account, url)
    if (value.status === 'invalid') return whyRefused(value)
  }
  return new AcmeError(readProblem(order.error ?? { detail: 'The certificate authority ended the order' }))
}

function whyRefused({ challenges, status }: Authorization): AcmeError {
  const error = challenges.find((challenge) => challenge.error !== undefined)?.error
  const words = { detail: `The certificate authority did not finish checking the name (${status})` }
  return new AcmeError(readProblem(error ?? words))
}
