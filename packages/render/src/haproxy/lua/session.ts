import { SIGN_IN } from '@postern/contract/sign-in/sign-in'
import { HTTP_SESSION_COOKIE, SESSION_COOKIE, TOKEN_PREFIXES } from '@postern/contract/tokens'

const { session, ticket } = TOKEN_PREFIXES
const length = SESSION_COOKIE.length
/** What follows the first cookie's name in the name of the other. */
const suffix = HTTP_SESSION_COOKIE.slice(length)

/** The prefixes of the console's sessions and tickets, each character plain or as an escape, and of our own cookies. */
export const SESSION_PATTERN = [session, ticket]
  .map((prefix) => [...prefix].map((letter) => `(${letter}|%${letter.charCodeAt(0).toString(16)})`).join(''))
  .concat(SIGN_IN.cookie)
  .join('|')

/**
 * How many parts may begin like a session; all that follows them is cut. Browsers keep at most 180 cookies for a
 * name.
 */
const MOST_PARTS = 200
/** Bytes that the name and the prefix take when all of them are escaped and quoted, with a few blanks. */
const SEEN = 60

/**
 * The console's session and its tickets must not reach any other service, nor come from one. A cookie or parameter
 * called `token`, or `token-http`, is one when its value has their prefix. Everything else stays as it is, byte for
 * byte. Over HTTP/2 a cookie of 28 kB takes 20 bytes, and so does a query of 4 kB: the work for one is bounded. Needs
 * `decode` of `SPELLINGS_LUA`.
 */
export const SESSION_LUA = `
local function skip_blanks(text, at)
  return text:find("[^ \\t]", at) or #text + 1
end

-- Browsers accept cookies without a name, and services accept escapes and quotes. A part that may still begin with
-- more than blanks counts as a session.
local function is_session(part)
  local start = skip_blanks(part, 1)
  local is_open = #part - start >= ${SEEN}
  local text = part:sub(start, start + ${SEEN - 1})
  -- Half an escape may be at its end.
  if is_open then text = text:gsub("%%%x?$", "") end
  text = decode(text)
  local at = skip_blanks(text, 1)
  if text:sub(at, at) == "=" then at = skip_blanks(text, at + 1) end
  if at > #text then return is_open end
  if text:sub(at, at + ${SIGN_IN.cookie.length - 1}):lower() == "${SIGN_IN.cookie.toLowerCase()}" then return true end
  if text:sub(at, at + ${length - 1}) ~= "${SESSION_COOKIE}" then return false end
  at = at + ${length}
  if text:sub(at, at + ${suffix.length - 1}) == "${suffix}" then at = at + ${suffix.length} end
  at = skip_blanks(text, at)
  if at > #text then return is_open end
  if text:sub(at, at) ~= "=" then return false end
  at = skip_blanks(text, at + 1)
  if at > #text then return is_open end
  if text:sub(at, at) == '"' then at = at + 1 end
  local value = text:sub(at, at + ${Math.max(session.length, ticket.length) - 1})
  return value:find("${session}", 1, true) == 1 or value:find("${ticket}", 1, true) == 1
end

-- Most parts are no session, as their first character shows. Shorter parts hold none either, and a text may be
-- nothing but separators. A part goes with the separator before it; the part that becomes the first loses the blanks
-- before it.
local function cut(text, separators)
  local separator = "[" .. separators .. "]"
  local like = "[=%%_t \\t]" .. ("[^" .. separators .. "]"):rep(#"token" + ${Math.min(session.length, ticket.length)})
  local function find_next(stop)
    local found = text:find(separator .. like, stop)
    return found and found + 1
  end
  local kept, first, from, left, at = {}, 1, 1, ${MOST_PARTS}, text:find("^" .. like) or find_next(1)
  while at do
    if left == 0 then return table.concat(kept) .. text:sub(from, at - 2) end
    left = left - 1
    local stop = text:find(separator, at) or #text + 1
    if is_session(text:sub(at, stop - 1)) then
      if at == first then
        first = stop + 1
        from = skip_blanks(text, first)
      else
        kept[#kept + 1] = text:sub(from, at - 2)
        first, from = 0, stop
      end
    end
    at = find_next(stop)
  end
  return table.concat(kept) .. text:sub(from)
end

-- Removed before anything else happens, so that a failure leaves nothing behind. Some programs end a cookie at a comma.
core.register_action("cut_session_cookie", { "http-req" }, function(txn)
  local headers = txn.http:req_get_headers()["cookie"]
  txn.http:req_del_header("cookie")
  for i = 0, #headers do
    local left = cut(headers[i], ";,")
    if left ~= "" then txn.http:req_add_header("cookie", left) end
  end
end)

core.register_action("cut_session_answer", { "http-res" }, function(txn)
  local headers = txn.http:res_get_headers()["set-cookie"]
  txn.http:res_del_header("set-cookie")
  for i = 0, #headers do
    if not is_session(headers[i]) then txn.http:res_add_header("set-cookie", headers[i]) end
  end
end)

core.register_converters("cut_session", function(query)
  return cut(query, "&;")
end)
`
