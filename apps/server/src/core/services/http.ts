import { type HttpService, HttpServiceForm } from '@postern/contract/services'
import { change } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { ValidationError } from '../errors.ts'
import type { Patch } from '../patch.ts'
import {
  checkService,
  type NewDomain,
  type PublicPlace,
  prepareService,
  refuseForConsole,
  takePlace,
} from './http-place.ts'
import { findLockedChanges } from './http-rules.ts'
import { httpFormOf, type ServiceRecordRow, toHttpService } from './records.ts'
import { changedService, getServiceNode, getServiceRow, type ServiceKey, writeService } from './services.ts'

/** As `ServiceKey`, of a service that can only be an HTTP one. */
export type HttpServiceKey = Omit<ServiceKey, 'type'>

const keyOf = (key: HttpServiceKey): ServiceKey => ({ ...key, type: 'http' })

/** @throws NotFoundError, ValidationError, ConflictError */
export async function createHttpService(
  context: Context,
  actor: string,
  nodeId: number,
  form: HttpServiceForm,
): Promise<HttpService> {
  const prepared = await prepareService(context, await getServiceNode(context.db, nodeId), form, false)
  const row = await change(context, { actor, what: `service ${form.name} created` }, async (tx, revision) => {
    const kept = await checkService(context, tx, await getServiceNode(tx, nodeId), form)
    const place = await takePlace(context, tx, revision, form, { prepared, ownId: null })
    const now = new Date(context.clock()).toISOString()
    const { id } = await tx
      .insertInto('services')
      .values({
        ...columnsOf(kept, place),
        type: 'http',
        node_id: nodeId,
        enabled: 1,
        system: 0,
        revision,
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return changedService(tx, keyOf({ nodeId, id }), place.created)
  })
  return toHttpService(context, row)
}

/** @throws NotFoundError, ValidationError, ConflictError */
export async function updateHttpService(
  context: Context,
  actor: string,
  key: HttpServiceKey,
  patch: Patch<HttpServiceForm>,
): Promise<HttpService> {
  const prepared = await prepareUpdate(context, key, patch)
  const row = await change(context, { actor, what: `service ${key.id} updated` }, async (tx, revision) => {
    const current = await getServiceRow(tx, keyOf(key))
    const form = patch.onto(httpFormOf(current), current.updated_at)
    const kept = current.system
      ? keepLocked(current, form)
      : await checkService(context, tx, await getServiceNode(tx, key.nodeId), form)
    const place = await takePlace(context, tx, revision, form, { prepared, ownId: key.id })
    if (current.system && place.domainId !== null) await refuseForConsole(tx, place.domainId, key.id)
    await writeService(context, tx, current, revision, columnsOf(kept, place))
    return changedService(tx, keyOf(key), place.created)
  })
  return toHttpService(context, row)
}

async function prepareUpdate(
  context: Context,
  key: HttpServiceKey,
  patch: Patch<HttpServiceForm>,
): Promise<NewDomain> {
  const before = await getServiceRow(context.db, keyOf(key))
  const form = patch.onto(httpFormOf(before), before.updated_at)
  if (before.system) keepLocked(before, form)
  return await prepareService(
    context,
    await getServiceNode(context.db, key.nodeId),
    form,
    before.system === 1,
  )
}

/** @throws ValidationError for what of the console's own service cannot be changed */
function keepLocked(current: ServiceRecordRow, form: HttpServiceForm): HttpServiceForm {
  const errors = findLockedChanges(HttpServiceForm.parse(httpFormOf(current)), form)
  if (errors.length > 0) throw new ValidationError(errors)
  return form
}

function columnsOf(form: HttpServiceForm, place: PublicPlace) {
  return {
    name: form.name,
    domain_id: place.domainId,
    path: place.path,
    backend_proto: form.backendProto,
    backend_host: form.backendHost,
    backend_port: form.backendPort,
    allowed_ips: JSON.stringify(form.allowedIps),
    blocked_ips: JSON.stringify(form.blockedIps),
  }
}
