import type { Service } from '@postern/contract/services/services'
import { type Io, paint, printable } from '../io.ts'

/** Columns that line up; the last one is as long as it is. */
export function printTable(io: Io, heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [heads, ...rows.map((row) => row.map((cell) => printable(cell)))]
  const widths = heads.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? '')].length)))
  for (const row of all) {
    const cells = row.map((cell, column) =>
      column === row.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - [...cell].length),
    )
    io.out(cells.join('  ').trimEnd())
  }
}

/** `http`, `tcp` or `udp`. */
export function kindOf(service: Service): string {
  return service.type === 'http' ? 'http' : service.proto
}

export function backendOf(service: Service): string {
  const { backendHost, backendPort, nodeName } = service
  const host = backendHost === null ? nodeName : backendHost
  const proto = service.type === 'http' ? service.backendProto : service.proto
  return `${proto}://${host.includes(':') ? `[${host}]` : host}:${backendPort}`
}

export function stateOf({ enabled, state }: Service): string {
  return enabled ? state.phase : 'disabled'
}

/** What became of a service, as an answer to a command that changed it. */
export function printService(io: Io, service: Service, done: string): void {
  const { id, name, publicAccess, endsAt, state, enabled } = service
  io.out(`${done} ${printable(name)} (${id})`)
  if (publicAccess)
    io.out(`  ${paint(io, 'green', printable(publicAccess))} -> ${printable(backendOf(service))}`)
  const problem = enabled && state.problem ? `: ${printable(state.problem)}` : ''
  io.out(`  ${stateOf(service)}${problem}`)
  if (endsAt) io.out(`  ends ${endsAt}`)
}
