import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { messageOf } from '@postern/host/errors'
import { createSingleFlight } from '@postern/host/tasks'
import { INSTALLATION } from '../changes/actor.ts'
import { type ChangeNote, change } from '../changes/change.ts'
import type { Context } from '../context.ts'
import { type IssuedCertificate, isDue } from './issue.ts'
import { INSTALLATION_CERTIFICATE, storeFailure, storeOwn } from './store.ts'

const HOUR = 3_600_000
/** How many are renewed in one step; the rest follow at once. */
const BATCH = 50
/** Limits the certificate's size on a machine with very many addresses. */
const MAX_NAMES = 50

/** Ensures the installation's own certificate, then checks all certificates once an hour until the context ends. */
export async function startRenewal(context: Context): Promise<void> {
  await renewInstallation(context)
  const pass = () => {
    renewCertificates(context).catch((err: unknown) => context.log.error({ err }, 'certificates not renewed'))
  }
  const following = createSingleFlight(() =>
    renewInstallation(context).catch((err: unknown) =>
      context.log.error({ err }, 'the public host has no certificate yet'),
    ),
  )
  const first = setTimeout(pass, 1000).unref()
  const timer = setInterval(pass, HOUR).unref()
  const stop = context.bus.listen((hint) => {
    if (hint.kind === 'changed' && hint.touched.settings) following.trigger()
  })
  context.onDispose(async () => {
    stop()
    following.close()
    await following.idle()
    clearTimeout(first)
    clearInterval(timer)
  })
}

/** Renews whatever is due. @returns how many domains got a new certificate. */
export async function renewCertificates(context: Context): Promise<number> {
  if (await context.authority.renew())
    await change(context, changeNote('root of the installation renewed'), async () => ({
      value: undefined,
      touched: {},
    }))
  await renewInstallation(context)
  const due = await listDueDomains(context)
  for (let start = 0; start < due.length; start += BATCH)
    await renewDomains(context, due.slice(start, start + BATCH))
  return due.length
}

/** The installation's own names: the public host first, then its former ones, then the machine's addresses. */
export function installationNames(context: Context): string[] {
  const own = context.network().addresses.filter((address) => !/^(fe80|ff)/i.test(address))
  return [...new Set([...context.config.ownHosts, ...own, '127.0.0.1', '::1'])].slice(0, MAX_NAMES)
}

async function renewInstallation(context: Context): Promise<void> {
  const names = installationNames(context)
  const row = await context.db
    .selectFrom('certificates')
    .select(['chain', 'not_before', 'not_after'])
    .where('id', '=', INSTALLATION_CERTIFICATE)
    .executeTakeFirst()
  if (row?.chain && !isDue(row, context.clock()) && hasNames(row.chain, names)) return
  const issued = await context.authority.issue(names)
  await change(context, changeNote('certificate of the installation issued'), async (tx, revision) => {
    const now = new Date(context.clock()).toISOString()
    return {
      value: await storeOwn(tx, 'installation', { ...context, issued, now, revision }),
      touched: {},
    }
  })
}

function hasNames(chain: string, names: readonly string[]): boolean {
  const certificate = new X509Certificate(chain)
  // `checkIP` throws for a name.
  const has = (name: string) =>
    isIP(name) === 0 ? certificate.checkHost(name, { subject: 'never' }) : certificate.checkIP(name)
  const count = certificate.subjectAltName?.split(', ').length ?? 0
  return count === names.length && names.every(has)
}

interface DueDomain {
  id: number
  domain: string
}

/** Certificates of public authorities are renewed by their orders. */
async function listDueDomains(context: Context): Promise<DueDomain[]> {
  const rows = await context.db
    .selectFrom('domains')
    .leftJoin('certificates', 'certificates.domain_id', 'domains.id')
    .select(['domains.id', 'domains.domain', 'certificates.not_before', 'certificates.not_after'])
    .select(['certificates.kind', 'domains.ssl'])
    .where((eb) =>
      eb.or([
        eb('certificates.kind', 'is', null),
        eb('certificates.kind', '=', 'self-signed'),
        eb('domains.ssl', 'is distinct from', 'certbot'),
      ]),
    )
    .execute()
  return rows.filter((row) => row.kind === 'certbot' || isDue(row, context.clock()))
}

async function renewDomains(context: Context, due: readonly DueDomain[]): Promise<void> {
  const results = await Promise.all(due.map((domain) => tryToIssue(context, domain)))
  await change(context, changeNote(`certificates of ${due.length} domains renewed`), async (tx, revision) => {
    const now = new Date(context.clock()).toISOString()
    const left = await tx
      .selectFrom('domains')
      .select(['id', 'domain'])
      .where(
        'id',
        'in',
        due.map(({ id }) => id),
      )
      .execute()
    const names = new Map(left.map(({ id, domain }) => [id, domain]))
    const kept = due.flatMap(({ id, domain }) => (names.get(id) === domain ? [id] : []))
    for (const { id, issued, error } of results) {
      // Deleted or renamed meanwhile.
      if (!kept.includes(id)) continue
      if (issued) await storeOwn(tx, { domainId: id }, { ...context, issued, now, revision })
      else await storeFailure(tx, id, error, { now, revision })
    }
    return { value: undefined, touched: { domains: kept } }
  })
}

interface Attempt {
  id: number
  issued: IssuedCertificate | null
  error: string
}

/** A domain that cannot get a certificate does not affect the others. */
async function tryToIssue({ authority, log }: Context, { id, domain }: DueDomain): Promise<Attempt> {
  try {
    return { id, issued: await authority.issue([domain]), error: '' }
  } catch (err) {
    log.error({ err, domain }, 'a certificate could not be issued')
    return { id, issued: null, error: messageOf(err) }
  }
}

function changeNote(what: string): ChangeNote {
  return { actor: INSTALLATION, what }
}
