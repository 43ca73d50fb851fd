--- Messages, questions and scratch buffers: everything the plugin shows goes through here.
local M = {}

local errors = require("octavo.errors")

---@param message string
---@param level? integer
function M.say(message, level)
  vim.notify("octavo: " .. message, level or vim.log.levels.INFO, { title = "octavo" })
end

---@param failure any
---@param method? string
---@param server? string
function M.fail(failure, method, server)
  local read = errors.read(failure)
  local level = read.kind == "cancelled" and vim.log.levels.INFO or vim.log.levels.ERROR
  M.say(errors.sentence(failure, method, server), level)
end

---Ask for one of several things; `choose` is not called when the user backs out.
---@generic T
---@param items T[]
---@param prompt string
---@param format fun(item: T): string
---@param choose fun(item: T, index: integer)
function M.select(items, prompt, format, choose)
  vim.ui.select(items, { prompt = prompt, format_item = format, kind = "octavo" }, function(item, index)
    if item ~= nil then
      choose(item, index)
    end
  end)
end

---@class octavo.Action
---@field label string
---@field run fun()

---A sentence and buttons.
---@param sentence string
---@param actions octavo.Action[]
function M.offer(sentence, actions)
  M.select(actions, "octavo: " .. sentence, function(action)
    return action.label
  end, function(action)
    action.run()
  end)
end

---@param prompt string
---@param default string
---@param done fun(text: string)
function M.input(prompt, default, done)
  vim.ui.input({ prompt = prompt, default = default }, function(text)
    if text ~= nil then
      done(text)
    end
  end)
end

local links = {
  OctavoUser = "Title",
  OctavoAgent = "Function",
  OctavoTool = "Comment",
  OctavoDivider = "Special",
  OctavoLabel = "Tag",
  OctavoError = "DiagnosticError",
  OctavoMeta = "NonText",
  OctavoOther = "Comment",
  OctavoActive = "Normal",
  OctavoLeaf = "DiagnosticOk",
  OctavoPath = "Directory",
  OctavoMatch = "Search",
}

function M.highlights()
  for name, target in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

---A read-only buffer with a name; the same name gives the same buffer.
---@param name string
---@param filetype string
---@return integer buffer
---@return boolean fresh
function M.buffer(name, filetype)
  M.highlights()
  local buffer = vim.fn.bufnr("^" .. vim.fn.escape(name, "\\.*$^~[]") .. "$")
  local fresh = buffer < 0 or not vim.api.nvim_buf_is_loaded(buffer)
  if buffer < 0 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
  elseif fresh then
    vim.fn.bufload(buffer)
  end
  local options = vim.bo[buffer]
  options.buftype, options.bufhidden, options.swapfile = "nofile", "hide", false
  options.modifiable, options.undolevels = false, -1
  if options.filetype ~= filetype then
    options.filetype = filetype
  end
  return buffer, fresh
end

---Show a buffer, in the window that has it already or in a new one.
---@param buffer integer
---@param how? string
---@return integer window
function M.show(buffer, how)
  local window = vim.fn.bufwinid(buffer)
  if window > 0 then
    vim.api.nvim_set_current_win(window)
    return window
  end
  local command = how or require("octavo.config").get().open_with
  if command == "edit" then
    vim.cmd("buffer " .. buffer)
  else
    vim.cmd((command == "tabedit" and "tab s" or command == "vsplit" and "vertical s" or "s") .. "buffer " .. buffer)
  end
  return vim.api.nvim_get_current_win()
end

---Replace lines of a read-only buffer, 0-based, end exclusive.
---@param buffer integer
---@param first integer
---@param last integer
---@param lines string[]
function M.write(buffer, first, last, lines)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, first, last, false, lines)
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
end

---Define `<Plug>` maps of a view and, if wanted, the keys for them.
---@param buffer integer
---@param maps { plug: string, keys: string, desc: string, run: fun() }[]
function M.maps(buffer, maps)
  local with_keys = require("octavo.config").get().default_maps
  for _, map in ipairs(maps) do
    local plug = "<Plug>(octavo-" .. map.plug .. ")"
    vim.keymap.set("n", plug, map.run, { buffer = buffer, desc = map.desc })
    if with_keys and map.keys ~= "" and vim.fn.hasmapto(plug, "n") == 0 then
      vim.keymap.set("n", map.keys, plug, { buffer = buffer, remap = true, desc = "octavo: " .. map.desc })
    end
  end
end

---The keys of a view as a list to read.
---@param title string
---@param maps { plug: string, keys: string, desc: string }[]
function M.help(title, maps)
  local chunks = { { title .. "\n", "Title" } }
  for _, map in ipairs(maps) do
    table.insert(chunks, { ("  %-6s %s\n"):format(map.keys, map.desc) })
  end
  vim.api.nvim_echo(chunks, false, {})
end

return M
