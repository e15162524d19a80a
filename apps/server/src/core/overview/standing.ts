import type { ServiceStanding } from '@postern/contract/services/services'
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { among, type CountedNode, countServices, listServicesApart, listUnchecked } from './overview.ts'

// The plus keeps SQLite from an index for each part of an OR: it fails to plan some of these.
type Condition = (eb: ExpressionBuilder<Database, 'services'>) => Expression<SqlBool>

/** Which services are counted under this in the overview, told apart in the same way as there. */
export async function findStanding(context: Context, standing: ServiceStanding): Promise<Condition> {
  if (standing === 'disabled') return (eb) => eb('services.enabled', '=', 0)
  const counted = await countServices(context)
  const apart = await listServicesApart(context)
  const own = apart.filter(({ state }) => state.phase === standing).map(({ id }) => id)
  const others = apart.filter(({ state }) => state.phase !== standing).map(({ id }) => id)
  const unchecked = standing === 'live' || standing === 'checking' ? listUnchecked(context.edges) : []
  const isUnchecked = sql<SqlBool>`+services.id IN ${among(unchecked)}`
  return (eb) => {
    const usual: Expression<SqlBool> =
      standing === 'live'
        ? eb.and([isOn(counted, 'live'), eb.not(isUnchecked)])
        : standing === 'checking'
          ? eb.or([isOn(counted, 'checking'), eb.and([isOn(counted, 'live'), isUnchecked])])
          : isOn(counted, standing)
    const isOther = sql<SqlBool>`+services.id IN ${among(others)}`
    const isOwn = sql<SqlBool>`+services.id IN ${among(own)}`
    return eb.and([eb('services.enabled', '=', 1), eb.or([isOwn, eb.and([usual, eb.not(isOther)])])])
  }
}

/** Whether it is on a node whose services are usually so. Of two lists of nodes the shorter one is looked through. */
function isOn(counted: ReadonlyMap<number, CountedNode>, phase: CountedNode['phase']) {
  const nodes = [...counted].filter(([, { count }]) => count > 0)
  const those = nodes.filter(([, node]) => node.phase === phase).map(([id]) => id)
  const others = nodes.filter(([, node]) => node.phase !== phase).map(([id]) => id)
  return others.length < those.length
    ? sql<SqlBool>`+services.node_id NOT IN ${among(others)}`
    : sql<SqlBool>`+services.node_id IN ${among(those)}`
}
