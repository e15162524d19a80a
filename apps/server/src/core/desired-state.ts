import { createHash } from 'node:crypto'
import type { EdgeCertificate, Peer, SectionHashes, TunnelSettings } from '@postern/contract/desired-state'
import type { Kysely } from 'kysely'
import { getRevision } from '../changes/change.ts'
import type { Database } from '../db/schema.ts'
import { NO_ROUTES, type RouteTexts, updateRouteTexts } from './desired-routes.ts'
import { peerOf } from './desired-sections.ts'
import type { Secrets } from './secrets.ts'
import type { Tunnel } from './tunnel.ts'

/** The desired state as the edges fetch it. */
export interface DesiredState {
  /** @returns a StateAnswer as JSON: one snapshot, with the sections whose hash the asker does not hold. */
  read(known: SectionHashes): Promise<string>
}

interface Parts {
  db: Kysely<Database>
  secrets: Secrets
  tunnel: Pick<Tunnel, 'privateKey' | 'network4' | 'network6' | 'address6'>
  /** The name or address that visitors and nodes use. */
  publicHost: string
}

/** A section as it is sent, and the mark of this content. */
interface Section {
  json: string
  hash: string
}

type Stamps = Record<'nodes' | 'domains' | 'certificates' | 'services', number>

/** What was made last, and the stamps of the tables it was made from. */
interface Made {
  stamps: Stamps
  peers: Section
  /** By name; each is a list without its brackets. */
  routes: Map<string, Section>
  routeTexts: RouteTexts
  /** Name → hash of each certificate; their contents are read when asked for, because of their keys. */
  certificates: Map<number, string>
}

/** Keeps the sections between two reads and makes only those anew whose tables were written to. */
export function createDesiredState(parts: Parts): DesiredState {
  const settings = sectionOf(settingsOf(parts))
  let made: Made | undefined
  return {
    read: (known) =>
      parts.db.transaction().execute(async (tx) => {
        const revision = await getRevision(tx)
        made = await refresh(tx, parts, made, revision)
        const { peers, routes, certificates } = made
        const hashes: SectionHashes = { settings: settings.hash, peers: peers.hash }
        for (const [name, { hash }] of routes) hashes[name] = hash
        for (const [id, hash] of certificates) hashes[`certificate:${id}`] = hash
        const wanted = [...certificates].filter(([id, hash]) => known[`certificate:${id}`] !== hash)
        const changed = await readCertificates(
          tx,
          parts.secrets,
          wanted.map(([id]) => id),
        )
        const differing = (all: Iterable<[string, Section]>) =>
          [...all].filter(([name, { hash }]) => known[name] !== hash)
        const sections = differing(Object.entries({ settings, peers })).map(
          ([name, { json }]) => `"${name}":${json},`,
        )
        const rows = differing(routes).map(([, { json }]) => json)
        const body = `${sections.join('')}"routes":[${rows.join(',')}],"certificates":${JSON.stringify(changed)}`
        return `{"revision":${revision},"hashes":${JSON.stringify(hashes)},"sections":{${body}}}`
      }),
  }
}

function settingsOf({ tunnel, publicHost }: Parts): TunnelSettings {
  return {
    publicHost,
    tunnelPrivateKey: tunnel.privateKey,
    tunnelNetwork4: tunnel.network4,
    tunnelNetwork6: tunnel.network6,
  }
}

async function refresh(
  tx: Kysely<Database>,
  parts: Parts,
  made: Made | undefined,
  revision: number,
): Promise<Made> {
  const stamps = await readStamps(tx)
  const isSame = (...tables: (keyof Stamps)[]) =>
    tables.every((table) => made?.stamps[table] === stamps[table])
  const peers = made && isSame('nodes') ? made.peers : sectionOf(await listPeers(tx, parts))
  const certificates = made && isSame('certificates') ? made.certificates : await hashCertificates(tx)
  if (made && isSame('nodes', 'services', 'domains')) return { ...made, stamps, peers, certificates }
  const routeTexts = await updateRouteTexts(tx, made?.routeTexts ?? NO_ROUTES, revision, {
    nodes: !isSame('nodes'),
    domains: !isSame('domains'),
  })
  return { stamps, peers, certificates, routeTexts, routes: updateSections(made?.routes, routeTexts) }
}

function updateSections(made: Made['routes'] | undefined, { texts, changed }: RouteTexts): Made['routes'] {
  const sections = new Map(made)
  for (const name of changed) {
    const routes = [...(texts.get(name)?.values() ?? [])]
    if (routes.length > 0) sections.set(name, sectionOfText(routes.join(',')))
    else sections.delete(name)
  }
  return sections
}

async function readStamps(tx: Kysely<Database>): Promise<Stamps> {
  const stamps: Stamps = { nodes: 0, domains: 0, certificates: 0, services: 0 }
  for (const { name, value } of await tx.selectFrom('stamps').selectAll().execute()) stamps[name] = value
  return stamps
}

function sectionOf(content: unknown): Section {
  return sectionOfText(JSON.stringify(content))
}

function sectionOfText(json: string): Section {
  return { json, hash: hashOf(json) }
}

/** 128 bits: the edge sends back the hashes of all its certificates with each request. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

async function listPeers(tx: Kysely<Database>, { secrets, tunnel }: Parts): Promise<Peer[]> {
  const rows = await tx
    .selectFrom('nodes')
    .selectAll()
    .where('enabled', '=', 1)
    .where('is_local', '=', 0)
    .orderBy('id')
    .execute()
  return rows.flatMap((row) => {
    const { public_key: publicKey, preshared_key: sealed } = row
    if (publicKey === null || sealed === null) return []
    return peerOf({ ...row, publicKey, presharedKey: secrets.open(sealed) }, tunnel.address6(row.address))
  })
}

/** A certificate is known by its public half, so that hashing needs no key. */
async function hashCertificates(tx: Kysely<Database>): Promise<Map<number, string>> {
  const rows = await tx
    .selectFrom('certificates')
    .select(['id', 'chain'])
    .where('chain', 'is not', null)
    .where('private_key', 'is not', null)
    .orderBy('id')
    .execute()
  return new Map(rows.map(({ id, chain }) => [id, hashOf(`${id}:${chain}`)]))
}

/** How many are asked for in one statement. */
const BATCH = 500

async function readCertificates(
  tx: Kysely<Database>,
  secrets: Secrets,
  ids: readonly number[],
): Promise<EdgeCertificate[]> {
  const certificates: EdgeCertificate[] = []
  for (let start = 0; start < ids.length; start += BATCH) {
    const rows = await tx
      .selectFrom('certificates')
      .leftJoin('domains', 'domains.id', 'certificates.domain_id')
      .select(['certificates.id', 'chain', 'private_key', 'domains.domain'])
      .where('certificates.id', 'in', ids.slice(start, start + BATCH))
      .execute()
    for (const { id, chain, private_key, domain } of rows) {
      if (chain === null || private_key === null) continue
      certificates.push({
        id,
        domains: domain === null ? [] : [domain],
        chain,
        privateKey: secrets.open(private_key),
      })
    }
  }
  return certificates
}
