import type { EventLoopDelay, ProcessVitals } from '@postern/contract/edge/edge-messages'
import { readOwnVitals } from '@postern/host/processes/vitals'
import type { Context } from '../../context.ts'
import { type Family, type Labels, labelsOf, samplesOf, secondsOf } from './family.ts'

interface Measured {
  names: { process: string; edge: string | null }
  labels: Labels
  vitals: ProcessVitals
  delay: EventLoopDelay | null
}

/** The server, and the edges with their HAProxies. */
export async function measureProcesses({ edges }: Context, ownDelay: EventLoopDelay): Promise<Family[]> {
  const names = new Map((await edges.list()).map(({ id, name }) => [id, name]))
  const measured = (
    process: string,
    edge: string | null,
    vitals: ProcessVitals,
    delay: EventLoopDelay | null,
  ): Measured => ({ names: { process, edge }, labels: labelsOf({ process, edge }), vitals, delay })
  const processes = [
    measured('server', null, await readOwnVitals(), ownDelay),
    ...[...edges.vitals()].flatMap(([id, { process, eventLoop, haproxy }]) => {
      const edge = names.get(id) ?? null
      const own = measured('edge', edge, process, eventLoop)
      return haproxy?.process ? [own, measured('haproxy', edge, haproxy.process, null)] : [own]
    }),
  ]
  const family = (
    name: string,
    kind: Family['kind'],
    help: string,
    of: (vitals: ProcessVitals) => number | null,
  ): Family => ({
    name: `postern_process_${name}`,
    kind,
    help,
    samples: samplesOf(processes, (each) => of(each.vitals)),
  })
  return [
    family('cpu_seconds_total', 'counter', 'Processor time.', ({ cpuSeconds }) => cpuSeconds),
    family('resident_memory_bytes', 'gauge', 'Memory in use.', ({ residentBytes }) => residentBytes),
    family('open_fds', 'gauge', 'Open files and sockets.', ({ openFiles }) => openFiles),
    family('max_fds', 'gauge', 'Files and sockets that may be open.', ({ mostOpenFiles }) => mostOpenFiles),
    family('start_time_seconds', 'gauge', 'When the process started.', ({ startedAt }) =>
      secondsOf(startedAt),
    ),
    {
      name: 'postern_process_event_loop_delay_seconds',
      kind: 'gauge',
      help: 'How late the event loop was in the last 15 seconds: median, p99 and max.',
      samples: processes.flatMap(({ names, delay }) =>
        delay === null
          ? []
          : Object.entries({ median: delay.median, p99: delay.p99, max: delay.most }).map(
              ([statistic, value]) => [labelsOf({ ...names, statistic }), value] as const,
            ),
      ),
    },
  ]
}
