import { setImmediate } from 'node:timers/promises'
import type { Service } from '@postern/contract/services/services'
import type { Context } from '../../context.ts'
import { countServices, listServicesApart } from '../overview/overview.ts'
import { type Family, labelsOf, samplesOf, yesNo } from './family.ts'
import type { KnownService } from './inventory.ts'

type Phase = Service['state']['phase']

/** `applying` is neither: it may have worked before, or the edge is away and goes on by itself. */
const UP: Readonly<Record<Phase, boolean | undefined>> = {
  live: true,
  checking: true,
  applying: undefined,
  unanswered: false,
  failed: false,
  'node-offline': false,
  'node-disconnected': false,
}

const COUNTED = 'As of the last full minute.'

export async function measureServices(
  context: Context,
  services: readonly KnownService[],
): Promise<Family[]> {
  const phaseOf = await readPhases(context)
  const { totals } = context
  const stated = services.flatMap((service) => {
    if (!service.enabled) return []
    const phase = phaseOf(service)
    return { ...service, phase, up: UP[phase] }
  })
  const counter = (
    name: string,
    column: 0 | 1 | 2,
    help: string,
    isOf: (service: KnownService) => boolean = () => true,
  ): Family => ({
    name: `postern_service_${name}_total`,
    kind: 'counter',
    help: `${help} ${COUNTED}`,
    since: totals.since,
    samples: samplesOf(services, (service) => (isOf(service) ? totals.of(service.id)[column] : null)),
  })
  return [
    {
      name: 'postern_service_info',
      kind: 'gauge',
      help: 'A published service, with its type and domain.',
      samples: samplesOf(
        services,
        () => 1,
        ({ info }) => info,
      ),
    },
    {
      name: 'postern_service_up',
      kind: 'gauge',
      help: 'Whether visitors reach an enabled service, as far as that is known. Absent while a change is applied.',
      samples: samplesOf(stated, ({ up }) => (up === undefined ? null : yesNo(up))),
    },
    {
      name: 'postern_service_problem',
      kind: 'gauge',
      help: 'Why an enabled service is not up: failed, unanswered, node-offline or node-disconnected.',
      samples: samplesOf(
        stated,
        ({ up }) => (up === false ? 1 : null),
        ({ labels, phase }) => labelsOf({ ...Object.fromEntries(labels.pairs), state: phase }),
      ),
    },
    counter('requests', 0, 'Requests to an HTTP service.', ({ kind }) => kind === 'http'),
    counter(
      'connections',
      0,
      'Connections to a TCP service, or flows of a UDP service.',
      ({ kind }) => kind !== 'http',
    ),
    counter('received_bytes', 1, 'Bytes that came from visitors.'),
    counter('sent_bytes', 2, 'Bytes that went to visitors.'),
    {
      name: 'postern_services',
      kind: 'gauge',
      help: 'How many services are in each state.',
      samples: countStates(stated, services.length - stated.length),
    },
  ]
}

/** All services of a node are in the same phase, except for those that an edge tells something of. */
async function readPhases(context: Context): Promise<(service: KnownService) => Phase> {
  const counted = await countServices(context)
  // Each takes some dozen ms with many services.
  await setImmediate()
  const apart = new Map((await listServicesApart(context)).map(({ id, state }) => [id, state.phase]))
  const unchecked = new Set(
    context.edges
      .views()
      .flatMap(({ troubles }) =>
        [...troubles].flatMap(([id, trouble]) => (trouble === 'unchecked' ? id : [])),
      ),
  )
  return ({ id, nodeId }) => {
    const usual = counted.get(nodeId)?.phase ?? 'applying'
    return apart.get(id) ?? (usual === 'live' && unchecked.has(id) ? 'checking' : usual)
  }
}

function countStates(stated: readonly { phase: Phase }[], disabled: number): Family['samples'] {
  const counts = new Map<string, number>(Object.keys(UP).map((phase) => [phase, 0]))
  for (const { phase } of stated) counts.set(phase, (counts.get(phase) ?? 0) + 1)
  return [...counts, ['disabled', disabled] as const].map(([state, count]) => [labelsOf({ state }), count])
}
