import { createWireGuardKeys } from '@postern/host/wireguard-keys'
import { type Kysely, sql, type Transaction } from 'kysely'
import { loadAuthority } from '../../certificates/authority.ts'
import { INSTALLATION } from '../../changes/actor.ts'
import { change, removeStated, updateStated } from '../../changes/change.ts'
import { createLiveBus } from '../../changes/live.ts'
import type { Database } from '../../db/schema.ts'
import { putSettings } from '../../db/settings.ts'
import { PRIVATE_KEY } from '../tunnel/tunnel.ts'
import { PLACES, type Secrets } from './secrets.ts'
import { SALTS } from './short-keys.ts'

interface Parts {
  db: Kysely<Database>
  secrets: Secrets
  clock(): number
  randomBytes(count: number): Buffer
}

/**
 * Replaces every secret that somebody with a copy of the database and its key would have, in one transaction. The
 * tunnel's key, the keys that the server shares with nodes, and the root: now. The keys of certificates, of sign-ins
 * and of the account at the public authority: at the next start, which makes what is missing or due. No server may
 * run meanwhile.
 */
export async function renewAllSecrets(parts: Parts): Promise<void> {
  const bus = createLiveBus((error) => {
    throw error
  })
  const note = {
    actor: { ...INSTALLATION, name: 'rotate-key', share: 'host' },
    what: 'all keys of the installation renewed',
  }
  await change({ ...parts, bus }, note, async (tx, revision) => {
    await renewTunnel(tx, parts, revision)
    await renewEdges(tx, parts)
    await (await loadAuthority({ ...parts, db: tx })).replace()
    await renewCertificates(tx, parts, revision)
    await removeApps(tx)
    await tx
      .deleteFrom('settings')
      .where((eb) =>
        eb.or([
          eb('key', 'in', ['sign-in.keys', 'sign-in.identity-keys', SALTS]),
          eb('key', 'like', 'acme.key %'),
          eb('key', 'like', 'acme.account %'),
        ]),
      )
      .execute()
    return { value: undefined, touched: {} }
  })
}

/**
 * An agent fetches the changes. A node with a downloaded file needs a new one, because its private key was stored
 * here too.
 */
async function renewTunnel(tx: Transaction<Database>, { secrets, randomBytes }: Parts, revision: number) {
  await putSettings(tx, {
    [PRIVATE_KEY]: secrets.seal(createWireGuardKeys(randomBytes(32)).privateKey, PLACES.setting(PRIVATE_KEY)),
  })
  const nodes = await tx
    .selectFrom('nodes')
    .select(['id', 'private_key'])
    .where('preshared_key', 'is not', null)
    .execute()
  for (const { id, private_key } of nodes)
    await updateStated(tx, 'nodes', id, revision, {
      preshared_key: secrets.seal(randomBytes(32).toString('base64'), PLACES.node(id, 'preshared_key')),
      ...(private_key !== null && { private_key: null, public_key: null }),
    })
}

/** Edges elsewhere know the server by the root that goes, so each has to join again; it keeps its number. */
async function renewEdges(tx: Transaction<Database>, { secrets, randomBytes }: Parts) {
  await tx.deleteFrom('join_tokens').execute()
  await tx.deleteFrom('settings').where('key', 'like', 'edges.%').execute()
  const edges = await tx.selectFrom('edges').select('id').where('private_key', 'is not', null).execute()
  for (const { id } of edges) {
    const keys = createWireGuardKeys(randomBytes(32))
    await tx
      .updateTable('edges')
      .set({
        private_key: secrets.seal(keys.privateKey, PLACES.edge(id)),
        public_key: keys.publicKey,
        ...{ certificate_key: null, certificate_until: null },
      })
      .where('id', '=', id)
      .execute()
  }
}

/** Those in use stay until the next ones exist. */
async function renewCertificates(tx: Transaction<Database>, { clock }: Parts, revision: number) {
  const now = clock()
  const own = await tx.selectFrom('certificates').select('id').where('kind', '=', 'self-signed').execute()
  for (const { id } of own)
    await updateStated(tx, 'certificates', id, revision, { not_after: new Date(now).toISOString() })
  await removeStated(tx, 'challenges', {})
  const anew = { step: null, url: null, private_key: null, failures: 0, problem: null, due_at: now }
  await tx.updateTable('orders').set(anew).execute()
  // An authority's pause applies to the account that is given up.
  await sql`DELETE FROM settings WHERE key LIKE 'acme.pause %'`.execute(tx)
}

/** The secrets of authenticator apps are in the apps too: each is to be set up again. Passkeys have none here. */
async function removeApps(tx: Transaction<Database>) {
  await tx.deleteFrom('authenticators').execute()
  await tx
    .deleteFrom('recovery_codes')
    .where('user_id', 'not in', tx.selectFrom('passkeys').select('user_id'))
    .execute()
}
