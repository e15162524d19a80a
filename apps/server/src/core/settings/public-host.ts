import type { FieldError } from '@postern/contract/errors'
import { LIMITS } from '@postern/contract/limits'
import { findIp } from '@postern/net/ip'
import type { Context } from '../../context.ts'
import { findHostProblem, hereOf } from '../domains/checks.ts'
import { findUsedName } from '../domains/used-names.ts'
import { whyNotConsoles } from '../services/http.ts'

const FIELD = 'POSTERN_PUBLIC_HOST'

/** What speaks against a new public host. Outside any transaction, because name servers may be slow. */
export async function findHostFaults(
  context: Context,
  host: string,
  { formerHosts, isConfirmed }: { formerHosts: readonly string[]; isConfirmed: boolean },
): Promise<{ invalid: FieldError[]; taken: FieldError[] }> {
  const { db } = context
  const console = await db
    .selectFrom('services')
    .select('id')
    .where('system', '=', 1)
    .executeTakeFirstOrThrow()
  const message = await whyNotConsoles(db, host, console.id)
  if (message !== undefined) return { invalid: [], taken: [{ field: FIELD, message }] }
  if (formerHosts.length > LIMITS.formerHosts) {
    const message = `The installation still answers at ${LIMITS.formerHosts} former names. Remove one of them first.`
    return { invalid: [{ field: FIELD, message }], taken: [] }
  }
  if (isConfirmed) return { invalid: [], taken: [] }
  const [used] = await findUsedName(db, { domain: host, isConsole: true })
  const problem = used?.message ?? (await findHostProblem(context, host))
  return { invalid: problem === undefined ? [] : [{ field: FIELD, message: problem }], taken: [] }
}

/**
 * The hosts at which the installation goes on answering, so that agents and people who know one of them find it. The
 * machine's own addresses need no place among them.
 */
export function formerHostsAfter(
  context: Pick<Context, 'config' | 'network'>,
  next: string,
  kept: readonly string[],
): string[] {
  const { publicHost } = context.config
  const isOwn = findIp(publicHost) !== undefined && hereOf(context).ownAddresses.includes(publicHost)
  const left = publicHost === next || isOwn ? [] : [publicHost]
  return [...new Set([...left, ...kept])].filter((host) => host !== next)
}
