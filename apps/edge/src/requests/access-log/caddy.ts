import type { KeptRequest } from '@postern/contract/requests/kept'
import { isReason, REASONS } from '@postern/contract/requests/reasons'

/**
 * One line of JSON in the fields of Caddy's access log, which CrowdSec and most dashboards know; `postern` has what
 * Caddy does not. Times are in seconds there, as Caddy has them.
 * @param host the domain of the service
 */
export function renderAccessLine(request: KeptRequest, host: string | null): string {
  const { type, status, person, sent, received, total, service, target, reason, detail } = request
  const uri = uriOf(request)
  return JSON.stringify({
    level: (status ?? 0) >= 500 ? 'error' : 'info',
    ts: request.at / 1000,
    logger: type === 'http' ? 'http.log.access' : `${type}.log.access`,
    msg: type === 'http' ? 'handled request' : 'handled connection',
    request: {
      remote_ip: request.source,
      client_ip: request.source,
      ...(type === 'http' && { method: request.method, host: host ?? '', uri }),
    },
    ...(type === 'http' && {
      common_log: commonLogOf(request, uri),
      user_id: person ?? '',
      status: status ?? 0,
    }),
    bytes_read: received,
    size: sent,
    duration: (total ?? 0) / 1000,
    postern: {
      type,
      service,
      target,
      connect_ms: request.connect,
      response_ms: request.response,
      reason,
      why: reason !== null && isReason(reason) ? REASONS[reason] : null,
      detail,
    },
  })
}

function uriOf({ path, query }: KeptRequest): string {
  return query === null ? (path ?? '') : `${path}?${query}`
}

/** Where CrowdSec reads the time. */
function commonLogOf(request: KeptRequest, uri: string): string {
  const { source, person, at, method, status, sent } = request
  // Like `Thu, 26 Nov 2026 09:19:18 GMT`.
  const [, day, month, year, clock] = new Date(at).toUTCString().split(' ')
  const asked = `${method ?? '-'} ${uri.replaceAll('"', '%22')} HTTP`
  return `${source} - ${person ?? '-'} [${day}/${month}/${year}:${clock} +0000] "${asked}" ${status ?? 0} ${sent}`
}
