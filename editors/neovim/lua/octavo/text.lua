--- Small pure helpers over text and JSON values.
local M = {}

---@param value any
---@return any value nil for absent and for JSON's null.
function M.present(value)
  if value == nil or value == vim.NIL then
    return nil
  end
  return value
end

---One line without control characters.
---@param text string
---@return string
function M.flat(text)
  return (text:gsub("%s+", " "):gsub("%c", ""))
end

---Cut to a number of display cells.
---@param text string
---@param cells integer
---@return string
function M.cut(text, cells)
  if vim.fn.strdisplaywidth(text) <= cells then
    return text
  end
  local count = vim.fn.strchars(text)
  local low, high = 0, math.min(count, cells)
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if vim.fn.strdisplaywidth(vim.fn.strcharpart(text, 0, middle)) <= cells - 1 then
      low = middle
    else
      high = middle - 1
    end
  end
  return vim.fn.strcharpart(text, 0, low) .. "…"
end

---1234567 → "1,234,567".
---@param number number
---@return string
function M.count(number)
  local text = ("%d"):format(number)
  local grouped = text:reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (grouped:gsub("^,", ""):gsub("^%-,", "-"))
end

---Tokens in few characters: 950, 12.4k, 171k, 1.2M.
---@param number any
---@return string
function M.short(number)
  if type(number) ~= "number" then
    return "?"
  end
  if number < 1000 then
    return ("%d"):format(number)
  elseif number < 99950 then
    return ("%.1fk"):format(number / 1000)
  elseif number < 999500 then
    return ("%.0fk"):format(number / 1000)
  end
  return ("%.1fM"):format(number / 1e6)
end

---"1 entry", "2 entries".
---@param number integer
---@param one string
---@param many? string
---@return string
function M.plural(number, one, many)
  return ("%s %s"):format(M.count(number), number == 1 and one or many or (one .. "s"))
end

---"2026-03-02T09:38:00.000Z" → "2026-03-02 09:38".
---@param timestamp any
---@return string
function M.when(timestamp)
  if type(timestamp) ~= "string" then
    return ""
  end
  local date, time = timestamp:match("^(%d+%-%d+%-%d+)T(%d+:%d+)")
  return date and (date .. " " .. time) or ""
end

---Lines that a buffer accepts: no newlines, no NULs, no carriage returns at the end.
---@param text string
---@return string[]
function M.lines(text)
  local lines = vim.split((text:gsub("%z", "␀")), "\n", { plain = true })
  for i, line in ipairs(lines) do
    lines[i] = line:gsub("\r$", "")
  end
  return lines
end

return M
