--- Entries as blocks of lines with fold levels and highlights. Pure; knows no buffers and no server.
local M = {}

local text = require("octavo.text")

---@class octavo.Block
---@field id string Entry.
---@field anchor integer Line the block begins with for a reader, after the blank one.
---@field kind "message"|"divider"|"slim"|"hidden"
---@field lines string[]
---@field levels string[] 'foldexpr' values, one a line.
---@field groups table<integer, string> Highlight group of a whole line, by number from 1.
---@field paths table<integer, string> File a line names.
---@field clipped boolean Whether something is left out.

---@class octavo.BlockOptions
---@field clip number Most lines of one text.
---@field icons table<string, string>
---@field frames? octavo.FrameFile[] Where the frames of a compaction are.
---@field raw? boolean Whether entries without words of their own are shown as JSON.

local most_bytes = 65536

---@class octavo.Writer
local Writer = {}
Writer.__index = Writer

---@param id string
---@param clip number
local function writer(id, clip)
  local block = { id = id, anchor = 1, kind = "message", lines = {}, levels = {}, groups = {}, paths = {}, clipped = false }
  return setmetatable({ block = block, clip = clip }, Writer)
end

function Writer:line(line, level, group)
  local block = self.block
  table.insert(block.lines, line)
  table.insert(block.levels, level or "=")
  if group then
    block.groups[#block.lines] = group
  end
end

---A blank line and a line to find the block by.
function Writer:heading(line, level, group)
  self:line("", "0")
  self:line(line, level, group)
  self.block.anchor = #self.block.lines
end

---Text, cut where it is too long to be read here.
function Writer:text(words, level, group, indent)
  if self.clip ~= math.huge and #words > most_bytes then
    words = words:sub(1, most_bytes):gsub("[\128-\191]*$", ""):gsub("[\192-\255]$", "")
    self.block.clipped = true
  end
  local lines = text.lines(words)
  for i, line in ipairs(lines) do
    if i > self.clip then
      self.block.clipped = true
      break
    end
    self:line((indent or "") .. line, level, group)
  end
  if self.block.clipped then
    self:line((indent or "") .. "… there is more: K shows the entry whole", level, "OctavoMeta")
  end
end

---The text of content: a string, or blocks.
---@param content any
---@return string
function M.plain(content)
  if type(content) == "string" then
    return content
  end
  local parts = {}
  for _, block in ipairs(type(content) == "table" and content or {}) do
    if type(block) == "table" then
      if block.type == "text" and type(block.text) == "string" then
        table.insert(parts, block.text)
      elseif block.type == "image" then
        table.insert(parts, ("[picture, %s]"):format(tostring(block.mimeType or "image")))
      end
    end
  end
  return table.concat(parts, "\n")
end

---@param words string
---@return integer
local function count_lines(words)
  local _, breaks = words:gsub("\n", "")
  return words == "" and 0 or breaks + 1
end

---@param call table<string, any>
---@return string
local function call_words(call)
  local arguments = type(call.arguments) == "table" and call.arguments or {}
  for _, name in ipairs({ "command", "path", "file_path", "pattern", "query", "url" }) do
    if type(arguments[name]) == "string" then
      return text.flat(arguments[name])
    end
  end
  local names = vim.tbl_keys(arguments)
  table.sort(names)
  return table.concat(names, ", ")
end

---@param self octavo.Writer
---@param call table<string, any>
local function write_call(self, call)
  self:line(("  ▸ %s  %s"):format(tostring(call.name), text.cut(call_words(call), 100)), ">1", "OctavoTool")
  local arguments = type(call.arguments) == "table" and call.arguments or {}
  local names = vim.tbl_keys(arguments)
  table.sort(names)
  for _, name in ipairs(names) do
    local value = arguments[name]
    local words = type(value) == "string" and value or vim.json.encode(value)
    if count_lines(words) > 1 then
      self:line("    " .. name .. ":", "1", "OctavoTool")
      self:text(words, "1", "OctavoTool", "      ")
    else
      self:text(name .. ": " .. words, "1", "OctavoTool", "    ")
    end
  end
end

local writers = {}

---@param self octavo.Writer
---@param message table<string, any>
function writers.assistant(self, message)
  for _, block in ipairs(type(message.content) == "table" and message.content or {}) do
    if type(block) ~= "table" then
      goto continue
    end
    if block.type == "text" and type(block.text) == "string" then
      self:text(block.text, "0")
    elseif block.type == "thinking" and type(block.thinking) == "string" and vim.trim(block.thinking) ~= "" then
      self:line("  ▸ thinking", ">1", "OctavoMeta")
      self:text(block.thinking, "1", "OctavoMeta", "    ")
    elseif block.type == "toolCall" then
      write_call(self, block)
    end
    ::continue::
  end
  if type(message.content) == "string" then
    self:text(message.content, "0")
  end
  if message.stopReason == "error" then
    self:line("  ✗ " .. text.flat(tostring(text.present(message.errorMessage) or "the turn failed")), "0", "OctavoError")
  end
end

---@param self octavo.Writer
---@param message table<string, any>
function writers.toolResult(self, message)
  local words = M.plain(message.content)
  local failed = message.isError == true
  local first = text.cut(text.flat(words:match("[^\n]*") or ""), 60)
  self:line(
    ("  ◂ %s%s  %s"):format(tostring(message.toolName or "tool"), failed and " failed" or "", first),
    ">1",
    failed and "OctavoError" or "OctavoTool"
  )
  self:text(words, "1", failed and "OctavoError" or "OctavoTool", "    ")
end

---@param self octavo.Writer
---@param message table<string, any>
function writers.bashExecution(self, message)
  self:line("  $ " .. text.flat(tostring(message.command)), ">1", "OctavoTool")
  self:text(tostring(message.output or ""), "1", "OctavoTool", "    ")
end

---@param entry table<string, any>
---@param name string
---@return string
local function heading(entry, name)
  local when = text.when(entry.timestamp)
  return ("── %s%s "):format(name, when ~= "" and " · " .. when or "")
end

---A bar that opens to the summary and the frames.
---@param self octavo.Writer
---@param entry table<string, any>
---@param options octavo.BlockOptions
local function write_divider(self, entry, options)
  self.block.kind = "divider"
  local compaction = entry.type == "compaction"
  local kept = type(entry.preserveData) == "table" and entry.preserveData.snapcompact
  local frames = type(kept) == "table" and type(kept.frames) == "table" and #kept.frames or 0
  local words = { compaction and "compacted here" or "a branch was left" }
  if compaction and type(entry.tokensBefore) == "number" then
    table.insert(words, text.short(entry.tokensBefore) .. " tokens before")
  end
  if frames > 0 then
    table.insert(words, text.plural(frames, "frame"))
  end
  local short = text.present(entry.shortSummary)
  if type(short) == "string" and frames == 0 then
    table.insert(words, text.cut(text.flat(short), 60))
  end
  self:heading("━━ " .. table.concat(words, " · ") .. " ━━", ">1", "OctavoDivider")
  for i, frame in ipairs(options.frames or {}) do
    self:line(("  frame %d: %s"):format(i, frame.note), "1", "OctavoMeta")
    self:line("  " .. frame.path, "1", "OctavoPath")
    self.block.paths[#self.block.lines] = frame.path
  end
  if frames > 0 and not options.frames then
    self:line(("  %s; <CR> writes them to files"):format(text.plural(frames, "frame")), "1", "OctavoMeta")
  end
  self:text(type(entry.summary) == "string" and entry.summary or "(no summary)", "1", nil, "  ")
end

local slim = {
  model_change = function(entry)
    return "model " .. tostring(entry.model)
  end,
  thinking_level_change = function(entry)
    return "thinking " .. tostring(text.present(entry.thinkingLevel) or "off")
  end,
  label = function(entry)
    local label = text.present(entry.label)
    return label and label ~= "" and "label " .. text.flat(tostring(label)) or nil
  end,
  mode_change = function(entry)
    return "mode " .. tostring(entry.mode)
  end,
}

---One entry as a block; entries that say nothing to a reader have no lines.
---@param entry table<string, any>
---@param options octavo.BlockOptions
---@return octavo.Block
function M.block(entry, options)
  local self = writer(tostring(entry.id), options.clip)
  local block = self.block
  if entry.type == "compaction" or entry.type == "branch_summary" then
    write_divider(self, entry, options)
    return block
  end
  local message = entry.type == "message" and type(entry.message) == "table" and entry.message or nil
  if message and writers[message.role] then
    local bare = message.role == "toolResult"
      or message.role == "assistant" and vim.trim(M.plain(message.content)) == "" and message.stopReason ~= "error"
    if not bare then
      self:heading(heading(entry, options.icons[message.role] or message.role), "0", "OctavoAgent")
    end
    writers[message.role](self, message)
    return block
  elseif message then
    local role = tostring(message.role)
    self:heading(heading(entry, options.icons[role] or role), "0", role == "user" and "OctavoUser" or "OctavoAgent")
    self:text(M.plain(message.content), "0")
    return block
  elseif entry.type == "custom_message" and entry.display ~= false then
    self:heading(heading(entry, tostring(entry.customType)), "0", "OctavoMeta")
    self:text(M.plain(entry.content), "0")
    return block
  end
  local words = slim[entry.type] and slim[entry.type](entry)
  if words then
    block.kind = "slim"
    self:line("   · " .. words, "0", "OctavoMeta")
  elseif options.raw then
    self:text(vim.inspect(entry), "0")
  else
    block.kind = "hidden"
  end
  return block
end

return M
