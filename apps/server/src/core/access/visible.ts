import type { Reach } from '@postern/contract/sign-in/auth'
import {
  CommonTableExpressionNameNode,
  CommonTableExpressionNode,
  DeleteQueryNode,
  InsertQueryNode,
  type Kysely,
  type KyselyPlugin,
  type OperationNode,
  RawNode,
  SelectQueryNode,
  UpdateQueryNode,
} from 'kysely'
import type { Database } from '../../db/schema.ts'
import type { Access } from './access.ts'

type Limits = NonNullable<Reach>

/**
 * What of a table a limited person sees: by the column of a node, of a domain on which they may publish, or of one where
 * services of their nodes are, too; or nothing, or everything.
 */
type Sight = { node?: string; domain?: string; usedDomain?: string } | 'nothing' | 'everything'

/** Each table has its row, so that a new one is not shown by mistake. */
const SIGHT: Record<keyof Database, Sight> = {
  nodes: { node: 'id' },
  node_tokens: { node: 'node_id' },
  services: { node: 'node_id' },
  domains: { usedDomain: 'id' },
  certificates: { usedDomain: 'domain_id' },
  orders: { usedDomain: 'domain_id' },
  domain_members: { usedDomain: 'domain_id' },
  sign_ins: { domain: 'domain_id' },
  signed_out: { domain: 'domain_id' },
  // `core/history/filter.ts` shows fewer.
  change_records: { node: 'node_id', domain: 'domain_id' },
  change_chain: 'everything',
  // Read together with `changes` only.
  pending_changes: 'everything',
  // By their records, see `core/history/filter.ts`.
  changes: 'everything',
  publications: { node: 'node_id' },
  published_domains: { usedDomain: 'domain_id' },
  held_addresses: 'nothing',
  freed_ports: 'nothing',
  freed_domains: 'nothing',
  used_names: 'nothing',
  challenges: 'nothing',
  join_tokens: 'nothing',
  users: 'nothing',
  authenticators: 'nothing',
  passkeys: 'nothing',
  recovery_codes: 'nothing',
  console_providers: 'nothing',
  user_identities: 'nothing',
  password_rule: 'nothing',
  user_nodes: 'nothing',
  user_domains: 'nothing',
  sessions: 'nothing',
  used_tickets: 'nothing',
  invites: 'nothing',
  // A person reads their own only.
  api_tokens: 'everything',
  api_token_nodes: 'everything',
  api_token_domains: 'everything',
  sign_in_networks: 'nothing',
  edges: 'everything',
  alert_rules: 'nothing',
  alert_channels: 'nothing',
  alerts: 'nothing',
  alert_deliveries: 'nothing',
  mutes: 'everything',
  revisions: 'everything',
  settings: 'everything',
}

/**
 * The database as a limited person sees it: in each query, a table is only the rows that they may see. It is for looks
 * alone.
 */
export function visibleTo(db: Kysely<Database>, limits: Limits): Kysely<Database> {
  return db.withPlugin(createPlugin(limits))
}

function createPlugin(limits: Limits): KyselyPlugin {
  const narrowed = Object.entries(SIGHT).flatMap(([table, sight]) =>
    sight === 'everything' ? [] : [narrow(table, sight, limits)],
  )
  return {
    transformQuery({ node }) {
      if (InsertQueryNode.is(node) || UpdateQueryNode.is(node) || DeleteQueryNode.is(node))
        throw new Error('a look of a limited person writes')
      if (!SelectQueryNode.is(node)) return node
      // A common table expression has precedence over the table of its name, in raw SQL and inner queries too.
      const expressions = [...narrowed, ...(node.with?.expressions ?? [])]
      return { ...node, with: { kind: 'WithNode', recursive: false, ...node.with, expressions } }
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }
}

function narrow(
  table: string,
  sight: Exclude<Sight, 'everything'>,
  { nodes, domains }: Limits,
): CommonTableExpressionNode {
  const { node, domain, usedDomain } = sight === 'nothing' ? {} : sight
  const used = `SELECT domain_id FROM main.services WHERE node_id IN (${listOf(nodes)})`
  const conditions = [
    ...(node === undefined ? [] : [`${node} IN (${listOf(nodes)})`]),
    ...(domain === undefined ? [] : [`${domain} IN (${listOf(domains)})`]),
    ...(usedDomain === undefined
      ? []
      : [`${usedDomain} IN (${listOf(domains)})`, `${usedDomain} IN (${used})`]),
  ]
  const rows: OperationNode = RawNode.createWithSql(
    `(SELECT * FROM main.${table} WHERE ${conditions.join(' OR ') || '0'})`,
  )
  return CommonTableExpressionNode.create(CommonTableExpressionNameNode.create(table), rows)
}

/** Ids as SQL: a statement holds a limited number of bound values. */
const listOf = (ids: readonly number[]) => ids.map((id) => String(Math.trunc(id))).join()

/** Where a filter looks for the records that it means: among those that the person may see. */
export function seenBy<C extends { db: Kysely<Database>; access: Access }>(context: C): C {
  const { reach } = context.access
  return reach ? { ...context, db: visibleTo(context.db, reach) } : context
}
