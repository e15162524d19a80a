/**
 * Each UDP service has its own counters, which stay when its port or its target changes. The maps lead from the
 * public port to the counter, by direction and kind of address.
 */
export const COUNTER_MAP_TYPES = {
  in4: 'type inet_service : counter',
  in6: 'type inet_service : counter',
  out4: 'type inet_service : counter',
  out6: 'type inet_service : counter',
  flows4: 'type inet_service : counter',
  flows6: 'type inet_service : counter',
} as const
export type CounterMap = keyof typeof COUNTER_MAP_TYPES
// Object.keys returns plain strings.
export const COUNTER_MAPS = Object.keys(COUNTER_MAP_TYPES) as readonly CounterMap[]

export function counterName(service: number, map: CounterMap): string {
  return `s${service}_${map}`
}

/** @returns undefined for a counter that is not ours */
export function parseCounterName(name: string): { service: number; map: CounterMap } | undefined {
  const [, service, map] = /^s([1-9]\d{0,14})_(\w+)$/.exec(name) ?? []
  const known = COUNTER_MAPS.find((each) => each === map)
  return service && known ? { service: Number(service), map: known } : undefined
}
