import { BYPASS_LUA } from './bypass.ts'
import { SESSION_LUA } from './session.ts'
import { SPELLINGS_LUA } from './spellings.ts'

/** What HAProxy's own rules cannot express. Loaded once per thread; the paths of the maps come from the environment. */
export const HAPROXY_LUA = `local lists = Map.new(os.getenv("POSTERN_LISTS"), Map._str)
local compiled, count = {}, 0

local compile_expression

local function compile(name)
  local hash, parts = name:match("^(%x+)%.(%d+)$")
  local list = { a = {}, b = {}, paths = {}, expressions = {} }
  for part = 0, tonumber(parts) - 1 do
    for entry in (lists:lookup(hash .. "." .. part) .. ","):gmatch("([^,]*),") do
      local kind, value = entry:sub(1, 1), entry:sub(2)
      if kind == "p" then
        list.paths[value:gsub("%x%x", function(hex) return string.char(tonumber(hex, 16)) end)] = true
      elseif kind == "e" then
        list.expressions[#list.expressions + 1] = compile_expression(value)
      else
        local addresses, address = list[kind], core.parse_addr(value)
        if address == nil then error("not an address") end
        addresses[#addresses + 1] = address
      end
    end
  end
  return list
end

-- A name stands for one content, so a compiled list never becomes stale.
local function list_of(name)
  if compiled[name] == nil then
    local list = compile(name)
    if count >= 2000 then compiled, count = {}, 0 end
    compiled[name], count = list, count + 1
  end
  return compiled[name]
end

local function matches(list, address)
  for i = 1, #list do
    if core.match_addr(address, list[i]) then return true end
  end
  return false
end

local function is_allowed(name, source)
  local list, address = list_of(name), core.parse_addr(source)
  if address == nil then return false end
  if matches(list.b, address) then return false end
  return #list.a == 0 or matches(list.a, address)
end

core.register_fetches("ip_verdict", function(txn)
  local ok, allowed = pcall(is_allowed, txn:get_var("txn.list"), txn.f:src())
  if ok and allowed == true then return "allow" end
  return "deny"
end)
-- The line at the end of a connection may come hours later.
core.register_action("log_open", { "tcp-req" }, function(txn)
  local now = core.now()
  local time = now.sec * 1000 + now.usec // 1000
  txn:log(core.info, table.concat({
    "O", os.getenv("POSTERN_LOG_SECRET"), txn:get_var("txn.id"), time, txn.f:src(), txn.f:dst_port()
  }, "|"))
end)
${SPELLINGS_LUA}${SESSION_LUA}${BYPASS_LUA}
-- The line at the end of an upgraded connection may come hours later.
core.register_action("log_upgrade", { "http-res" }, function(txn)
  local now = core.now()
  local time = now.sec * 1000 + now.usec // 1000
  txn:log(core.info, table.concat({
    "U", os.getenv("POSTERN_LOG_SECRET"), txn:get_var("txn.route"):match("^%d*"), time, txn.f:src(),
    txn:get_var("txn.line")
  }, "|"))
end)
`
