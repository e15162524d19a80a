import { DomainForm } from '@postern/contract/domains'
import type { Fields } from '@postern/contract/history/history'
import { NodeForm } from '@postern/contract/nodes'
import { HttpServiceForm } from '@postern/contract/services/http-service-form'
import { TcpServiceForm } from '@postern/contract/services/services'
import type * as z from 'zod/mini'
import type { Actor } from '../../changes/actor.ts'
import type { Undone } from '../../changes/undoable.ts'
import type { Context } from '../../context.ts'
import { mayReachNode } from '../access/access.ts'
import { createDomain, removeDomain, updateDomain } from '../domains/domains.ts'
import { formOf as domainFormOf, getDomain } from '../domains/records.ts'
import { ConflictError, NotFoundError, quoted } from '../errors.ts'
import { changeServices } from '../many/services.ts'
import { muteNode, muteService } from '../mutes/set-mute.ts'
import { removeNode, setNodeEnabled, updateNode } from '../nodes/nodes.ts'
import { getNodeRow, formOf as nodeFormOf } from '../nodes/records.ts'
import { createPatch } from '../patch.ts'
import { http } from '../services/http.ts'
import { findService, httpFormOf, type ServiceRecordRow, tcpFormOf } from '../services/records.ts'
import { createService, updateService } from '../services/save.ts'
import { removeService, setServiceEnabled } from '../services/services.ts'
import { tcp } from '../services/tcp.ts'
import { fieldsBefore, idOf } from './since.ts'

const UNMUTED = 'unmuted'
const muteForm = (until: unknown) =>
  typeof until === 'string' ? { until: until === UNMUTED ? null : until } : null

/** The values of fields that this form has; a newer one may have more, an older record fewer. */
function pick(form: z.ZodMiniObject, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field in form.shape))
}

export async function undoService(context: Context, actor: Actor, record: Undone): Promise<void> {
  const { before, after } = record
  if (after === null) return await bringBackService(context, actor, record, before ?? {})
  const row = await findService(context.db, idOf(record))
  // It may have moved to where this person sees nothing.
  if (!row || !mayReachNode(context.access, row.node_id)) throw new NotFoundError('Service')
  const key = { nodeId: row.node_id, type: row.type, id: row.id }
  const form = row.type === 'http' ? httpFormOf(row) : tcpFormOf(row)
  const current: Fields = {
    ...form,
    enabled: row.enabled === 1,
    node: row.node_name,
    mutedUntil: muteOf(row),
  }
  const fields = await fieldsBefore(context, record, current)
  if (before === null) return void (await removeService(context, actor, key))
  if ('node' in fields) return await moveBack(context, actor, row, fields)
  if ('mutedUntil' in fields)
    return void (await muteService(context, actor, key, muteForm(fields.mutedUntil)))
  if ('enabled' in fields) return void (await setServiceEnabled(context, actor, key, fields.enabled === true))
  if (row.type === 'http')
    await updateService(
      context,
      actor,
      http,
      key,
      createPatch(HttpServiceForm, pick(HttpServiceForm, fields), row.updated_at),
    )
  else
    await updateService(
      context,
      actor,
      tcp,
      key,
      createPatch(TcpServiceForm, pick(TcpServiceForm, fields), row.updated_at),
    )
}

const muteOf = (row: Pick<ServiceRecordRow, 'muted' | 'muted_until'>) =>
  row.muted === 1 ? (row.muted_until ?? UNMUTED) : null

/** With its name, its address and its port, where they are free. */
async function bringBackService(
  context: Context,
  actor: Actor,
  { nodeId }: Undone,
  fields: Fields,
): Promise<void> {
  const node = nodeId ?? 0
  const back =
    fields.type === 'http'
      ? await createService(
          context,
          actor,
          http,
          node,
          createPatch(HttpServiceForm, pick(HttpServiceForm, fields)),
        )
      : await createService(
          context,
          actor,
          tcp,
          node,
          createPatch(TcpServiceForm, pick(TcpServiceForm, fields)),
        )
  if (fields.enabled === false)
    await setServiceEnabled(context, actor, { nodeId: node, type: back.type, id: back.id }, false)
}

async function moveBack(
  { db, ...context }: Context,
  actor: Actor,
  { id }: ServiceRecordRow,
  fields: Fields,
): Promise<void> {
  const found = await db
    .selectFrom('nodes')
    .select('id')
    .where('name', '=', String(fields.node))
    .limit(2)
    .execute()
  const [node, other] = found
  if (!node || other)
    throw new ConflictError(
      `There is not just one node that is called ${quoted(String(fields.node))}, so it cannot move back`,
    )
  const to = {
    nodeId: node.id,
    // Recorded from rows, whose domains and hosts have passed the rules.
    ...('domain' in fields && { domain: fields.domain as string | null }),
    ...('backendHost' in fields && { backendHost: fields.backendHost as string | null }),
  }
  const result = await changeServices({ db, ...context }, actor, {
    action: 'move',
    records: [{ id, to }],
    after: 0,
    limit: 1,
  })
  const [refused] = result.refused
  if (refused) throw new ConflictError(refused.message)
}

export async function undoNode(context: Context, actor: Actor, record: Undone): Promise<void> {
  const id = idOf(record)
  const row = await getNodeRow(context.db, id)
  const mute = await context.db
    .selectFrom('mutes')
    .select('until')
    .where('node_id', '=', id)
    .executeTakeFirst()
  const current: Fields = {
    ...nodeFormOf(row),
    enabled: row.enabled === 1,
    mutedUntil: mute ? (mute.until ?? UNMUTED) : null,
  }
  const fields = await fieldsBefore(context, record, current)
  if (record.before === null) return await removeUnused(context, actor, id, row.name)
  if ('mutedUntil' in fields) return void (await muteNode(context, actor, id, muteForm(fields.mutedUntil)))
  if ('enabled' in fields) return void (await setNodeEnabled(context, actor, id, fields.enabled === true))
  await updateNode(context, actor, id, createPatch(NodeForm, pick(NodeForm, fields), row.updated_at))
}

/** A new node goes only while nothing hangs on it. */
async function removeUnused(context: Context, actor: Actor, id: number, name: string): Promise<void> {
  const service = await context.db
    .selectFrom('services')
    .select('id')
    .where('node_id', '=', id)
    .limit(1)
    .executeTakeFirst()
  if (service) throw new ConflictError(`${quoted(name)} has services now. Delete them first.`, [], 'in_use')
  await removeNode(context, actor, id)
}

export async function undoDomain(context: Context, actor: Actor, record: Undone): Promise<void> {
  const { before, after } = record
  if (after === null)
    return void (await createDomain(context, actor, createPatch(DomainForm, pick(DomainForm, before ?? {}))))
  const id = idOf(record)
  const domain = await getDomain(context, id)
  const fields = await fieldsBefore(context, record, domainFormOf(domain))
  if (before === null) return void (await removeDomain(context, actor, id))
  await updateDomain(context, actor, id, createPatch(DomainForm, pick(DomainForm, fields), domain.updated_at))
}
