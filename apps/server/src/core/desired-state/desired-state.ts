import {
  certificatesSectionOf,
  type EdgeCertificate,
  type SectionHashes,
  type TunnelSettings,
} from '@postern/contract/edge/desired-state'
import type { Kysely } from 'kysely'
import { INSTALLATION_CERTIFICATE } from '../../certificates/store.ts'
import type { ServerConfig } from '../../config.ts'
import type { Database, EdgeRow } from '../../db/schema.ts'
import type { OwnLeaves } from '../edges/own-leaves.ts'
import { listServers } from '../edges/servers.ts'
import { NotFoundError } from '../errors.ts'
import { PLACES, type Secrets } from '../secrets/secrets.ts'
import type { Identities } from '../sign-in/identities.ts'
import type { SignInKeys } from '../sign-in/keys.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import { createStatedRows } from './kept-rows.ts'
import { inBatches, updateStatedRows } from './rows.ts'
import { type StateView, viewOf } from './scope.ts'
import { hashOf } from './sections.ts'

/** The desired state as the edges fetch it. */
export interface DesiredState {
  /**
   * @returns a StateAnswer for this edge as JSON, in pieces: one snapshot, with the sections whose hash the edge does not
   * hold. As one text, a large installation's state would be in memory several times
   * @throws NotFoundError when the edge was removed
   */
  read(edgeId: number, known: SectionHashes): Promise<string[]>
}

interface Parts {
  db: Kysely<Database>
  secrets: Pick<Secrets, 'open'>
  tunnel: Pick<Tunnel, 'privateKey' | 'network4' | 'network6' | 'address6'>
  signInKeys: Pick<SignInKeys, 'all'>
  identities: Pick<Identities, 'publicKeys'>
  config: Pick<ServerConfig, 'settings' | 'publicHost' | 'ownHosts'>
  ownLeaves: OwnLeaves
}

/** Keeps the rows as texts between two reads, and reads only changed ones. */
export function createDesiredState(parts: Parts): DesiredState {
  let rows = createStatedRows()
  /** Which of the rows are published depends on them. */
  let hosts = ''
  return {
    read: (edgeId, known) =>
      parts.db.transaction().execute(async (tx) => {
        const now = parts.config.ownHosts.join()
        if (now !== hosts) rows = createStatedRows()
        hosts = now
        await updateStatedRows(tx, rows, parts)
        const edges = await tx.selectFrom('edges').selectAll().execute()
        const edge = edges.find(({ id }) => id === edgeId)
        if (!edge) throw new NotFoundError('Edge')
        const own = await parts.ownLeaves.find(edge)
        const settings = JSON.stringify(settingsOf(parts, edge))
        return await answerOf(tx, parts, viewOf(rows, edge, edges), { settings, known, own })
      }),
  }
}

function settingsOf(parts: Parts, edge: EdgeRow): TunnelSettings {
  const { tunnel, signInKeys, identities, config, secrets } = parts
  const { settings, publicHost, ownHosts } = config
  const privateKey = edge.private_key && secrets.open(edge.private_key, PLACES.edge(edge.id))
  return {
    publicHost,
    formerHosts: ownHosts.filter((host) => host !== publicHost),
    requests: {
      days: settings.POSTERN_REQUESTS_DAYS,
      megabytes: settings.POSTERN_REQUESTS_MB,
      hasQueries: settings.POSTERN_REQUESTS_QUERY === 'yes',
    },
    edge: {
      number: edge.number,
      servesConsole: edge.is_console === 1,
      isDrained: edge.is_drained === 1,
    },
    servers: listServers(config),
    tunnelPrivateKey: privateKey ?? tunnel.privateKey,
    tunnelNetwork4: tunnel.network4,
    tunnelNetwork6: tunnel.network6,
    signInKeys: signInKeys.all().map(({ id, secret }) => ({ id, secret })),
    identityKeys: [...identities.publicKeys()],
  }
}

interface Asked {
  settings: string
  known: SectionHashes
  /** Instead of the installation's certificate. */
  own: EdgeCertificate | null
}

async function answerOf(
  tx: Kysely<Database>,
  { secrets }: Pick<Parts, 'secrets'>,
  view: StateView,
  { settings, known, own }: Asked,
): Promise<string[]> {
  const hashes: SectionHashes = { settings: hashOf(settings) }
  const differs = (name: string, hash: string) => {
    hashes[name] = hash
    return known[name] !== hash
  }
  // Sorted, so that the same rows are the same answer whatever their history.
  const changedOf = (all: ReadonlyMap<string, string>) =>
    [...all]
      .filter(([name, hash]) => differs(name, hash))
      .map(([name]) => name)
      .sort()
  const { certificates, revision, ...others } = view
  const texts = Object.entries(others).flatMap(([name, sections]) => [
    ...listOf(name, changedOf(sections.hashes()).map(sections.textOf)),
    ',',
  ])
  const all = new Map(certificates.hashes())
  const ownSection = certificatesSectionOf(INSTALLATION_CERTIFICATE)
  if (own) all.set(ownSection, hashOf(`${all.get(ownSection) ?? ''} ${own.chain}`))
  const changed = changedOf(all)
  const ownTexts = own && changed.includes(ownSection) ? [JSON.stringify(own)] : []
  const stored = await readCertificates(tx, secrets, changed.flatMap(certificates.idsOf))
  const ownSettings = known.settings === hashes.settings ? '' : `"settings":${settings},`
  return [
    `{"revision":${revision},"hashes":${JSON.stringify(hashes)},"sections":{${ownSettings}`,
    ...texts,
    ...listOf('certificates', [...ownTexts, ...stored]),
    '}}',
  ]
}

/** @param parts each the inside of a list */
function listOf(name: string, parts: readonly string[]): string[] {
  return [`"${name}":[`, ...parts.map((part, index) => (index === 0 ? part : `,${part}`)), ']']
}

/** @returns parts of a list as JSON, without its brackets */
async function readCertificates(
  tx: Kysely<Database>,
  secrets: Pick<Secrets, 'open'>,
  ids: readonly number[],
): Promise<string[]> {
  const parts: string[] = []
  for (const some of inBatches(ids)) {
    const rows = await tx
      .selectFrom('certificates')
      .leftJoin('domains', 'domains.id', 'certificates.domain_id')
      .select(['certificates.id', 'domain_id', 'chain', 'private_key', 'domains.domain'])
      .where('certificates.id', 'in', some)
      .orderBy('certificates.id')
      .execute()
    const whole = rows.flatMap(({ id, domain_id, chain, private_key, domain }): EdgeCertificate[] => {
      if (chain === null || private_key === null) return []
      const privateKey = secrets.open(private_key, PLACES.certificate(domain_id))
      return [{ id, domains: domain === null ? [] : [domain], chain, privateKey }]
    })
    parts.push(whole.map((certificate) => JSON.stringify(certificate)).join())
  }
  return parts
}
