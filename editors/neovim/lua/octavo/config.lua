--- What a user may change, from `vim.g.octavo` or `require("octavo").setup()`. Nothing here is required.
local M = {}

---@class octavo.Config
---@field cmd? string[] Command of the server instead of `octavo attach`.
---@field models? octavo.ModelInfo[] Models to register with the server.
---@field settings? table<string, any> Settings by dotted key, as in docs/settings.md.
---@field window integer Tree nodes asked for at a time.
---@field page integer Most transcript entries asked for at a time.
---@field clip integer Lines of one message that the transcript shows.
---@field open_with string Command that opens a view: `tabedit`, `split`, `vsplit`, `edit`.
---@field icons table<string, string> Text that marks lines of the views.
---@field gauge { width: integer, full: string, empty: string }
---@field restart { attempts: integer, delay_ms: integer } How often a lost server is started again.
---@field start_timeout_ms integer How long the server may take to say hello.
---@field draw_frame? fun(path: string, buffer: integer, line: integer) Draws a frame in terminals that can.
---@field default_maps boolean Whether the views get their keys.
local defaults = {
  window = 500,
  page = 100,
  clip = 200,
  open_with = "split",
  icons = {
    active = "●",
    other = "○",
    leaf = "◆",
    user = "you",
    assistant = "agent",
    toolResult = "tool",
    compaction = "compacted",
    branch_summary = "branch",
    bashExecution = "shell",
    custom_message = "note",
  },
  gauge = { width = 8, full = "█", empty = "░" },
  restart = { attempts = 5, delay_ms = 200 },
  start_timeout_ms = 15000,
  default_maps = true,
}

---@type table<string, any>
local given = {}

---Replace what was given to `setup()` before.
---@param options? table<string, any>
function M.setup(options)
  given = options or {}
end

---The values in force: defaults, then `vim.g.octavo`, then `setup()`.
---@return octavo.Config
function M.get()
  return vim.tbl_deep_extend("force", defaults, vim.g.octavo or {}, given)
end

---What is wrong with the values in force, a sentence each.
---@return string[]
function M.problems()
  local found = {}
  local values = M.get()
  for name, value in pairs(values) do
    local default = defaults[name]
    if default == nil and not vim.list_contains({ "cmd", "models", "settings", "draw_frame" }, name) then
      table.insert(found, ("There is no option %q."):format(name))
    elseif default ~= nil and type(default) ~= type(value) then
      table.insert(found, ("Option %q must be a %s, not a %s."):format(name, type(default), type(value)))
    end
  end
  if values.cmd ~= nil and (type(values.cmd) ~= "table" or type(values.cmd[1]) ~= "string") then
    table.insert(found, 'Option "cmd" must be a list that begins with a program.')
  end
  return found
end

return M
