import type { SightOf } from '@postern/contract/why/trace'
import type { Context } from '../../context.ts'
import { type ServiceRecordRow, toService } from '../services/records.ts'
import type { Seen } from './name-steps.ts'
import type { Place } from './place.ts'
import { toSentences, withFullStop } from './sentences.ts'

type Parts = Pick<Context, 'config' | 'edges' | 'live' | 'clock'>
type Found = NonNullable<SightOf<'route'>['found']>

export const quoted = ({ name }: Pick<ServiceRecordRow, 'name'>) => `“${name}”`

/**
 * Which service the running data plane has for the address, against what the database has there.
 * @param row of the service that was found; undefined: it was deleted meanwhile
 */
export function judgeRoute(
  parts: Parts,
  place: Place,
  found: Found | null,
  row: ServiceRecordRow | undefined,
): Seen {
  const [wanted] = place.services
  if (found === null) return wanted ? missing(parts, wanted) : nothing(place)
  if (!row) return stop('The edge still has a service that was deleted.', 'Try again in a moment.')
  if (wanted && wanted.id !== row.id && pathOf(wanted).length > found.path.length)
    return stop(
      `${quoted(wanted)} should answer here and does not: ${reasonOf(parts, wanted)} ${quoted(row)} answers instead.`,
      adviceOf(parts, wanted),
    )
  if (found.isDisabled) return disabled(row)
  const seen = `${quoted(row)} on ${row.node_name} answers here${found.path === '/' ? '' : `, at ${found.path}`}.`
  const [other] = place.services.filter(({ id, system }) => id !== row.id && system === 0)
  if (!other) return { step: 'route', state: 'ok', seen, next: null }
  const takes = `Its path is longer than ${pathOf(other)}, so it takes this address from ${quoted(other)}.`
  return { step: 'route', state: 'note', seen: `${seen} ${takes}`, next: null }
}

const stop = (seen: string, next: string | null): Seen => ({ step: 'route', state: 'stop', seen, next })
const pathOf = ({ path }: ServiceRecordRow) => path ?? '/'

function nothing({ address }: Place): Seen {
  return stop(
    `No service is published at ${address}.`,
    'Check the spelling of the address, or publish a service there.',
  )
}

function missing(parts: Parts, wanted: ServiceRecordRow): Seen {
  if (wanted.enabled === 0 || wanted.node_enabled === 0) return disabled(wanted)
  return stop(
    `${quoted(wanted)} is published here, and the edge does not have it: ${reasonOf(parts, wanted)}`,
    adviceOf(parts, wanted),
  )
}

function reasonOf(parts: Parts, row: ServiceRecordRow): string {
  if (row.enabled === 0) return 'it is disabled.'
  const { problem } = toService(parts, row).state
  return problem === null ? 'a change is still being applied.' : toSentences(problem).seen
}

function adviceOf(parts: Parts, row: ServiceRecordRow): string {
  if (row.enabled === 0) return 'Enable it in its row.'
  const { problem } = toService(parts, row).state
  if (problem === null) return 'Try again in a moment.'
  return toSentences(problem).next ?? 'Its row says so too: edit it, and this is looked at again at once.'
}

function disabled(row: ServiceRecordRow): Seen {
  if (row.enabled === 1)
    return stop(
      `${quoted(row)} answers here, and its node ${row.node_name} is disconnected.`,
      `Connect ${withFullStop(`${row.node_name} again in the console`)}`,
    )
  return stop(`${quoted(row)} answers here, and is disabled.`, `Enable ${quoted(row)} in its row.`)
}
