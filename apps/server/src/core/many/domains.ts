import type { ManyDomains, ManyResult } from '@postern/contract/services/many'
import type { Actor } from '../../changes/actor.ts'
import type { Context } from '../../context.ts'
import { mayReachDomain } from '../access/access.ts'
import { seenBy } from '../access/visible.ts'
import { refuseConsolesDomain } from '../domains/console-domain.ts'
import { deleteDomain, refuseUsed } from '../domains/domains.ts'
import { listFilteredDomains } from '../domains/records.ts'
import { NotFoundError } from '../errors.ts'
import { domainKey } from '../figures/keys.ts'
import { refuseStale } from '../stale.ts'
import { changeMany, type ManyRecord, type Work } from './many.ts'

/** Those that services use stay. */
export async function changeDomains(context: Context, actor: Actor, form: ManyDomains): Promise<ManyResult> {
  const work: Work<ManyRecord, { search?: string | undefined }> = {
    noun: 'domain',
    done: 'deleted',
    find: ({ search }, part) => listFilteredDomains(seenBy(context), search, part),
    async begin(tx, _revision, ids) {
      const found = await tx
        .selectFrom('domains')
        .select(['id', 'domain', 'updated_at'])
        .where('id', 'in', ids)
        .execute()
      const rows = new Map(
        found.filter(({ id }) => mayReachDomain(context.access, id)).map((row) => [row.id, row]),
      )
      return {
        nameOf: (id) => rows.get(id)?.domain,
        async act({ id, updated_at: seen }) {
          const row = rows.get(id)
          if (!row) throw new NotFoundError('Domain')
          await refuseStale(tx, 'domains', row, seen)
          await refuseConsolesDomain(context, tx, row)
          await refuseUsed(tx, row)
          await deleteDomain(tx, id)
          return { updated_at: null, touched: { domains: [id] } }
        },
      }
    },
  }
  const result = await changeMany(context, actor, form, work)
  await context.counts.remove(result.done.map(({ id }) => domainKey(id)))
  return result
}
