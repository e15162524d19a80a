import type { ManyResult, ManyServices, ServicePlace } from '@postern/contract/services/many'
import type { ServiceFilter } from '@postern/contract/services/services'
import type { Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { mayReachNode } from '../access/access.ts'
import { seenBy } from '../access/visible.ts'
import { NotFoundError } from '../errors.ts'
import { listFilteredServices } from '../services/all.ts'
import { createMove } from '../services/move.ts'
import { readServices, type ServiceRecordRow } from '../services/records.ts'
import { deleteService, writeEnabled } from '../services/services.ts'
import { refuseStale } from '../stale.ts'
import { type Acted, changeMany, type ManyRecord, type Work } from './many.ts'

type Tx = Transaction<Database>
type Record = ManyRecord & { to?: ServicePlace | undefined }
/** Does it to one service. */
type Act = (row: ServiceRecordRow, record: Record) => Promise<Acted | undefined>

const DONE = { enable: 'enabled', disable: 'disabled', delete: 'deleted', move: 'moved' } as const

export async function changeServices(
  context: Context,
  actor: Actor,
  form: ManyServices,
): Promise<ManyResult> {
  const work: Work<Record, ServiceFilter> = {
    noun: 'service',
    done: DONE[form.action],
    find: (filter, part) => listFilteredServices(seenBy(context), filter, part),
    async begin(tx, revision, ids) {
      const found = await readServices(tx, ids)
      const rows = new Map(
        found.filter((row) => mayReachNode(context.access, row.node_id)).map((row) => [row.id, row]),
      )
      const act = actOf(context, tx, revision, form)
      return {
        nameOf: (id) => rows.get(id)?.name,
        async act(record) {
          const row = rows.get(record.id)
          if (!row) throw new NotFoundError('Service')
          await refuseStale(tx, 'services', row, record.updated_at)
          return await act(row, record)
        },
      }
    },
  }
  const result = await changeMany(context, actor, form, work)
  if (form.action === 'delete') await context.counts.remove(result.done.map(({ id }) => id))
  return result
}

function actOf(context: Context, tx: Tx, revision: number, { action, to }: ManyServices): Act {
  if (action === 'move') {
    const move = createMove(context, tx, revision)
    return (row, record) => move(row, { ...to, ...record.to })
  }
  if (action === 'delete')
    return async (row) => ({ updated_at: null, touched: touchedBy(row, await deleteService(tx, row)) })
  const enabled = action === 'enable'
  return async (row) => {
    if (row.enabled === (enabled ? 1 : 0)) return undefined
    return {
      updated_at: await writeEnabled(context, tx, row, { enabled, revision }),
      touched: touchedBy(row),
    }
  }
}

function touchedBy({ id, node_id }: ServiceRecordRow, domains: number[] = []) {
  return { services: [{ id, nodeId: node_id }], nodes: [node_id], domains }
}
