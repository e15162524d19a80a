import type { Edge, PartState, Problem } from '@postern/contract/edge/edge'
import type { EdgeReport } from '@postern/contract/edge/edge-messages'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { readNames } from './names.ts'

/** What is known of an edge since this server started. */
export interface KnownEdge {
  /** Null: it is not connected. */
  link: object | null
  version: string | null
  report: EdgeReport | null
  /** Why this server does not speak with it. */
  refusal: string | undefined
  /** ms since the epoch. */
  lastSeen: number
}
type KnownEdges = ReadonlyMap<number, KnownEdge>

/** How many problems are shown with an edge; the list of what needs attention has them all. */
const MOST_TOLD = 20

export async function listEdges(
  db: Kysely<Database>,
  states: KnownEdges,
  own: readonly string[],
  now: number,
): Promise<Edge[]> {
  const rows = await selectEdges(db)
  // The server's own problem is shown with the edge on its machine.
  const beside = own.map((message): Problem => ({ scope: { kind: 'edge' }, message }))
  const problemsOf = (id: number) => [
    ...(id === rows[0]?.id ? beside : []),
    ...refusalOf(states.get(id)),
    ...(states.get(id)?.report?.problems ?? []),
  ]
  const shown = new Map(rows.map(({ id }) => [id, firstProblems(problemsOf(id))]))
  const nameOf = await readNames(
    db,
    [...shown.values()].flat().map(({ scope }) => scope),
  )
  return rows.map((row) => {
    const { id } = row
    const state = states.get(id)
    return {
      ...factsOf(row, now),
      connected: state !== undefined && state.link !== null,
      version: state?.version ?? null,
      wanted: state?.report?.wanted ?? 0,
      applied: state?.report?.applied ?? 0,
      problems: (shown.get(id) ?? []).map((problem) => ({ ...problem, name: nameOf(problem.scope) })),
      problemCount: problemsOf(id).length,
      isStuck: state?.report?.isStuck ?? false,
      dataPlane: state?.report?.dataPlane ?? null,
      lastSeen: state ? new Date(state.lastSeen).toISOString() : null,
    }
  })
}

function refusalOf(state: KnownEdge | undefined): Problem[] {
  return state?.refusal === undefined ? [] : [{ scope: { kind: 'edge' }, message: state.refusal }]
}

/** For a limited person: how far an edge has come, and nothing that may name what is not theirs. */
export function withoutWords(edge: Edge): Edge {
  const { dataPlane } = edge
  const silent = ({ state }: PartState): PartState => ({ state, detail: '' })
  return {
    ...edge,
    joinableUntil: null,
    certificateUntil: null,
    problems: [],
    problemCount: 0,
    dataPlane: dataPlane && {
      haproxy: silent(dataPlane.haproxy),
      wireguard: silent(dataPlane.wireguard),
      nftables: silent(dataPlane.nftables),
    },
  }
}

/** All problems of the edges as a whole, and those of the server itself. */
export async function listOwnProblems(
  db: Kysely<Database>,
  states: KnownEdges,
  own: readonly string[],
): Promise<{ name: string; message: string }[]> {
  const rows = await selectEdges(db)
  return rows.flatMap(({ id, name }, index) => {
    const { link = null, report = null } = states.get(id) ?? {}
    const reported = link === null ? [] : (report?.problems ?? []).filter(isOwn)
    const beside = index === 0 ? own : []
    return [...beside, ...reported.map(({ message }) => message)].map((message) => ({ name, message }))
  })
}

type ListedRow = Awaited<ReturnType<typeof selectEdges>>[number]

async function selectEdges(db: Kysely<Database>) {
  return await db
    .selectFrom('edges')
    .leftJoin('join_tokens', 'join_tokens.edge_id', 'edges.id')
    .selectAll('edges')
    .select('join_tokens.expires_at')
    .orderBy('number')
    .execute()
}

/** What the database says of an edge. */
function factsOf(row: ListedRow, now: number) {
  const { id, name, number, place, host, updated_at } = row
  return {
    id,
    name,
    number,
    place,
    host,
    servesConsole: row.is_console === 1,
    isDrained: row.is_drained === 1,
    isJoined: row.joined_at !== null,
    joinableUntil: row.expires_at !== null && Date.parse(row.expires_at) > now ? row.expires_at : null,
    certificateUntil: row.certificate_until,
    updated_at,
  }
}

const isOwn = ({ scope }: Problem) => scope.kind === 'edge'

/** Those of the edge itself first. */
function firstProblems(problems: readonly Problem[]): Problem[] {
  return [...problems.filter(isOwn), ...problems.filter((problem) => !isOwn(problem))].slice(0, MOST_TOLD)
}
