import type { NodeQuery } from '@postern/contract/nodes'
import type { ManyNodes, ManyResult } from '@postern/contract/services/many'
import type { Actor } from '../../changes/actor.ts'
import type { Context } from '../../context.ts'
import { mayReachNode } from '../access/access.ts'
import { seenBy } from '../access/visible.ts'
import { NotFoundError } from '../errors.ts'
import { listFilteredNodes } from '../nodes/list.ts'
import {
  deleteNode,
  forgetNodes,
  type GoneNode,
  listServiceRefs,
  turnNode,
  writeNode,
} from '../nodes/nodes.ts'
import { refuseLocal } from '../nodes/records.ts'
import { refuseStale } from '../stale.ts'
import { changeMany, type ManyRecord, type Work } from './many.ts'

const DONE = { enable: 'connected', disable: 'disconnected', delete: 'deleted' } as const

/** The services of a node go with it. */
export async function changeNodes(context: Context, actor: Actor, form: ManyNodes): Promise<ManyResult> {
  const gone: GoneNode[] = []
  const work: Work<ManyRecord, Pick<NodeQuery, 'type' | 'search'>> = {
    noun: 'node',
    done: DONE[form.action],
    find: (filter, part) => listFilteredNodes(seenBy(context), filter, part),
    async begin(tx, revision, ids) {
      const found = await tx.selectFrom('nodes').selectAll().where('id', 'in', ids).execute()
      const rows = new Map(
        found.filter(({ id }) => mayReachNode(context.access, id)).map((row) => [row.id, row]),
      )
      const isOn = form.action === 'enable'
      return {
        nameOf: (id) => rows.get(id)?.name,
        async act({ id, updated_at: seen }) {
          const row = rows.get(id)
          if (!row) throw new NotFoundError('Node')
          refuseLocal(row)
          await refuseStale(tx, 'nodes', row, seen)
          if (form.action === 'delete') {
            const node = await deleteNode(context, tx, row)
            gone.push(node)
            return { updated_at: null, touched: node.touched }
          }
          if (row.enabled === (isOn ? 1 : 0)) return undefined
          const updated_at = await writeNode(context, tx, row, revision, turnNode(context, row, isOn))
          return { updated_at, touched: { nodes: [id], services: await listServiceRefs(tx, id) } }
        },
      }
    },
  }
  const result = await changeMany(context, actor, form, work)
  if (gone.length > 0) await forgetNodes(context, gone)
  return result
}
