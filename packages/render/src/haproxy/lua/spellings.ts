/** Names of a path that end with dots or blanks, `.` and `..` among them. A path with more passes under no rule. */
const MOST_ENDS = 16

/**
 * Programs read one path in several ways. A request passes when all of them lead to the same rules, so that no spelling
 * reaches what another spelling of the same path does not.
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

-- Some programs drop control characters. Whatever matched a route with them matches it without them.
local function flat(path)
  return (without_parameters(path:gsub("%c", ""):gsub("\\\\", "/")):gsub("//+", "/"))
end

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

-- Windows takes a name that ends with dots or blanks for the same without them. One of these alone may be a name, the
-- directory itself or the one above.
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
  local found, known = {}, {}
  local function add(reading)
    if not known[reading] then found[#found + 1] = reading end
    known[reading] = true
  end
  add(path)
  for _, text in ipairs({ once, twice, decode_path(decode_path(without_parameters(path))) }) do
    add(flat(text))
    local stop = text:find(ENDS)
    if stop then add(flat(text:sub(1, stop - 1))) end
  end
  for i = 1, #found do
    local _, ends = (found[i] .. "/"):gsub("[. ]/", "/")
    -- Each of these names is read in several ways: many of them would take milliseconds.
    if ends > ${MOST_ENDS} then return nil end
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

-- Where the prefix of a service is cut, dots may not lead out of what is left.
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
    -- Somebody's log should tell of it.
    if route ~= nil and txn:get_var("txn.route") == nil then txn:set_var("txn.route", route) end
  end
  return is_same
end

core.register_action("compare_spellings", { "http-req" }, function(txn)
  local ok, is_same = pcall(compare, txn)
  if ok and is_same then txn:set_var("txn.spellings", "same") end
end)
`
