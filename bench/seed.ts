import { randomBytes } from 'node:crypto'
import { writeRows } from '@postern/testkit/rows'
import type { Kysely } from 'kysely'
import type { Database } from '../apps/server/src/db/schema.ts'

/** Rows per statement: SQLite allows 32,766 values in one. */
const BATCH = 500
const AT = '2026-01-01T00:00:00.000Z'

/** Writes `count` rows straight into the tables, as if as many requests had created them. */
async function inBatches<T>(
  count: number,
  make: (index: number) => T,
  insert: (rows: T[]) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < count; start += BATCH) {
    const length = Math.min(BATCH, count - start)
    await insert(Array.from({ length }, (_, index) => make(start + index)))
  }
}

/**
 * Nodes with made-up keys, from 10.64.16.2 on.
 * @returns their ids
 */
export async function seedNodes(db: Kysely<Database>, count: number): Promise<number[]> {
  const ids: number[] = []
  const make = (index: number) => ({
    name: `node ${index}`,
    name_folded: `node ${index}`,
    address: `10.64.${16 + Math.floor(index / 200)}.${2 + (index % 200)}`,
    dns: null,
    keepalive: 25,
    is_gateway: 0 as const,
    gateway_networks: '[]',
    allow_internet: 0 as const,
    advanced: 0 as const,
    is_local: 0 as const,
    enabled: 1 as const,
    public_key: randomBytes(32).toString('base64'),
    private_key: null,
    preshared_key: null,
    created_at: AT,
    updated_at: AT,
  })
  await inBatches(count, make, async (rows) => {
    const inserted = await writeRows(db, (tx, revision) =>
      tx
        .insertInto('nodes')
        .values(rows.map((row) => ({ ...row, revision })))
        .returning('id')
        .execute(),
    )
    ids.push(...inserted.map(({ id }) => id))
  })
  return ids
}

interface Place {
  nodeId: number
  domainId: number | null
  path: string
}

/** All services in one transaction, so that an edge sees either none or all of them. */
export async function seedServices(
  db: Kysely<Database>,
  count: number,
  placeOf: (index: number) => Place,
): Promise<void> {
  await writeRows(db, async (tx, revision) => {
    const make = (index: number) => serviceOf(index, revision, placeOf(index))
    await inBatches(count, make, (rows) => tx.insertInto('services').values(rows).execute())
  })
}

function serviceOf(index: number, revision: number, { nodeId, domainId, path }: Place) {
  return {
    type: 'http' as const,
    node_id: nodeId,
    name: `service ${index}`,
    name_folded: `service ${index}`,
    domain_id: domainId,
    path,
    backend_proto: 'http' as const,
    backend_host: null,
    backend_port: 8080,
    allowed_ips: '[]',
    blocked_ips: '[]',
    enabled: 1 as const,
    system: 0 as const,
    revision,
    created_at: AT,
    updated_at: AT,
  }
}

/**
 * Domains whose certificates are valid for long, with made-up contents.
 * @param seal makes the sealed key of a certificate, by its domain.
 * @returns their ids
 */
export async function seedDomains(
  db: Kysely<Database>,
  count: number,
  seal: (domainId: number) => string,
): Promise<number[]> {
  const ids: number[] = []
  const make = (index: number) => ({
    domain: `s${index}.example.com`,
    ssl: 'self-signed' as const,
    skip_validation: 1 as const,
    created_at: AT,
    updated_at: AT,
  })
  await inBatches(count, make, async (rows) => {
    await writeRows(db, async (tx, revision) => {
      const stamped = rows.map((row) => ({ ...row, revision }))
      const inserted = await tx.insertInto('domains').values(stamped).returning('id').execute()
      ids.push(...inserted.map(({ id }) => id))
      await tx
        .insertInto('certificates')
        .values(inserted.map(({ id }) => ({ ...certificateOf(id, seal(id)), revision })))
        .execute()
    })
  })
  return ids
}

/** Without validity dates a certificate would be renewed during a measurement. */
function certificateOf(domainId: number, sealed: string) {
  return {
    domain_id: domainId,
    status: 'valid' as const,
    issuer: 'bench',
    chain: 'chain',
    private_key: sealed,
    not_before: AT,
    not_after: '9999-01-01T00:00:00.000Z',
    error: null,
    created_at: AT,
    updated_at: AT,
  }
}
