import { type HaproxyOptions, type HaproxyPaths, laneBind, laneServer } from './options.ts'
import { type PageName, pageStatus, renderPageBody } from './pages.ts'

/** A browser asks again at once. HAProxy cannot tell it from a visitor who gave up and begins anew. */
const SECONDS = 3
/** Bodies up to here fit into HAProxy's buffers. */
const SMALL_BODY = 16_384
/** Requests whose rest is read for a page, at the same time. */
export const DRAINS = 100

/**
 * When a lane closes while a body is still coming, 2.6 fails to write the rest, forgets to read the answer, and refuses
 * the visitor's request in silence. Browsers then send it again. So a lane notes each large request, the frontend
 * strikes it out when an answer has arrived, and what comes again without one is given a page, not the service.
 *
 * In the frontend: which request this is, and whether it comes again.
 */
export function renderLostNote(): string {
  return `  acl is_large req.fhdr(content-length) -m int gt ${SMALL_BODY}
  acl is_large req.fhdr(transfer-encoding) -m found
  http-request set-var-fmt(txn.asked) "%[src] %[method] %[url] %[req.hdrs]" if !is_plain is_large !is_grpc
  acl is_followed var(txn.asked) -m found
  http-request set-var(txn.asked) var(txn.asked),sha1,hex if is_followed
  http-request track-sc2 var(txn.asked) table lost if is_followed
  acl is_noted sc2_get_gpc0 gt 0
  acl is_alone sc2_conn_cur eq 1
  http-request set-var(txn.refused) sc2_get_gpc1 if is_followed`
}

/** In a lane: that this request is under way, and which page is its. */
export function renderLostAnswer(): string {
  return `  http-request set-var(txn.asked) var(txn.route),field(6,|)
  http-request track-sc2 var(txn.asked) table lost if { var(txn.asked) -m len gt 0 }
  http-request sc-inc-gpc0(2) if { var(txn.asked) -m len gt 0 }
  http-response set-var(txn.answered) bool(true)
  acl is_answered var(txn.answered) -m bool
  http-after-response set-var(txn.noted) sc2_inc_gpc1 if { status ${pageStatus('unreachable')} } !is_answered`
}

/** In the frontend: the answer has arrived, or is made up for. */
export function renderLostArrival(paths: HaproxyPaths): string {
  const page = (name: PageName) =>
    `http-response return status ${pageStatus(name)} ${renderPageBody(paths.page(name))}`
  return `  http-response set-var(txn.struck) sc2_clr_gpc0 if is_followed
  http-response set-var(txn.struck) sc2_clr_gpc1 if is_followed
  ${page('unreachable')} if is_followed { srv_name -m str drain } { var(txn.refused) -m int gt 0 }
  ${page('bad-answer')} if is_followed { srv_name -m str drain }`
}

/** Reads a body to its end, so that the answer finds a visitor who listens. */
export function renderDrain(options: HaproxyOptions): string {
  return `frontend drain
  bind ${laneBind(options, 'drain')}
  no log
  maxconn ${DRAINS}
  timeout client ${options.timeouts.body}s
  http-request use-service lua.drain

backend drain
  # A visitor whose HTTP/2 connection has no window left sends nothing more; a silent service always has a page.
  timeout server ${options.timeouts.body}s
  http-reuse never
  option http-server-close
  retries 0
  server drain ${laneServer(options, 'drain')}

backend lost
  stick-table type string len 40 size 100k expire ${SECONDS}s store gpc0,gpc1,conn_cur
`
}

/** In pieces, and none is kept. The rounds are enough for 30 GB. */
export const DRAIN_LUA = `
core.register_service("drain", "http", function(applet)
  for _ = 1, 1000000 do
    if #applet:receive(32768) == 0 then break end
  end
  applet:set_status(204)
  applet:start_response()
end)
`
