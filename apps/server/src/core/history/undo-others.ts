import { ChannelForm } from '@postern/contract/alerts/channels'
import { QuietHours } from '@postern/contract/alerts/quiet-hours'
import { BuiltInRuleForm, FigureRuleForm } from '@postern/contract/alerts/rules'
import { EdgeForm } from '@postern/contract/edge/join'
import type { Fields } from '@postern/contract/history/history'
import { SettingsForm } from '@postern/contract/settings/console-settings'
import type { Actor } from '../../changes/actor.ts'
import type { Undone } from '../../changes/undoable.ts'
import type { Context } from '../../context.ts'
import { getChannel, removeChannel, updateChannel } from '../alerts/channels.ts'
import { readQuietHours, setQuietHours } from '../alerts/quiet-hours.ts'
import {
  createFigureRule,
  getRule,
  removeFigureRule,
  updateBuiltInRule,
  updateFigureRule,
} from '../alerts/rules.ts'
import { drainEdge, formOf as edgeFormOf, editEdge } from '../edges/edit.ts'
import { getEdgeRow } from '../edges/rows.ts'
import { removeToken } from '../nodes/tokens.ts'
import { createPatch } from '../patch.ts'
import { updateSettings } from '../settings/update.ts'
import { fieldsBefore, idOf } from './since.ts'

/** A new one ends. */
export async function undoToken(context: Context, actor: Actor, record: Undone): Promise<void> {
  await removeToken(
    context,
    actor,
    { nodeId: record.nodeId ?? 0, id: idOf(record) },
    { forgetKey: undefined },
  )
}

export async function undoAlert(context: Context, actor: Actor, record: Undone): Promise<void> {
  if (record.kind === 'channel') return await undoChannel(context, actor, record)
  const { before, after } = record
  if (after === null)
    return void (await createFigureRule(
      context,
      actor,
      createPatch(FigureRuleForm, ruleFields(before ?? {})),
    ))
  const id = idOf(record)
  const rule = await getRule(context.db, id)
  const fields = ruleFields(await fieldsBefore(context, record, { ...rule }))
  if (before === null) return void (await removeFigureRule(context, actor, id))
  if (rule.kind === 'figure')
    await updateFigureRule(context, actor, id, createPatch(FigureRuleForm, fields, rule.updated_at))
  else await updateBuiltInRule(context, actor, id, createPatch(BuiltInRuleForm, fields, rule.updated_at))
}

const ruleFields = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => field in FigureRuleForm.shape))

async function undoChannel(context: Context, actor: Actor, record: Undone): Promise<void> {
  const id = idOf(record)
  const { name, enabled, updated_at } = await getChannel(context, id)
  const { settings } = await context.db
    .selectFrom('alert_channels')
    .select('settings')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  // Written by this server.
  const current: Fields = { name, enabled, settings: JSON.parse(settings) as unknown }
  const { settings: had, ...fields } = await fieldsBefore(context, record, current)
  if (record.before === null) return void (await removeChannel(context, actor, id))
  const open =
    typeof had === 'object' && had !== null ? Object.entries(had).filter(([field]) => field !== 'place') : []
  await updateChannel(
    context,
    actor,
    id,
    createPatch(ChannelForm, { ...fields, ...Object.fromEntries(open) }, updated_at),
  )
}

export async function undoEdge(context: Context, actor: Actor, record: Undone): Promise<void> {
  const id = idOf(record)
  const row = await getEdgeRow(context.db, id)
  const current: Fields = { ...edgeFormOf(row), isDrained: row.is_drained === 1 }
  const { isDrained, ...fields } = await fieldsBefore(context, record, current)
  if (isDrained !== undefined) await drainEdge(context, actor, id, isDrained === true)
  else await editEdge(context, actor, id, createPatch(EdgeForm, fields, row.updated_at))
}

export async function undoSetting(context: Context, actor: Actor, record: Undone): Promise<void> {
  const { name, before } = record
  if (name === 'quietHours') {
    await fieldsBefore(context, record, { ...(await readQuietHours(context)) })
    return void (await setQuietHours(context, actor, QuietHours.parse(before)))
  }
  const { values, updatedAt } = await context.liveSettings.read(context.db)
  const { value } = await fieldsBefore(context, record, { value: values[name] ?? null })
  // A person has confirmed the change that is taken back; the name of before has been the console's.
  const fields = { [name]: value, ...(name === 'POSTERN_PUBLIC_HOST' && { confirmPublicHost: true }) }
  await updateSettings(context, actor, createPatch(SettingsForm, fields, updatedAt))
}
