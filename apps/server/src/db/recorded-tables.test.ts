import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { RECORDED, VALUES } from './recorded-tables.ts'

/** Tables that the history leaves out, and why. */
const OTHERS: Record<string, string> = {
  sessions: 'come and go by themselves',
  used_tickets: 'follow from sign-ins',
  invites: 'are links that end, and what is done with them is told by name',
  sign_in_networks: 'follows from sign-ins',
  recovery_codes: 'are secrets, and the change says that there are others',
  sign_ins: 'is a record of its own',
  signed_out: 'follows from sign-outs',
  orders: 'are steps of the authority',
  challenges: 'are steps of the authority',
  published_domains: 'follow the services of agents',
  held_addresses: 'follow the services of agents',
  freed_ports: 'is written by triggers',
  freed_domains: 'is written by triggers',
  used_names: 'follow domains and services',
  alerts: 'are a record of their own',
  alert_deliveries: 'are a record of their own',
  revisions: 'is the history',
  changes: 'is the history',
  change_records: 'is the history',
  change_chain: 'is the history',
  pending_changes: 'is a part of the history',
}

test('each table is in the history, or has a reason why it is not', () => {
  const database = new DatabaseSync(':memory:')
  migrate(database, MIGRATIONS)
  const rows = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
  const known = [...Object.keys(RECORDED), ...Object.keys(VALUES), ...Object.keys(OTHERS)]
  expect(rows.map(({ name }) => String(name)).sort()).toEqual(known.sort())
  database.close()
})
