import type { FieldError } from '@postern/contract/errors'
import { LIMITS } from '@postern/contract/limits'
import { findIp } from '@postern/net/ip'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { findHostProblem, hereOf } from '../domains/checks.ts'
import { findUsedName } from '../domains/used-names.ts'
import { whyNotConsoles } from '../services/http.ts'

const FIELD = 'POSTERN_PUBLIC_HOST'

interface Wanted {
  host: string
  formerHosts: readonly string[]
  isConfirmed: boolean
}

interface Faults {
  invalid: FieldError[]
  taken: FieldError[]
}

const NONE: Faults = { invalid: [], taken: [] }

/** What speaks against a new public host. Outside any transaction, because name servers may be slow. */
export async function findHostFaults(context: Context, wanted: Wanted): Promise<Faults> {
  const faults = await findKnownFaults(context.db, wanted)
  if (wanted.isConfirmed || faults !== NONE) return faults
  const problem = await findHostProblem(context, wanted.host)
  return problem === undefined ? NONE : { invalid: [{ field: FIELD, message: problem }], taken: [] }
}

/** What of it is known here, without asking anybody. */
export async function findKnownFaults(
  db: Kysely<Database>,
  { host, formerHosts, isConfirmed }: Wanted,
): Promise<Faults> {
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
  if (isConfirmed) return NONE
  const [used] = await findUsedName(db, { domain: host, isConsole: true })
  return used ? { invalid: [{ field: FIELD, message: used.message }], taken: [] } : NONE
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
