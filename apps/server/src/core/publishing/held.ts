import type { PortProto } from '@postern/contract/services/service-fields'
import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../../db/schema.ts'

/** The public address of a service: a person's *Disable* applies to it, whatever key or source publishes there. */
interface Seen {
  domain: string | null
  path?: string | null
  proto?: PortProto | null
  port?: number | null
}

/** An HTTP service is identified by its name and path, every other one by its public port. */
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
