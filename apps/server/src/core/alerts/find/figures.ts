import { type AlertRule, FIGURES, LEAST_REQUESTS } from '@postern/contract/alerts/rules'
import { quantileOf } from '@postern/contract/edge/response-times'
import type { Context } from '../../../context.ts'
import { ALL_KEY, domainKey, edgeKey, nodeKey } from '../../figures/keys.ts'
import type { Count } from '../../figures/pack.ts'
import { MINUTE } from '../../figures/steps.ts'
import { readWindows } from '../../figures/windows.ts'
import { among } from '../../overview/overview.ts'
import type { Counted, Finder, Finding, RuleValue, Sight } from '../sight.ts'
import { isLost, listDownServices } from './nodes-and-services.ts'

/** Edges send the counts of a minute within the next one. */
const LATE = 2

export const figureKey = (rule: number) => `figure:${rule}`

export const findFigures: Finder = ({ muted, values, counted }, rule) => {
  const known = values.get(figureKey(rule.id))
  if (known === undefined || rule.figure === null || rule.threshold === null) return []
  const nodeId = rule.nodeId ?? counted.nodesOf.get(rule.serviceId ?? 0)
  if (muted.nodes.has(nodeId ?? 0) || muted.services.has(rule.serviceId ?? 0)) return []
  const { value } = known
  if (!(rule.comparison === 'below' ? value < rule.threshold : value > rule.threshold)) return []
  const finding: Finding = {
    key: figureKey(rule.id),
    rule,
    name: rule.name,
    problem: sentence(rule, rule.figure, known),
    // Its minutes are in the figure.
    ...(FIGURES[rule.figure].isOverMinutes && { isSustained: true }),
    ...(nodeId !== undefined && { nodeId }),
    ...(rule.serviceId !== null && { serviceId: rule.serviceId }),
  }
  return [finding]
}

/** Like `Error Share of wiki: 12 % of 340 requests in 5 minutes, above the limit of 5 %.` */
function sentence(rule: AlertRule, figure: keyof typeof FIGURES, { value, of }: RuleValue): string {
  const { text, unit, hasSubject, isOverMinutes } = FIGURES[figure]
  const amount = (number: number) => `${round(number)}${unit && ` ${unit}`}`
  const subject = hasSubject ? ` of ${rule.subject ?? 'all services'}` : ''
  const minutes = rule.minutes === 1 ? '1 minute' : `${rule.minutes} minutes`
  const base = isOverMinutes
    ? ` of ${of?.toLocaleString('en')} ${figure === 'error-share' ? 'requests' : 'answers'} in ${minutes}`
    : ''
  const limit = `${rule.comparison} the limit of ${amount(rule.threshold ?? 0)}`
  return `${text}${subject}: ${amount(value)}${base}, ${limit}.`
}

const round = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 1 })

/** The present figures of the rules, by alert key; unknown ones are left out. */
export async function readValues(
  sight: Omit<Sight, 'values'>,
  rules: readonly AlertRule[],
): Promise<Map<string, RuleValue>> {
  const values = new Map<string, RuleValue>()
  if (!sight.isSettled) return values
  for (const rule of rules) {
    const value = await findValue(sight, rule)
    if (value !== undefined) values.set(figureKey(rule.id), value)
  }
  return values
}

async function findValue(sight: Omit<Sight, 'values'>, rule: AlertRule): Promise<RuleValue | undefined> {
  const { nodes, context, counted } = sight
  switch (rule.figure) {
    case 'offline-nodes':
      return { value: [...nodes.values()].filter(isLost).length }
    case 'unanswered-services':
      return { value: (await listDownServices(sight)).length }
    case 'open-connections': {
      const all = [...context.edges.vitals().values()].flatMap(({ haproxy }) => haproxy?.connections ?? [])
      return all.length === 0 ? undefined : { value: all.reduce((sum, each) => sum + each, 0) }
    }
    default: {
      const count = counted.of.get(rule.id)
      return count && valueIn(count, rule.figure)
    }
  }
}

function valueIn(count: Count, figure: AlertRule['figure']): RuleValue | undefined {
  const [requests, received, sent, errors = 0, ...buckets] = count
  const answers = buckets.reduce((sum, each) => sum + each, 0)
  switch (figure) {
    case 'requests':
      return { value: requests }
    case 'errors':
      return { value: errors }
    case 'received':
    case 'sent':
      return { value: (figure === 'received' ? received : sent) / 1000 / 60 }
    case 'error-share':
      // The two are counted in different places, which may differ by a moment.
      return enough(requests, () => Math.min(100, (errors / requests) * 100))
    case 'p50':
    case 'p95':
      return enough(answers, () => quantileOf(buckets, figure === 'p50' ? 0.5 : 0.95) ?? 0)
    default:
      return undefined
  }
}

/** One slow answer out of three means nothing. */
const enough = (of: number, work: () => number): RuleValue | undefined =>
  of < LEAST_REQUESTS ? undefined : { value: work(), of }

const NOTHING: Counted = { of: new Map(), nodesOf: new Map() }

/** Reads what all rules need of the counts, together, and once for each minute. */
export function createCounted(context: Context): (rules: readonly AlertRule[]) => Promise<Counted> {
  let read = { what: '', counted: NOTHING }
  return async (rules) => {
    const watching = rules.filter(({ enabled, figure }) => enabled && figure && FIGURES[figure].hasSubject)
    if (watching.length === 0) return NOTHING
    const end = Math.floor(context.clock() / MINUTE) - LATE
    const windows = watching.map((rule) => ({ key: keyOf(rule), minutes: minutesOf(rule) }))
    const what = JSON.stringify([end, watching.map(({ id }) => id), windows])
    if (read.what === what) return read.counted
    const counts = await readWindows(context, windows, end)
    const of = new Map(watching.flatMap(({ id }, index) => (counts[index] ? [[id, counts[index]]] : [])))
    read = { what, counted: { of, nodesOf: await readNodes(context, watching) } }
    return read.counted
  }
}

const minutesOf = ({ figure, minutes }: AlertRule) =>
  figure && FIGURES[figure].isOverMinutes ? (minutes ?? 1) : 1

function keyOf({ serviceId, nodeId, domainId, edgeId }: AlertRule): number {
  if (serviceId !== null) return serviceId
  if (nodeId !== null) return nodeKey(nodeId)
  if (domainId !== null) return domainKey(domainId)
  return edgeId === null ? ALL_KEY : edgeKey(edgeId)
}

/** The nodes of the services that rules watch. */
async function readNodes({ db }: Context, rules: readonly AlertRule[]): Promise<Counted['nodesOf']> {
  const ids = rules.flatMap(({ serviceId }) => serviceId ?? [])
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('services')
    .select(['id', 'node_id'])
    .where('id', 'in', among(ids))
    .orderBy('id')
    .execute()
  return new Map(rows.map(({ id, node_id }) => [id, node_id]))
}
