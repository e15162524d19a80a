import { bareBind, bareServer, type HaproxyOptions, type HaproxyPaths } from './options.ts'
import { type PageName, pageStatus, renderPageBody } from './pages.ts'

/** A browser asks again at once. HAProxy cannot tell it from a visitor who gave up and begins anew. */
const SECONDS = 3
/** Bodies up to here go to a lane in one piece. */
const SMALL_BODY = 16_384
/** Requests whose rest is read for a page, at the same time. */
export const DRAINS = 100

/**
 * Whoever closes while a body is still coming may lose the answer. When a lane does, 2.6 fails to write the rest and
 * forgets to read; when the frontend does over HTTP/1.1, the door does the same, and so may the visitor's own machine.
 * The visitor then finds its connection refused or closed in silence, and browsers send the request again. So requests
 * that are not small and here as a whole are followed to their end (`LOST_LUA`), and what comes again after its answer
 * was lost is given a page, not the service.
 *
 * In the frontend: which request this is, and whether it comes again.
 */
export function renderLostNote(): string {
  const asked = '!is_plain has_body !is_grpc !is_bound'
  return `  acl is_risky req.fhdr(content-length) -m int gt ${SMALL_BODY}
  acl is_risky req.fhdr(transfer-encoding) -m found
  acl is_risky internal.htx.has_eom,not
  # A small one may come as a whole when it comes again.
  acl has_risk table_cnt(lost) gt 0
  http-request set-var-fmt(txn.asked) "%[src] %[method] %[url] %[req.hdrs]" if ${asked} is_risky or ${asked} has_risk
  http-request set-var(txn.asked) var(txn.asked),sha1,hex if { var(txn.asked) -m found }
  acl is_lost var(txn.asked),table_gpc0(lost) gt 0
  http-request unset-var(txn.asked) if { var(txn.asked) -m found } !is_risky !is_lost
  acl is_followed var(txn.asked) -m found
  http-request track-sc1 var(txn.asked) table lost if is_followed
  http-request set-var(txn.refused) sc1_clr_gpc1 if is_followed`
}

/** In a lane: which page is this request's. */
export function renderLostAnswer(): string {
  return `  http-request set-var(txn.asked) var(txn.route),field(6,|)
  http-request track-sc2 var(txn.asked) table lost if { var(txn.asked) -m len gt 0 }
  http-response set-var(txn.answered) bool(true)
  acl is_answered var(txn.answered) -m bool
  http-after-response set-var(txn.noted) sc2_inc_gpc1 if { status ${pageStatus('unreachable')} } !is_answered`
}

/** In the frontend: a lost answer is made up for. */
export function renderLostArrival(paths: HaproxyPaths): string {
  const page = (name: PageName) =>
    `http-response return status ${pageStatus(name)} ${renderPageBody(paths.page(name))}`
  return `  acl is_read srv_name -m str drain
  http-response set-var(txn.struck) sc1_clr_gpc0 if is_read
  ${page('unreachable')} if is_read { var(txn.refused) -m int gt 0 }
  ${page('bad-answer')} if is_read`
}

/** Reads a body to its end, so that the answer finds a visitor who listens. */
export function renderDrain(options: HaproxyOptions): string {
  return `frontend drain
  bind ${bareBind(options, 'drain')}
  no log
  maxconn ${DRAINS}
  timeout client ${options.timeouts.body}s
  http-request use-service lua.drain

backend to_drain
  # A visitor whose HTTP/2 connection has no window left sends nothing more; a silent service always has a page.
  timeout server ${options.timeouts.body}s
  http-reuse never
  option http-server-close
  retries 0
  server drain ${bareServer(options, 'drain')}

backend lost
  stick-table type string len 40 size 100k expire ${SECONDS}s store gpc0,gpc1
`
}

/** What follows a request on its way to a lane. */
export const FOLLOW = 'filter lua.follow'

/**
 * Counts a request as lost before its connection is closed, so nobody can ask again before it is known. Over HTTP/2 an
 * answer that was read arrives. Over HTTP/1.1 only a request that came as a whole makes sure of it: what is still unread
 * when we close breaks the connection. 2.6 tells of the end of a request only whoever looks at its body.
 *
 * The drain reads in pieces, and none is kept. The rounds are enough for 30 GB.
 */
export const LOST_LUA = `
local Follow = { id = "follow", flags = filter.FLT_CFG_FL_HTX }
Follow.__index = Follow

function Follow:new() return setmetatable({}, Follow) end

function Follow:start_analyze(txn, channel)
  self.arrives = txn.f:fc_http_major() > 1
  if not channel:is_resp() and not self.arrives then filter.register_data_filter(self, channel) end
  return filter.CONTINUE
end

function Follow:http_headers(txn, message)
  if message:is_resp() then self.is_answered = true end
  return filter.CONTINUE
end

function Follow:http_payload() end

function Follow:http_end()
  self.arrives = true
  return filter.CONTINUE
end

function Follow:end_analyze(txn)
  if not self.is_over and not (self.is_answered and self.arrives) then txn.f:sc1_inc_gpc0() end
  self.is_over = true
  return filter.CONTINUE
end

core.register_filter("follow", Follow, function(class) return class end)

core.register_service("drain", "http", function(applet)
  for _ = 1, 1000000 do
    if #applet:receive(32768) == 0 then break end
  end
  applet:set_status(204)
  applet:start_response()
end)
`
