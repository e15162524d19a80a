import type { PortProto } from '@postern/contract/service-fields'
import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../../db/schema.ts'

/** What visitors see of a service: by that a person's *Disable* holds, whatever key or source asks for it. */
interface Seen {
  domain: string | null
  path?: string | null
  proto?: PortProto | null
  port?: number | null
}

/** A service over HTTP is seen by its name and path, every other one by its public port. */
export function addressOf({ domain, path, proto, port }: Seen): string {
  return proto ? `${proto}:${port}` : `${domain}${path ?? '/'}`
}

export async function isHeld(db: Kysely<Database>, nodeId: number, address: string): Promise<boolean> {
  const row = await db
    .selectFrom('held_addresses')
    .select('address')
    .where('node_id', '=', nodeId)
    .where('address', '=', address)
    .executeTakeFirst()
  return row !== undefined
}

export async function holdAddress(
  tx: Transaction<Database>,
  node_id: number,
  address: string,
  isHeld: boolean,
): Promise<void> {
  if (isHeld)
    await tx
      .insertInto('held_addresses')
      .values({ node_id, address })
      .onConflict((there) => there.doNothing())
      .execute()
  else
    await tx
      .deleteFrom('held_addresses')
      .where('node_id', '=', node_id)
      .where('address', '=', address)
      .execute()
}
