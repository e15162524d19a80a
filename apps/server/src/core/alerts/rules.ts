import { ALERT_MESSAGES } from '@postern/contract/alerts/messages'
import {
  type AlertRule,
  BUILT_IN_RULES,
  type BuiltInRuleForm,
  FIGURES,
  type FigureRuleForm,
  SUBJECTS,
  type Subject,
  THRESHOLDS,
} from '@postern/contract/alerts/rules'
import type { FieldError } from '@postern/contract/errors'
import { LIMITS } from '@postern/contract/limits'
import type { Kysely, Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { type ChangeNote, change, nextTime } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { ConflictError, NotFoundError, ValidationError } from '../errors.ts'
import type { Patch } from '../patch.ts'

type Db = Kysely<Database> | Transaction<Database>

/** Those that are built in first. */
export async function listRules({ db }: Pick<Context, 'db'>): Promise<AlertRule[]> {
  return (await selectRules(db).orderBy('alert_rules.id').execute()).map(toRule)
}

/** @throws NotFoundError */
export async function getRule(db: Db, id: number): Promise<AlertRule> {
  const row = await selectRules(db).where('alert_rules.id', '=', id).executeTakeFirst()
  if (!row) throw new NotFoundError('Rule')
  return toRule(row)
}

/** @throws NotFoundError, ValidationError, ConflictError */
export async function updateBuiltInRule(
  context: Context,
  actor: Actor,
  id: number,
  patch: Patch<BuiltInRuleForm>,
): Promise<AlertRule> {
  return await write(context, { actor, what: 'alert rule updated' }, async (tx) => {
    const rule = await getRule(tx, id)
    if (rule.kind === 'figure') throw new NotFoundError('Rule')
    const { enabled, minutes, threshold } = rule
    const form = patch.onto({ enabled, minutes: minutes ?? 5, threshold }, rule.updated_at)
    const limits = rule.kind in THRESHOLDS ? THRESHOLDS[rule.kind as keyof typeof THRESHOLDS] : undefined
    const value = form.threshold ?? threshold
    if (limits && (value === null || value < limits.least || value > limits.most))
      throw new ValidationError([{ field: 'threshold', message: limits.message }])
    await tx
      .updateTable('alert_rules')
      .set({
        enabled: flag(form.enabled),
        minutes: minutes === null ? null : form.minutes,
        threshold: limits ? value : null,
        updated_at: nextTime(context.clock(), rule.updated_at),
      })
      .where('id', '=', id)
      .execute()
    return id
  })
}

/** @throws ValidationError, ConflictError */
export async function createFigureRule(
  context: Context,
  actor: Actor,
  patch: Patch<FigureRuleForm>,
): Promise<AlertRule> {
  return await write(context, { actor, what: 'alert rule created' }, async (tx) => {
    const form = patch.onto({})
    await checkSubject(tx, form)
    const held = await tx.selectFrom('alert_rules').select('id').where('kind', '=', 'figure').execute()
    if (held.length >= LIMITS.alertRules)
      throw new ConflictError(`There are ${held.length} rules, which is the limit. Delete one first.`)
    const now = new Date(context.clock()).toISOString()
    const row = { kind: 'figure' as const, ...columnsOf(form), created_at: now, updated_at: now }
    const { id } = await tx.insertInto('alert_rules').values(row).returning('id').executeTakeFirstOrThrow()
    return id
  })
}

/** @throws NotFoundError, ValidationError, ConflictError */
export async function updateFigureRule(
  context: Context,
  actor: Actor,
  id: number,
  patch: Patch<FigureRuleForm>,
): Promise<AlertRule> {
  return await write(context, { actor, what: 'alert rule updated' }, async (tx) => {
    const rule = await getOwn(tx, id)
    const { name, enabled, figure, comparison, threshold, minutes } = rule
    const { nodeId, serviceId, domainId, edgeId } = rule
    const subject = { nodeId, serviceId, domainId, edgeId }
    const current = { name, enabled, figure, comparison, threshold, minutes, ...subject }
    const form = patch.onto(current, rule.updated_at)
    await checkSubject(tx, form)
    const updated_at = nextTime(context.clock(), rule.updated_at)
    await tx
      .updateTable('alert_rules')
      .set({ ...columnsOf(form), updated_at })
      .where('id', '=', id)
      .execute()
    return id
  })
}

/** What it found goes with it. @throws NotFoundError */
export async function removeFigureRule(context: Context, actor: Actor, id: number): Promise<{ id: number }> {
  await change(context, { actor, what: 'alert rule deleted' }, async (tx) => {
    const { name } = await getOwn(tx, id)
    await tx.deleteFrom('alert_rules').where('id', '=', id).execute()
    return { value: undefined, touched: {}, name }
  })
  context.bus.emit({ kind: 'alerts' })
  return { id }
}

async function getOwn(tx: Db, id: number): Promise<AlertRule> {
  const rule = await getRule(tx, id)
  if (rule.kind !== 'figure') throw new NotFoundError('Rule')
  return rule
}

async function write(
  context: Context,
  note: ChangeNote,
  work: (tx: Transaction<Database>) => Promise<number>,
): Promise<AlertRule> {
  const id = await change(context, note, async (tx) => {
    const value = await work(tx)
    const { name, kind } = await getRule(tx, value)
    return { value, touched: {}, name: name || kind }
  })
  context.bus.emit({ kind: 'alerts' })
  return await getRule(context.db, id)
}

/** A figure of the whole installation has no subject, whatever was chosen before. */
function columnsOf(form: FigureRuleForm) {
  const { hasSubject } = FIGURES[form.figure]
  return {
    name: form.name,
    enabled: flag(form.enabled),
    minutes: form.minutes,
    threshold: form.threshold,
    figure: form.figure,
    comparison: form.comparison,
    node_id: hasSubject ? form.nodeId : null,
    service_id: hasSubject ? form.serviceId : null,
    domain_id: hasSubject ? form.domainId : null,
    edge_id: hasSubject ? form.edgeId : null,
  }
}

const TABLES = {
  nodeId: { table: 'nodes', noun: 'node' },
  serviceId: { table: 'services', noun: 'service' },
  domainId: { table: 'domains', noun: 'domain' },
  edgeId: { table: 'edges', noun: 'edge' },
} as const satisfies Record<Subject, { table: keyof Database; noun: string }>

/** @throws ValidationError */
async function checkSubject(tx: Db, form: FigureRuleForm): Promise<void> {
  const { hasSubject, isOfAnswers } = FIGURES[form.figure]
  if (!hasSubject) return
  const errors: FieldError[] = []
  for (const field of SUBJECTS) {
    const [id, { table, noun }] = [form[field], TABLES[field]]
    if (id === null) continue
    const found = await tx.selectFrom(table).select('id').where('id', '=', id).executeTakeFirst()
    if (!found) errors.push({ field, message: `This ${noun} does not exist any more.` })
    else if (isOfAnswers && field === 'serviceId' && !(await isHttp(tx, id)))
      errors.push({ field, message: ALERT_MESSAGES.onlyHttp })
  }
  if (errors.length > 0) throw new ValidationError(errors)
}

async function isHttp(tx: Db, id: number): Promise<boolean> {
  const service = tx.selectFrom('services').select('type').where('id', '=', id)
  return (await service.executeTakeFirst())?.type === 'http'
}

function selectRules(db: Db) {
  return db
    .selectFrom('alert_rules')
    .leftJoin('nodes', 'nodes.id', 'alert_rules.node_id')
    .leftJoin('services', 'services.id', 'alert_rules.service_id')
    .leftJoin('domains', 'domains.id', 'alert_rules.domain_id')
    .leftJoin('edges', 'edges.id', 'alert_rules.edge_id')
    .selectAll('alert_rules')
    .select(['nodes.name as node_name', 'services.name as service_name'])
    .select(['domains.domain as domain_name', 'edges.name as edge_name'])
}

type Row = Awaited<ReturnType<ReturnType<typeof selectRules>['executeTakeFirstOrThrow']>>

function toRule(row: Row): AlertRule {
  const { id, kind, minutes, threshold, figure, comparison, created_at, updated_at } = row
  return {
    id,
    kind,
    name: kind === 'figure' ? row.name : BUILT_IN_RULES[kind],
    enabled: row.enabled === 1,
    minutes,
    threshold,
    figure,
    comparison,
    nodeId: row.node_id,
    serviceId: row.service_id,
    domainId: row.domain_id,
    edgeId: row.edge_id,
    subject: row.service_name ?? row.node_name ?? row.domain_name ?? row.edge_name,
    created_at,
    updated_at,
  }
}
