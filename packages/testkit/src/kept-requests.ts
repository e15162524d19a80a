import type { FoundRequests, KeptFilter, KeptRequest, KeptSearch } from '@postern/contract/requests/kept'
import { containsIp, findCidr } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'

/** A request that ended now, and what a test says of it. */
export function makeKept(changes: Partial<KeptRequest> = {}): KeptRequest {
  return {
    at: Date.now(),
    type: 'http',
    service: 1,
    source: '203.0.113.5',
    person: null,
    method: 'GET',
    path: '/',
    query: null,
    status: 200,
    received: 100,
    sent: 2000,
    connect: 2,
    response: 10,
    total: 12,
    target: '10.64.0.2:8080',
    reason: null,
    detail: null,
    ...changes,
  }
}

/** What an edge finds in these, of which the last ended last. */
export function findKept(
  kept: readonly KeptRequest[],
  { ask, filter, limit, before, after }: KeptSearch,
): FoundRequests {
  const first = after === null ? 0 : Number(after.split('-')[1])
  const end = before === null ? kept.length : Number(before.split('-')[1])
  const all = kept
    .map((request, row) => ({ ...request, place: `1-${row}` }))
    .slice(first, end)
    .filter((request) => matches(filter, request))
    .toReversed()
  const found = all.slice(0, limit)
  const last = found.length === limit ? found.at(-1) : undefined
  return {
    ask,
    found,
    next: last?.place ?? null,
    reached: last?.at ?? kept[0]?.at ?? null,
    newest: kept.length > 0 ? `1-${kept.length}` : after,
  }
}

function matches(filter: KeptFilter, request: KeptRequest): boolean {
  const { from, to, services, status, reason, source, path, minTotal } = filter
  const network = source === null ? undefined : findCidr(source)
  const ip = findIp(request.source)
  return [
    from === null || request.at >= from,
    to === null || request.at < to,
    services === null || services.includes(request.service),
    status === null || ((request.status ?? 0) >= status[0] && (request.status ?? 0) <= status[1]),
    source === null || (network !== undefined && ip !== undefined && containsIp(network, ip)),
    path === null || request.path?.includes(path),
    minTotal === null || (request.total ?? 0) >= minTotal,
    reason === null || (reason === 'any' ? request.reason !== null : request.reason === reason),
    ...(['type', 'method', 'person'] as const).map(
      (key) => filter[key] === null || filter[key] === request[key],
    ),
  ].every(Boolean)
}
