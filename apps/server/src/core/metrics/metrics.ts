import { watchEventLoop } from '@postern/host/processes/vitals'
import type { Context } from '../../context.ts'
import { measureCertificates } from './certificates.ts'
import { measureEdges } from './edges.ts'
import type { Family } from './family.ts'
import { createInventory } from './inventory.ts'
import { measureNodes } from './nodes.ts'
import { measureProcesses } from './processes.ts'
import { measureServer } from './server.ts'
import { measureServices } from './services.ts'

/** All that can be measured of the installation. It is read when someone asks, from where it is anyway. */
export interface Metrics {
  /** A part at a time, so that nothing else waits for all of it. */
  measure(): AsyncIterable<Family>
  /** Adds what another part of the server counts itself. */
  add(measure: () => Family[]): void
  close(): void
}

export function createMetrics(context: Context): Metrics {
  const readInventory = createInventory(context)
  const loop = watchEventLoop()
  const others: (() => Family[])[] = []
  async function* measure(): AsyncGenerator<Family> {
    const { services, nodes, certificates } = await readInventory()
    yield* await measureServer(context, nodes)
    yield* await measureEdges(context)
    yield* await measureProcesses(context, loop.read())
    yield* measureNodes(context, nodes)
    yield* await measureCertificates(context, certificates)
    yield* await measureServices(context, services)
    for (const other of others) yield* other()
  }
  return { measure, add: (other) => void others.push(other), close: loop.close }
}
