--- The context gauge for a statusline: how full the context is, or what is being done to the session.
local M = {}

---@param percent number
---@param gauge { width: integer, full: string, empty: string }
---@return string
function M.bar(percent, gauge)
  local full = math.floor(gauge.width * math.max(0, math.min(100, percent)) / 100 + 0.5)
  return gauge.full:rep(full) .. gauge.empty:rep(gauge.width - full)
end

local phases = {
  prepare = "preparing",
  hooks = "asking hooks",
  turnPrefix = "begun turn",
  shortSummary = "short summary",
  write = "writing",
}

---@param operation octavo.Operation
---@return string
function M.running(operation)
  local words = operation.verb .. "…"
  if operation.phase then
    words = words .. " " .. (phases[operation.phase] or operation.phase)
  end
  if operation.percentage and operation.percentage > 0 then
    words = ("%s %d%%"):format(words, operation.percentage)
  end
  return words
end

---The component. `escape` doubles percent signs, for places that expand the result again.
---@param options? { escape?: boolean }
---@return string
function M.component(options)
  local sessions = package.loaded["octavo.session"]
  local session = sessions and sessions.current()
  if not session then
    return ""
  end
  local words
  local usage = session.usage
  if session.operation then
    words = M.running(session.operation)
  elseif require("octavo.client").state ~= "ready" then
    words = "away"
  elseif not usage then
    words = "…"
  elseif type(usage.percent) == "number" then
    local gauge = require("octavo.config").get().gauge
    local full = usage.threshold > 0 and usage.tokens > usage.threshold and " !" or ""
    words = ("%s %.0f%%%s"):format(M.bar(usage.percent, gauge), usage.percent, full)
  else
    words = require("octavo.text").short(usage.tokens) .. " tokens"
  end
  return options and options.escape and (words:gsub("%%", "%%%%")) or words
end

return M
