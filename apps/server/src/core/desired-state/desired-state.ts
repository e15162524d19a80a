import type { EdgeCertificate, SectionHashes, TunnelSettings } from '@postern/contract/edge/desired-state'
import type { Kysely } from 'kysely'
import type { ServerConfig } from '../../config.ts'
import type { Database } from '../../db/schema.ts'
import { PLACES, type Secrets } from '../secrets/secrets.ts'
import type { Identities } from '../sign-in/identities.ts'
import type { SignInKeys } from '../sign-in/keys.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import { createStatedRows, inBatches, type StatedRows, updateStatedRows } from './rows.ts'
import { hashOf, type TextSections } from './sections.ts'

/** The desired state as the edges fetch it. */
export interface DesiredState {
  /**
   * @returns a StateAnswer as JSON, in pieces: one snapshot, with the sections whose hash the caller does not hold.
   * As one text, a large installation's state would be in memory several times
   */
  read(known: SectionHashes): Promise<string[]>
}

interface Parts {
  db: Kysely<Database>
  secrets: Pick<Secrets, 'open'>
  tunnel: Pick<Tunnel, 'privateKey' | 'network4' | 'network6' | 'address6'>
  signInKeys: Pick<SignInKeys, 'all'>
  identities: Pick<Identities, 'publicKeys'>
  config: Pick<ServerConfig, 'settings' | 'publicHost' | 'ownHosts'>
}

/** Keeps the rows as texts between two reads, and reads only changed ones. */
export function createDesiredState(parts: Parts): DesiredState {
  let rows = createStatedRows()
  /** Which of the rows are published depends on them. */
  let hosts = ''
  return {
    read: (known) =>
      parts.db.transaction().execute(async (tx) => {
        const now = parts.config.ownHosts.join()
        if (now !== hosts) rows = createStatedRows()
        hosts = now
        await updateStatedRows(tx, rows, parts)
        return await answerOf(tx, parts, rows, { settings: JSON.stringify(settingsOf(parts)), known })
      }),
  }
}

function settingsOf({ tunnel, signInKeys, identities, config }: Parts): TunnelSettings {
  const { settings, publicHost, ownHosts } = config
  return {
    publicHost,
    formerHosts: ownHosts.filter((host) => host !== publicHost),
    requests: {
      days: settings.POSTERN_REQUESTS_DAYS,
      megabytes: settings.POSTERN_REQUESTS_MB,
      hasQueries: settings.POSTERN_REQUESTS_QUERY === 'yes',
    },
    tunnelPrivateKey: tunnel.privateKey,
    tunnelNetwork4: tunnel.network4,
    tunnelNetwork6: tunnel.network6,
    signInKeys: signInKeys.all().map(({ id, secret }) => ({ id, secret })),
    identityKeys: [...identities.publicKeys()],
  }
}

async function answerOf(
  tx: Kysely<Database>,
  { secrets }: Pick<Parts, 'secrets'>,
  rows: StatedRows,
  { settings, known }: { settings: string; known: SectionHashes },
): Promise<string[]> {
  const hashes: SectionHashes = { settings: hashOf(settings) }
  const differs = (name: string, hash: string) => {
    hashes[name] = hash
    return known[name] !== hash
  }
  // Sorted, so that the same rows are the same answer whatever their history.
  const changed = (sections: TextSections) =>
    [...sections.hashes()].flatMap(([name, hash]) => (differs(name, hash) ? name : [])).sort()
  const { peers, routes, ports, signIns, challenges } = rows
  const texts = Object.entries({ peers, routes, ports, signIns, challenges }).flatMap(([name, sections]) => [
    ...listOf(name, changed(sections).map(sections.textOf)),
    ',',
  ])
  const certificates = changed(rows.certificates).flatMap(rows.certificates.idsOf)
  const ownSettings = known.settings === hashes.settings ? '' : `"settings":${settings},`
  return [
    `{"revision":${rows.revision},"hashes":${JSON.stringify(hashes)},"sections":{${ownSettings}`,
    ...texts,
    ...listOf('certificates', await readCertificates(tx, secrets, certificates)),
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
