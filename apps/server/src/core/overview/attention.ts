import type { CertificateProblem } from '@postern/contract/certificates'
import type { Page } from '@postern/contract/lists'
import type { Attention, AttentionQuery } from '@postern/contract/overview'
import type { Context } from '../../context.ts'
import { listEndingCertificates } from '../domains/ending.ts'
import { listProblems } from '../edges/differences.ts'
import { readNames } from '../edges/names.ts'
import { selectUnissued } from './certificates.ts'
import { among, countServices, listServicesApart } from './overview.ts'

type Row = Omit<Attention, 'id'>

/** With `limit` a page, else all rows; a problem of each thing is its own row. */
export async function listAttention(
  context: Context,
  { type, search = '', page = 1, limit }: AttentionQuery,
): Promise<Page<Attention> | Attention[]> {
  const text = search.toLowerCase()
  const has = (words: string | null) => words?.toLowerCase().includes(text)
  const rows = (await readAll(context))
    .filter(({ kind }) => type === undefined || kind === type)
    .filter(({ name, nodeName, problem }) => has(name) || has(nodeName) || has(problem))
    .map((row, index) => ({ id: index + 1, ...row }))
  if (limit === undefined) return rows
  const offset = (page - 1) * limit
  return { data: rows.slice(offset, offset + limit), page, limit, total: rows.length }
}

async function readAll(context: Context): Promise<Row[]> {
  const services = await listTroubled(context)
  const lost = await listLost(context)
  const of = (tone: Row['tone']) => services.filter((row) => row.tone === tone)
  return [
    ...(await listReported(context)),
    ...lost.filter(({ tone }) => tone === 'bad'),
    ...of('bad'),
    ...(await listUnissued(context)),
    ...of('warn'),
    ...(await listAgentsProblems(context)),
    ...lost.filter(({ tone }) => tone === 'none'),
    ...(await listEnding(context)),
  ]
}

const NONE = { nodeId: null, nodeName: null, type: null, lost: null, notAfter: null }

/** Problems of an edge as a whole, a node or a certificate; a service's problem is in its state. */
async function listReported(context: Context): Promise<Row[]> {
  // An edge carries the whole installation.
  const problems = context.access.reach ? [] : await context.edges.listOwnProblems()
  const own = problems.map(
    ({ name, message }): Row => ({ ...NONE, kind: 'edge', tone: 'bad', name, problem: message }),
  )
  const others = listProblems(context.edges.views())
  const nameOf = await readNames(
    context.db,
    others.map(({ scope }) => scope),
  )
  const rows = others.map(({ scope, message }): Row | undefined => {
    const name = nameOf(scope)
    if (name === null || (scope.kind !== 'node' && scope.kind !== 'certificate')) return undefined
    const nodeId = scope.kind === 'node' ? scope.id : null
    return { ...NONE, kind: scope.kind, tone: 'bad', name, nodeId, problem: message }
  })
  return [...own, ...rows.filter((row) => row !== undefined)]
}

/** Nodes that were lost although nobody disconnected them; those with the most services first. */
async function listLost(context: Context): Promise<Row[]> {
  const counted = await countServices(context)
  const lost = [...counted].filter(([, { kind }]) => kind === 'offline')
  const ids = lost.toSorted(([, a], [, b]) => b.count - a.count).map(([id]) => id)
  const rows = await context.db
    .selectFrom('nodes')
    .select(['id', 'name'])
    .where('id', 'in', among(ids))
    .execute()
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return ids.map((id): Row => {
    const { count: services = 0, lastSeen } = counted.get(id) ?? {}
    const lost = { lastSeen: lastSeen ?? 0, services }
    const tone = services > 0 ? 'bad' : 'none'
    return { ...NONE, kind: 'node', tone, name: names.get(id) ?? '', nodeId: id, problem: null, lost }
  })
}

/** Problems that agents report on their nodes. */
async function listAgentsProblems({ db, agents }: Context): Promise<Row[]> {
  const rows = await db
    .selectFrom('nodes')
    .select(['id', 'name'])
    .where('id', 'in', among(agents.ids()))
    .orderBy('name')
    .orderBy('id')
    .execute()
  return rows.flatMap(({ id, name }) =>
    agents
      .problemsOf(id)
      .map((problem): Row => ({ ...NONE, kind: 'node', tone: 'warn', name, nodeId: id, problem })),
  )
}

/** Services that visitors cannot use although their nodes are online. */
async function listTroubled(context: Context): Promise<Row[]> {
  const services = await listServicesApart(context)
  return services.flatMap(({ name, nodeId, nodeName, type, state }): Row[] => {
    if (state.phase !== 'failed' && state.phase !== 'unanswered') return []
    const tone = state.phase === 'failed' ? 'bad' : 'warn'
    return [{ ...NONE, kind: 'service', tone, name, nodeId, nodeName, type, problem: state.problem ?? '' }]
  })
}

async function listUnissued({ db }: Context): Promise<Row[]> {
  const rows = await selectUnissued(db)
    .select(['domains.domain', 'orders.problem'])
    .orderBy('domains.domain')
    .execute()
  return rows.map(({ domain, problem }): Row => {
    // This server wrote it in this form.
    const { detail = '' } = JSON.parse(problem ?? '{}') as Partial<CertificateProblem>
    return { ...NONE, kind: 'certificate', tone: 'bad', name: domain, problem: detail }
  })
}

async function listEnding(context: Context): Promise<Row[]> {
  const { data } = await listEndingCertificates(context)
  return data.map(({ domain, notAfter, error }): Row => {
    return { ...NONE, kind: 'certificate', tone: 'warn', name: domain, problem: error, notAfter }
  })
}
