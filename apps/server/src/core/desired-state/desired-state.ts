import type { EdgeCertificate, SectionHashes, TunnelSettings } from '@postern/contract/desired-state'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import { createStatedRows, type StatedRows, updateStatedRows } from './rows.ts'
import { type Section, sectionOf } from './sections.ts'

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

/** Keeps what it was made of between two reads, and makes only those sections anew whose rows changed. */
export function createDesiredState(parts: Parts): DesiredState {
  const settings = sectionOf(JSON.stringify(settingsOf(parts)))
  const rows = createStatedRows()
  return {
    read: (known) =>
      parts.db.transaction().execute(async (tx) => {
        await updateStatedRows(tx, rows, parts)
        return await answerOf(tx, parts, rows, { settings, known })
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

/** Put together as text: most of it is text already. */
async function answerOf(
  tx: Kysely<Database>,
  { secrets }: Pick<Parts, 'secrets'>,
  rows: StatedRows,
  { settings, known }: { settings: Section; known: SectionHashes },
): Promise<string> {
  const [peers, routes] = [rows.peers.sections(), rows.routes.sections()]
  const hashes: SectionHashes = { settings: settings.hash }
  for (const [name, { hash }] of [...peers, ...routes]) hashes[name] = hash
  const wanted: number[] = []
  for (const [id, hash] of rows.certificates) {
    if (hash === null) continue
    hashes[`certificate:${id}`] = hash
    if (known[`certificate:${id}`] !== hash) wanted.push(id)
  }
  const differing = (sections: ReadonlyMap<string, Section>) =>
    [...sections].filter(([name, { hash }]) => known[name] !== hash).map(([, { json }]) => json)
  const sections = [
    ...(known.settings === settings.hash ? [] : [`"settings":${settings.json}`]),
    `"peers":[${differing(peers).join()}]`,
    `"routes":[${differing(routes).join()}]`,
    `"certificates":${JSON.stringify(await readCertificates(tx, secrets, wanted))}`,
  ]
  return `{"revision":${rows.revision},"hashes":${JSON.stringify(hashes)},"sections":{${sections.join()}}}`
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
      const domains = domain === null ? [] : [domain]
      certificates.push({ id, domains, chain, privateKey: secrets.open(private_key) })
    }
  }
  return certificates
}
