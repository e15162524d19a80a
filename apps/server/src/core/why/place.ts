import { isServicePort } from '@postern/contract/settings/settings'
import { formatTracedAddress, type TracedAddress } from '@postern/contract/why/address'
import type { TraceQuestion } from '@postern/contract/why/trace'
import { findIp } from '@postern/net/ip'
import type { Context } from '../../context.ts'
import { readServices, type ServiceRecordRow } from '../services/records.ts'

/** What the installation has at an address that a person typed. */
export interface Place {
  /** As it was understood. */
  address: string
  question: TraceQuestion
  /** In lower case. */
  host: string
  /** The public host, or any IP address. */
  isOwnHost: boolean
  /** The host is a domain of this installation, and whether it was saved without asking DNS. */
  domain: { skipsDns: boolean } | undefined
  /** Those that answer there, or would if nothing was wrong, the one that fits best first. */
  services: ServiceRecordRow[]
}

type Parts = Pick<Context, 'db' | 'config'>

export async function findPlace(parts: Parts, typed: TracedAddress): Promise<Place> {
  const host = typed.host ?? parts.config.publicHost
  const isOwnHost = parts.config.ownHosts.includes(host) || findIp(host) !== undefined
  const question = await readQuestion(parts, typed, host)
  const address = formatTracedAddress(shown(typed, host, question))
  const row = await parts.db
    .selectFrom('domains')
    .select('skip_validation')
    .where('domain', '=', host)
    .executeTakeFirst()
  const domain = row && { skipsDns: row.skip_validation === 1 }
  return {
    address,
    question,
    host,
    isOwnHost,
    domain,
    services: await findServices(parts, question, isOwnHost),
  }
}

function shown(typed: TracedAddress, host: string, question: TraceQuestion): TracedAddress {
  if (question.kind === 'port') return { ...typed, host, scheme: question.proto, port: question.port }
  return { ...typed, host, scheme: question.isPlain ? 'http' : 'https' }
}

async function readQuestion(
  { db, config }: Parts,
  typed: TracedAddress,
  host: string,
): Promise<TraceQuestion> {
  const { POSTERN_HTTP_PORT: plain, POSTERN_HTTPS_PORT: secure } = config.settings
  const { scheme, port, path } = typed
  const isWeb = scheme !== 'tcp' && scheme !== 'udp' && (port === null || port === plain || port === secure)
  if (isWeb) return { kind: 'http', host, path, isPlain: port === null ? scheme === 'http' : port === plain }
  const named = port ?? secure
  if (scheme !== null) return { kind: 'port', proto: scheme === 'udp' ? 'udp' : 'tcp', port: named }
  // Neither was typed: what there is counts.
  const there = await db.selectFrom('services').select('proto').where('port', '=', named).limit(2).execute()
  const isUdp =
    there.length > 0 && !there.some(({ proto }) => proto !== 'udp') && isServicePort(config.settings, named)
  return { kind: 'port', proto: isUdp ? 'udp' : 'tcp', port: named }
}

async function findServices(
  parts: Parts,
  question: TraceQuestion,
  isOwnHost: boolean,
): Promise<ServiceRecordRow[]> {
  const ids =
    question.kind === 'http'
      ? await listAtPath(parts, question, isOwnHost)
      : await listAtPort(parts, question)
  const rows = await readServices(parts.db, ids)
  return rows.sort((a, b) => (b.path ?? '/').length - (a.path ?? '/').length)
}

async function listAtPort(
  { db }: Parts,
  { proto, port }: Extract<TraceQuestion, { kind: 'port' }>,
): Promise<number[]> {
  const rows = await db
    .selectFrom('services')
    .select('id')
    .where('port', '=', port)
    .where('proto', '=', proto)
    .orderBy('id')
    .limit(MOST)
    .execute()
  return rows.map(({ id }) => id)
}

/** A path has no more segments than this, as far as services go. */
const MOST = 128

/** All services whose path is the beginning of the asked one. */
async function listAtPath(
  { db, config }: Parts,
  { host, path }: Extract<TraceQuestion, { kind: 'http' }>,
  isOwnHost: boolean,
): Promise<number[]> {
  const segments = path.split('/').filter((segment) => segment !== '')
  const paths = segments.slice(0, MOST).map((_, index) => `/${segments.slice(0, index + 1).join('/')}`)
  const rows = await db
    .selectFrom('services')
    .leftJoin('domains', 'domains.id', 'services.domain_id')
    .select('services.id')
    .where('services.type', '=', 'http')
    .where('services.path', 'in', ['/', ...paths])
    .where(({ eb, or }) =>
      isOwnHost
        ? or([
            eb('services.domain_id', 'is', null),
            eb('domains.domain', 'in', config.ownHosts),
            eb('system', '=', 1),
          ])
        : eb('domains.domain', '=', host),
    )
    .orderBy('services.id')
    .limit(MOST)
    .execute()
  return rows.map(({ id }) => id)
}
