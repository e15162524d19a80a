import type { PortSpan } from '@postern/render/haproxy/options'

/** Why a service cannot have its public port, in words for people. */
export function explainPort(port: number, range: PortSpan | undefined, isInRange: boolean): string {
  if (isInRange) return `Port ${port} is held by another program on this machine`
  const ports = range ? `, ${range.from}-${range.to}` : ''
  return `Port ${port} is outside the range of this server${ports}. Give the service another port.`
}
