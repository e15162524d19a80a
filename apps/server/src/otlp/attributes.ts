/** Text, numbers and booleans as the protocol has them in JSON. */
export interface Attribute {
  key: string
  value: { stringValue: string } | { doubleValue: number } | { boolValue: boolean }
}

/** What has a deeper form becomes its JSON. */
export function attribute(key: string, value: unknown): Attribute {
  if (typeof value === 'number' && Number.isFinite(value)) return { key, value: { doubleValue: value } }
  if (typeof value === 'boolean') return { key, value: { boolValue: value } }
  return { key, value: { stringValue: typeof value === 'string' ? value : JSON.stringify(value) } }
}

/** @param ms since the epoch. @returns ns, which no number of JavaScript holds */
export function nanosOf(ms: number): string {
  return ms === 0 ? '0' : `${Math.round(ms)}000000`
}

/** Whose metrics and lines they are. */
export function resourceOf(version: string, publicHost: string, hostName: string) {
  return {
    attributes: [
      attribute('service.name', 'postern'),
      attribute('service.version', version),
      attribute('service.instance.id', publicHost),
      attribute('host.name', hostName),
    ],
  }
}
export type Resource = ReturnType<typeof resourceOf>

export const SCOPE = { name: 'postern' }
