/** How many names of a path may end with dots or blanks, `.` and `..` among them. A path with more is refused. */
const MOST_ENDS = 16

/**
 * Programs read one path in several ways. A request passes only if all readings lead to the same rules, so that no
 * spelling reaches what another spelling of the same path does not.
 */
export const SPELLINGS_LUA = `
local routes = Map.new(os.getenv("POSTERN_ROUTES"), Map._beg)

local plain = {}
for first in ("0123456789abcdefABCDEF"):gmatch(".") do
  for second in ("0123456789abcdefABCDEF"):gmatch(".") do
    plain["%" .. first .. second] = string.char(tonumber(first .. second, 16))
  end
end

local function decode(text)
  if not text:find("%", 1, true) then return text end
  return (text:gsub("%%%x%x", plain))
end

-- IIS and .NET read \`%u0061\` as \`a\`; a wide character may become a narrow one.
local function narrow(hex)
  local code = tonumber(hex, 16)
  if code > 0xff00 and code < 0xff5f then code = code - 0xfee0 end
  return code < 0x80 and string.char(code) or nil
end

local function decode_path(path)
  return (decode(path):gsub("%%[uU](%x%x%x%x)", narrow))
end

local function without_parameters(path)
  return (path:gsub(";[^/]*", ""))
end

local function flat(path)
  return (without_parameters(path:gsub("\\\\", "/")):gsub("//+", "/"))
end

-- Programs that take the path for an address read a host between two slashes at its beginning and the next one: as
-- browsers do, or by RFC 3986.
local HOSTS = { "^[/\\\\][/\\\\]+[^/\\\\]*", "^//[^/]*" }

local function has_dots(path)
  path = path .. "/"
  return path:find("/./", 1, true) ~= nil or path:find("/../", 1, true) ~= nil
end

local function without_dots(path)
  local kept = {}
  for segment in path:gmatch("[^/]+") do
    if segment == ".." then kept[#kept] = nil
    elseif segment ~= "." then kept[#kept + 1] = segment end
  end
  return "/" .. table.concat(kept, "/")
end

-- Whether dots could be resolved before or after something else, which leads to different paths.
local function is_mixed(path)
  local lower = path:lower()
  return path:find("//", 1, true) or path:find("[;\\\\]")
    or lower:find("%%[235][5bcef]") or lower:find("%%[01]%x") or lower:find("%7f", 1, true) or lower:find("%%u%x")
end

-- A program that hands a decoded path on may end it there.
local ENDS = "[?#%c]"

local function without_end(name, what)
  return (name:reverse():gsub("^" .. what .. "+", ""):reverse())
end

-- Windows ignores dots and blanks at the end of a name. A name of nothing else may be a name, the directory itself or
-- the one above.
local ALONE = {
  function(name) return without_end(name, " ") end,
  function() return "." end,
  function(name) return name:find("%..*%.") and ".." or "." end,
}

local function without_ends(path, alone)
  local kept, is_alone = {}, false
  for name in path:gmatch("[^/]+") do
    if name ~= "." and name ~= ".." and name:find("[. ]$") then
      local bare = without_end(name, "[. ]")
      if bare == "" then name, is_alone = alone(name), true else name = bare end
    end
    if name ~= "" then kept[#kept + 1] = name end
  end
  return "/" .. table.concat(kept, "/"), is_alone
end

local function spellings_of(path)
  local once = decode_path(path)
  local twice = decode_path(once)
  if twice:find("\\0", 1, true) then return nil end
  -- Where one of them is dropped and the other ends the path, the order matters.
  if twice:find("%c") and twice:find("[?#]") then return nil end
  local found, known, has_host = {}, {}, false
  local function add(reading)
    if not known[reading] then found[#found + 1] = reading end
    known[reading] = true
  end
  -- Some programs drop control characters. A path that matches a route with them matches it without them.
  local function add_flat(text)
    text = text:gsub("%c", "")
    add(flat(text))
    for _, host in ipairs(HOSTS) do
      if text:find(host) then
        has_host = true
        add(flat("/" .. text:gsub(host, "", 1)))
      end
    end
  end
  add(path)
  for _, text in ipairs({ once, twice, decode_path(decode_path(without_parameters(path))) }) do
    add_flat(text)
    local stop = text:find(ENDS)
    if stop then add_flat(text:sub(1, stop - 1)) end
  end
  for i = 1, #found do
    local _, ends = (found[i] .. "/"):gsub("[. ]/", "/")
    -- Each of these names is read in several ways: many of them would take milliseconds.
    if ends > ${MOST_ENDS} or ends > 0 and has_host then return nil end
    if ends > 0 then
      for _, alone in ipairs(ALONE) do
        local reading, is_alone = without_ends(found[i], alone)
        if is_alone and is_mixed(path) then return nil end
        add(reading)
        if not is_alone then break end
      end
    end
  end
  for i = 1, #found do
    if has_dots(found[i]) then
      if is_mixed(path) then return nil end
      add(without_dots(found[i]))
    end
  end
  return found
end

-- Where a service's prefix is cut off, dots must not lead out of the rest.
local function leaves(reading, prefix)
  local level = 0
  for segment in reading:sub(#prefix + 1):gmatch("[^/]+") do
    if segment == ".." then level = level - 1 elseif segment ~= "." then level = level + 1 end
    if level < 0 then return true end
  end
  return false
end

local function compare(txn)
  local site, found = txn:get_var("txn.site"), spellings_of(txn.sf:path())
  if found == nil then return false end
  local is_same, first = true, routes:lookup(site .. found[1]:sub(1, 256) .. "/")
  local prefix = first and first:match("|(/[^|]*)$")
  if prefix and leaves(found[1], prefix) then is_same = false end
  for i = 2, #found do
    local route = routes:lookup(site .. found[i]:sub(1, 256) .. "/")
    if route ~= first or prefix and leaves(found[i], prefix) then is_same = false end
    -- So that the refusal is in some service's log.
    if route ~= nil and txn:get_var("txn.route") == nil then txn:set_var("txn.route", route) end
  end
  return is_same
end

-- Programs take one without a slash as below all of theirs, or beside the request's own path.
local function places_of(goal, path)
  if goal:find("^/") then return { goal } end
  if goal:find("^%a[%w+.-]*:") then return {} end
  return { "/" .. goal, path:gsub("[^/]*$", "") .. goal }
end

-- A second path of the request, in its header. Some programs drop a tab there before they decode the rest.
local function reaches_same(txn)
  local site, route, goal = txn:get_var("txn.site"), txn:get_var("txn.route"), txn:get_var("txn.goal")
  local places = not goal:find("%c") and places_of(goal, txn.sf:path()) or {}
  for _, place in ipairs(places) do
    local found = spellings_of(place)
    if found == nil then return false end
    for _, reading in ipairs(found) do
      if routes:lookup(site .. reading:sub(1, 256) .. "/") ~= route then return false end
    end
  end
  return #places > 0
end

core.register_action("compare_goal", { "http-req" }, function(txn)
  local ok, is_same = pcall(reaches_same, txn)
  if ok and is_same then txn:set_var("txn.aim", "same") end
end)

core.register_action("compare_spellings", { "http-req" }, function(txn)
  local ok, is_same = pcall(compare, txn)
  if ok and is_same then txn:set_var("txn.spellings", "same") end
end)
`
