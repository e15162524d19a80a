import type { Kysely, Transaction } from 'kysely'
import { updateStated } from '../../changes/change.ts'
import type { Database } from '../../db/schema.ts'
import { findSettings } from '../../db/settings.ts'
import { PRIVATE_KEY } from '../tunnel/tunnel.ts'
import { openSecretKey } from './key-file.ts'
import { createSecrets, isSealed, isUnbound, openUnbound, PLACES, type Secrets } from './secrets.ts'

/**
 * Opens the sealed texts of a database, and binds them to their places after an upgrade.
 * @throws SecretsError
 */
export async function openSecrets(db: Kysely<Database>, file: string, isUsed: boolean): Promise<Secrets> {
  const key = await openSecretKey(db, file, isUsed)
  const secrets = createSecrets(key)
  await db.transaction().execute(async (tx) => {
    if (!(await isOfBefore(tx))) return
    await sealAnew(tx, (sealed, place) => secrets.seal(openUnbound(key, sealed), place))
  })
  return secrets
}

/**
 * Everything is bound in one transaction, together with the tunnel's key, which is made first: a single unbound text
 * is refused.
 */
async function isOfBefore(tx: Transaction<Database>): Promise<boolean> {
  const sealed = (await findSettings(tx, PRIVATE_KEY))?.[PRIVATE_KEY]
  return sealed !== undefined && isUnbound(sealed)
}

/** Its new sealed text, at the same place. */
type Renew = (sealed: string, place: string) => string

/**
 * Every column of type `Sealed` in the schema, and the sealed settings.
 * @returns how many texts there were
 */
export async function sealAnew(tx: Transaction<Database>, renew: Renew): Promise<number> {
  let count = 0
  const renewed = (sealed: string, place: string) => {
    count++
    return renew(sealed, place)
  }
  const orNull = (sealed: string | null, place: string) => sealed && renewed(sealed, place)
  const settings = await tx.selectFrom('settings').selectAll().execute()
  for (const { key, value } of settings.filter((row) => isSealed(row.value)))
    await tx
      .updateTable('settings')
      .set({ value: renewed(value, PLACES.setting(key)) })
      .where('key', '=', key)
      .execute()
  // The edges' data does not change, so the rows keep their revisions.
  const nodes = await tx
    .selectFrom('nodes')
    .select(['id', 'revision', 'private_key', 'preshared_key'])
    .execute()
  for (const { id, revision, private_key, preshared_key } of nodes) {
    const keys = {
      private_key: orNull(private_key, PLACES.node(id, 'private_key')),
      preshared_key: orNull(preshared_key, PLACES.node(id, 'preshared_key')),
    }
    await updateStated(tx, 'nodes', id, revision, keys)
  }
  const certificates = await tx
    .selectFrom('certificates')
    .select(['id', 'domain_id', 'revision', 'private_key'])
    .execute()
  for (const { id, domain_id, revision, private_key } of certificates) {
    const keys = { private_key: orNull(private_key, PLACES.certificate(domain_id)) }
    await updateStated(tx, 'certificates', id, revision, keys)
  }
  const orders = await tx.selectFrom('orders').select(['id', 'private_key']).execute()
  for (const { id, private_key } of orders)
    await tx
      .updateTable('orders')
      .set({ private_key: orNull(private_key, PLACES.order(id)) })
      .where('id', '=', id)
      .execute()
  const authenticators = await tx.selectFrom('authenticators').select(['user_id', 'secret']).execute()
  for (const { user_id, secret } of authenticators)
    await tx
      .updateTable('authenticators')
      .set({ secret: renewed(secret, PLACES.authenticator(user_id)) })
      .where('user_id', '=', user_id)
      .execute()
  const providers = await tx.selectFrom('console_providers').select(['id', 'client_secret']).execute()
  for (const { id, client_secret } of providers)
    await tx
      .updateTable('console_providers')
      .set({ client_secret: renewed(client_secret, PLACES.provider(id)) })
      .where('id', '=', id)
      .execute()
  const edges = await tx.selectFrom('edges').select(['id', 'private_key']).execute()
  for (const { id, private_key } of edges)
    await tx
      .updateTable('edges')
      .set({ private_key: orNull(private_key, PLACES.edge(id)) })
      .where('id', '=', id)
      .execute()
  const channels = await tx.selectFrom('alert_channels').select(['id', 'secrets']).execute()
  for (const { id, secrets } of channels)
    await tx
      .updateTable('alert_channels')
      .set({ secrets: renewed(secrets, PLACES.channel(id)) })
      .where('id', '=', id)
      .execute()
  return count
}
