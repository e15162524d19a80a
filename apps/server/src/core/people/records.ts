import type { Person } from '@postern/contract/people/people'
import type { Kysely, Selectable } from 'kysely'
import type { InvitesTable, UsersTable } from '../../db/people-tables.ts'
import type { Database } from '../../db/schema.ts'
import { isLimited } from '../access/access.ts'
import { NotFoundError } from '../errors.ts'
import { selectLiveTokens } from '../programs/live-tokens.ts'

export type PersonRow = Selectable<UsersTable>

/** @throws NotFoundError */
export async function getPersonRow(db: Kysely<Database>, id: number): Promise<PersonRow> {
  const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw new NotFoundError('Person')
  return row
}

/** By id; there are few. */
export async function readPeople(db: Kysely<Database>, now: number, only?: number): Promise<Person[]> {
  let users = db.selectFrom('users').selectAll().orderBy('id')
  if (only !== undefined) users = users.where('id', '=', only)
  const rows = await users.execute()
  const ids = rows.map(({ id }) => id)
  const invites = await db.selectFrom('invites').selectAll().where('user_id', 'in', ids).execute()
  const sessions = await db
    .selectFrom('sessions')
    .select(({ fn }) => ['user_id', fn.countAll<number>().as('count')])
    .where('user_id', 'in', ids)
    .where('expires_at', '>', now)
    .groupBy('user_id')
    .execute()
  const tokens = await selectLiveTokens(db, now)
    .select(({ fn }) => ['user_id', fn.countAll<number>().as('count')])
    .where('user_id', 'in', ids)
    .groupBy('user_id')
    .execute()
  const connected = await db
    .selectFrom('user_identities')
    .select(({ fn }) => ['user_id', fn.countAll<number>().as('count')])
    .where('user_id', 'in', ids)
    .groupBy('user_id')
    .execute()
  const passkeys = await db
    .selectFrom('passkeys')
    .select(({ fn }) => ['user_id', fn.countAll<number>().as('count')])
    .where('user_id', 'in', ids)
    .groupBy('user_id')
    .execute()
  const apps = await db.selectFrom('authenticators').select('user_id').where('user_id', 'in', ids).execute()
  const limits = await readLimits(db, ids)
  const countOf = (counts: readonly Counted[], id: number) =>
    counts.find(({ user_id }) => user_id === id)?.count ?? 0
  return rows.map((row) =>
    toPerson(row, {
      invite: invites.find(({ user_id }) => user_id === row.id),
      sessions: countOf(sessions, row.id),
      apiTokens: countOf(tokens, row.id),
      identities: countOf(connected, row.id),
      passkeys: countOf(passkeys, row.id),
      limits: limitsOf(limits, row.id),
      hasFactor: [...apps, ...passkeys].some(({ user_id }) => user_id === row.id),
    }),
  )
}

interface Counted {
  user_id: number
  count: number
}

type Limit = { user_id: number; id: number; name: string }
type Limits = { nodes: Limit[]; domains: Limit[] }

/** What each is limited to, by name. */
async function readLimits(db: Kysely<Database>, ids: readonly number[]): Promise<Limits> {
  const nodes = await db
    .selectFrom('user_nodes')
    .innerJoin('nodes', 'nodes.id', 'user_nodes.node_id')
    .select(['user_nodes.user_id', 'nodes.id', 'nodes.name'])
    .where('user_nodes.user_id', 'in', ids)
    .orderBy('nodes.name_folded')
    .orderBy('nodes.id')
    .execute()
  const domains = await db
    .selectFrom('user_domains')
    .innerJoin('domains', 'domains.id', 'user_domains.domain_id')
    .select(['user_domains.user_id', 'domains.id', 'domains.domain as name'])
    .where('user_domains.user_id', 'in', ids)
    .orderBy('domains.domain')
    .execute()
  return { nodes, domains }
}

function limitsOf({ nodes, domains }: Limits, id: number): Limits {
  const own = (limits: Limit[]) => limits.filter(({ user_id }) => user_id === id)
  return { nodes: own(nodes), domains: own(domains) }
}

interface Details {
  invite: Selectable<InvitesTable> | undefined
  sessions: number
  apiTokens: number
  identities: number
  passkeys: number
  limits: Limits
  hasFactor: boolean
}

function toPerson(row: PersonRow, { invite, limits: { nodes, domains }, ...counts }: Details): Person {
  const { id, username, role, created_at, updated_at } = row
  return {
    ...{ id, username, role, ...counts, created_at, updated_at },
    reach: isLimited(row)
      ? { nodes: nodes.map((node) => node.id), domains: domains.map((each) => each.id) }
      : null,
    reachNames: isLimited(row)
      ? { nodes: nodes.map(({ name }) => name), domains: domains.map(({ name }) => name) }
      : null,
    state: stateOf(row, invite),
    invite: invite
      ? { isReset: invite.is_reset === 1, endsAt: new Date(invite.expires_at).toISOString() }
      : null,
    lastSignInAt: row.last_sign_in_at === null ? null : new Date(row.last_sign_in_at).toISOString(),
  }
}

function stateOf(row: PersonRow, invite: Details['invite']): Person['state'] {
  if (row.is_disabled === 1) return 'disabled'
  return invite?.is_reset === 0 ? 'invited' : 'active'
}
