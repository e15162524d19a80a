import { HEALTH_PATH } from '@postern/contract/reserved-paths'
import type { HaproxyPaths } from './options.ts'

/** The key in `edge.map` whose presence says that visitors should go to another edge. */
export const DRAINED = 'drained'

/**
 * What decides where visitors go asks here: VRRP, a balancer, DNS. HAProxy alone answers, at any host, because an edge's
 * process that is away must not take a working data plane out.
 */
export function renderHealthAnswer(paths: HaproxyPaths): string {
  const type = 'content-type text/plain'
  return `  acl is_health path -m str ${HEALTH_PATH}
  acl is_drained str(${DRAINED}),map_str(${paths.edge}) -m found
  http-request return status 503 ${type} string "drained" hdr cache-control no-store if is_health METH_GET is_drained
  http-request return status 200 ${type} string "ok" hdr cache-control no-store if is_health METH_GET`
}
