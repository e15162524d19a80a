/** Longer paths always need a sign-in. */
const MAX_PATH = 1024
/** So do paths for which all expressions together take more steps; a step is one byte that one expression looks at. */
const MAX_STEPS = 4096

/**
 * Whether a path needs no sign-in. Only a path that every program reads in the same way can: without doubled slashes,
 * parameters and names that end with dots or blanks (`is_odd` and `is_odd_goal` exclude them), and with escapes only for blanks and
 * for letters that no program takes for another character. Needs `list_of` of the program.
 */
export const BYPASS_LUA = `
-- A bit of \`states\` is set when the part of that number may come next; the bit behind the last one is the end.
local function follow(expression, states)
  local all = states
  repeat
    states = all
    all = states | ((states & expression.skipped) << 1)
  until all == states
  return all
end

-- Declared above \`compile\`, which needs it.
function compile_expression(text)
  local expression = { is_whole = text:sub(1, 1) == "w", skipped = 0, repeated = 0 }
  local bit = 1
  for byte = 0, 255 do expression[byte] = 0 end
  for part in text:sub(2):gmatch("[^:]+") do
    local quantity = part:sub(1, 1)
    if quantity == "s" or quantity == "q" then expression.skipped = expression.skipped | bit end
    if quantity == "s" or quantity == "p" then expression.repeated = expression.repeated | bit end
    for range in part:sub(2):gmatch("[^.]+") do
      local from = tonumber(range:sub(1, 2), 16)
      local to = #range == 5 and tonumber(range:sub(4, 5), 16) or from
      for byte = from, to do expression[byte] = expression[byte] | bit end
    end
    bit = bit << 1
  end
  expression.ended, expression.first = bit, follow(expression, 1)
  return expression
end

-- The second value is how many steps are left.
local function is_matched(expression, path, steps)
  local states, ended = expression.first, expression.ended
  for at = 1, #path do
    if states & ended ~= 0 and not expression.is_whole then return true, steps end
    local met = states & expression[path:byte(at)]
    steps = steps - 1
    if met == 0 or steps < 0 then return false, steps end
    states = follow(expression, (met << 1) | (met & expression.repeated))
  end
  return states & ended ~= 0, steps
end

-- Letters of Latin, Greek, Cyrillic and their neighbours, kana, Chinese and Korean.
local function is_letter(code)
  return code >= 0xc0 and code <= 0x2af or code >= 0x380 and code <= 0x1eff
    or code >= 0x3040 and code <= 0x9fff or code >= 0xac00 and code <= 0xd7a3
end

local function decode_letters(path)
  if not path:find("[%%\\x80-\\xff]") then return path end
  local text = path:gsub("%%20", " "):gsub("%%([89A-Fa-f]%x)", function(hex) return string.char(tonumber(hex, 16)) end)
  if text:find("%", 1, true) or not utf8.len(text) then return nil end
  for _, code in utf8.codes(text) do
    if code > 0x7f and not is_letter(code) then return nil end
  end
  return text
end

local function is_bypassed(name, path)
  if #path > ${MAX_PATH} then return false end
  local list, text = list_of(name), decode_letters(path)
  if text == nil then return false end
  if list.paths[text] then return true end
  local matches, steps = false, ${MAX_STEPS}
  for _, expression in ipairs(list.expressions) do
    matches, steps = is_matched(expression, text, steps)
    if matches or steps < 0 then return matches end
  end
  return false
end

-- What WebDAV copies or moves goes to a second path, which has to be open, too.
local function are_bypassed(txn)
  local list, goal = txn:get_var("txn.list"), txn:get_var("txn.goal")
  return is_bypassed(list, txn.sf:path()) and (goal == nil or is_bypassed(list, goal))
end

core.register_action("find_bypass", { "http-req" }, function(txn)
  local ok, bypassed = pcall(are_bypassed, txn)
  if ok and bypassed == true then txn:set_var("txn.bypass", "-") end
end)
`
