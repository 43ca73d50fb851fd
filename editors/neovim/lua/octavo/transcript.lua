--- The transcript buffer: the whole branch in order, newest page first, older ones when the reader gets there.
--- Tool calls are folded; a compaction is a bar that opens to its summary and its frames.
local M = {}

local actions = require("octavo.actions")
local client = require("octavo.client")
local config = require("octavo.config")
local frames = require("octavo.frames")
local model = require("octavo.transcript_model")
local text = require("octavo.text")
local ui = require("octavo.ui")

local namespace = vim.api.nvim_create_namespace("octavo-transcript")
local page_bytes = 1500000

---@class octavo.TranscriptView
---@field session octavo.Session
---@field buffer integer
---@field blocks octavo.Block[]
---@field by_id table<string, octavo.Block>
---@field levels string[] One per line of the buffer.
---@field starts integer[] First line of each block, 1-based.
---@field cursor? string Where the next older page begins; nil when all is shown.
---@field total integer Entries of the branch.
---@field entries integer Entries loaded.
---@field loading boolean
---@field generation integer

---@type table<integer, octavo.TranscriptView>
M.views = {}

---'foldexpr' of the buffer.
---@return string
function M.foldexpr()
  local view = M.views[vim.api.nvim_get_current_buf()]
  return view and view.levels[vim.v.lnum] or "0"
end

---'foldtext' of the buffer.
---@return string
function M.foldtext()
  local line = vim.fn.getline(vim.v.foldstart)
  local hidden = vim.v.foldend - vim.v.foldstart
  return hidden > 0 and ("%s  (+%s)"):format(line, text.plural(hidden, "line")) or line
end

---@param view octavo.TranscriptView
---@return integer
local function head_lines(view)
  return view.cursor and 1 or 0
end

---@param view octavo.TranscriptView
local function index(view)
  local line = head_lines(view) + 1
  view.levels, view.starts = {}, {}
  if view.cursor then
    view.levels[1] = "0"
  end
  for i, block in ipairs(view.blocks) do
    view.starts[i] = line
    line = line + #block.lines
    vim.list_extend(view.levels, block.levels)
  end
end

---@param view octavo.TranscriptView
---@param line integer
---@return integer? number
---@return octavo.Block? block
local function block_at(view, line)
  local low, high = 1, #view.starts
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if view.starts[middle] <= line then
      low = middle
    else
      high = middle - 1
    end
  end
  local start = view.starts[low]
  if start and line >= start and line < start + #view.blocks[low].lines then
    return low, view.blocks[low]
  end
end

---@param view octavo.TranscriptView
---@param first integer Number of the first block.
---@param last integer
local function decorate(view, first, last)
  for i = first, last do
    local block, start = view.blocks[i], view.starts[i]
    for line, group in pairs(block.groups) do
      vim.api.nvim_buf_set_extmark(view.buffer, namespace, start + line - 2, 0, {
        end_col = #block.lines[line],
        hl_group = group,
      })
    end
    if block.kind == "divider" then
      vim.api.nvim_buf_set_extmark(view.buffer, namespace, start + block.anchor - 2, 0, {
        sign_text = "◆",
        sign_hl_group = "OctavoDivider",
        line_hl_group = "OctavoDivider",
      })
    end
    if view.kept[block.id] and #block.lines > 0 then
      vim.api.nvim_buf_set_extmark(view.buffer, namespace, start - 1, 0, {
        virt_lines = { { { "┄┄ from here on the model still has every word ┄┄", "OctavoDivider" } } },
        virt_lines_above = true,
        sign_text = "┊",
        sign_hl_group = "OctavoDivider",
      })
    end
  end
end

---@param view octavo.TranscriptView
local function winbar(view)
  local more = view.total - view.entries
  local words = (" %s · %s%s "):format(
    view.session:title(),
    text.plural(view.total, "entry", "entries"),
    more > 0 and (", " .. text.count(more) .. " above") or ""
  )
  for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
    vim.wo[window].winbar = (words:gsub("%%", "%%%%")) .. "%=g? keys "
  end
end

---@param view octavo.TranscriptView
---@return string[]
local function head(view)
  if not view.cursor then
    return {}
  end
  return { ("⋯ %s above (<CR> loads them)"):format(text.plural(view.total - view.entries, "entry", "entries")) }
end

---@param view octavo.TranscriptView
local function refold(view)
  for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
    vim.api.nvim_win_call(window, function()
      vim.wo.foldmethod = "expr"
    end)
  end
end

---@param blocks octavo.Block[]
---@return string[]
local function lines_of(blocks)
  local lines = {}
  for _, block in ipairs(blocks) do
    vim.list_extend(lines, block.lines)
  end
  return lines
end

---@param view octavo.TranscriptView
---@param entries table<string, any>[]
---@return octavo.Block[]
local function blocks_of(view, entries)
  local values = config.get()
  local blocks = {}
  for _, entry in ipairs(entries) do
    if type(entry) == "table" then
      local block = model.block(entry, { clip = values.clip, icons = values.icons })
      table.insert(blocks, block)
      view.by_id[block.id] = block
      if entry.type == "compaction" and type(entry.firstKeptEntryId) == "string" then
        view.kept[entry.firstKeptEntryId] = true
      end
    end
  end
  return blocks
end

---Put older blocks on top; the reader stays where they are.
---@param view octavo.TranscriptView
---@param blocks octavo.Block[]
---@param had_head integer
local function prepend(view, blocks, had_head)
  local lines = vim.list_extend(head(view), lines_of(blocks))
  local windows = {}
  for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
    vim.api.nvim_win_call(window, function()
      windows[window] = vim.fn.winsaveview()
    end)
  end
  view.blocks = vim.list_extend(blocks, view.blocks)
  index(view)
  ui.write(view.buffer, 0, had_head, lines)
  decorate(view, 1, #blocks)
  local added = #lines - had_head
  for window, saved in pairs(windows) do
    vim.api.nvim_win_call(window, function()
      saved.lnum, saved.topline = saved.lnum + added, saved.topline + added
      vim.fn.winrestview(saved)
    end)
  end
  refold(view)
  winbar(view)
end

---Put newer blocks below; a reader at the end follows.
---@param view octavo.TranscriptView
---@param blocks octavo.Block[]
local function append(view, blocks)
  local last = vim.api.nvim_buf_line_count(view.buffer)
  local at_end = {}
  for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
    at_end[window] = vim.api.nvim_win_get_cursor(window)[1] >= last
  end
  local from = #view.blocks + 1
  vim.list_extend(view.blocks, blocks)
  index(view)
  ui.write(view.buffer, last, last, lines_of(blocks))
  decorate(view, from, #view.blocks)
  refold(view)
  winbar(view)
  for window, follows in pairs(at_end) do
    if follows then
      vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(view.buffer), 0 })
    end
  end
end

---Entries per page, so that a page of a session with huge entries stays small.
---@param view octavo.TranscriptView
---@return integer
local function page_size(view)
  local info = view.session.info
  local average = (text.present(info.sizeBytes) or 0) / math.max(1, info.entryCount)
  return math.max(5, math.min(config.get().page, math.floor(page_bytes / math.max(average, 1))))
end

---Load the page before what is shown.
---@param view octavo.TranscriptView
---@param done? fun()
function M.older(view, done)
  if view.loading or not view.cursor then
    return
  end
  view.loading = true
  local generation = view.generation
  local params = { order = "newestFirst", limit = page_size(view), cursor = view.cursor }
  view.session:request("session/getBranch", params, function(failure, page)
    view.loading = false
    if not vim.api.nvim_buf_is_valid(view.buffer) or generation ~= view.generation then
      return
    end
    if failure then
      ui.fail(failure, "session/getBranch", client.server())
      return
    end
    local had_head = head_lines(view)
    view.cursor = text.present(page.nextCursor)
    view.entries = view.entries + #page.entries
    prepend(view, blocks_of(view, page.entries), had_head)
    if done then
      done()
    end
  end)
end

---Put the cursor on an entry, loading what lies before.
---@param view octavo.TranscriptView
---@param id string
function M.jump(view, id)
  for i, block in ipairs(view.blocks) do
    if block.id == id and #block.lines > 0 then
      for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
        vim.api.nvim_win_set_cursor(window, { view.starts[i] + block.anchor - 1, 0 })
        vim.api.nvim_win_call(window, function()
          vim.cmd("normal! zvzt")
        end)
      end
      return
    end
  end
  if view.cursor then
    view.wanted = id
    M.older(view, function()
      if view.wanted == id then
        view.wanted = nil
        M.jump(view, id)
      end
    end)
  else
    ui.say("That entry is on another branch; K in the tree shows it.")
  end
end

---Read the branch anew, from its end.
---@param view octavo.TranscriptView
---@param focus? string
function M.reload(view, focus)
  view.generation = view.generation + 1
  local generation = view.generation
  view.loading = true
  local params = { order = "newestFirst", limit = page_size(view) }
  view.session:request("session/getBranch", params, function(failure, page)
    if not vim.api.nvim_buf_is_valid(view.buffer) or generation ~= view.generation then
      return
    end
    view.loading = false
    if failure then
      ui.fail(failure, "session/getBranch", client.server())
      return
    end
    view.by_id, view.kept = {}, {}
    view.cursor, view.leaf = text.present(page.nextCursor), text.present(page.leafId)
    view.total, view.entries = page.total, #page.entries
    view.blocks = blocks_of(view, page.entries)
    index(view)
    local lines = vim.list_extend(head(view), lines_of(view.blocks))
    vim.api.nvim_buf_clear_namespace(view.buffer, namespace, 0, -1)
    ui.write(view.buffer, 0, -1, #lines > 0 and lines or { "Nothing has been said on this branch." })
    decorate(view, 1, #view.blocks)
    refold(view)
    winbar(view)
    for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
      vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(view.buffer), 0 })
    end
    if focus then
      M.jump(view, focus)
    end
  end)
end

---@param view octavo.TranscriptView
---@param change octavo.Change
local function follow(view, change)
  if change.kind == "title" then
    winbar(view)
  elseif change.kind ~= "appended" or view.loading then
    M.reload(view)
  else
    local generation = view.generation
    view.session:request("session/getEntries", { ids = change.entryIds }, function(failure, result)
      if failure or generation ~= view.generation or not vim.api.nvim_buf_is_valid(view.buffer) then
        return
      end
      local fresh = vim.tbl_filter(function(entry)
        return view.by_id[entry.id] == nil
      end, result.entries)
      local first = fresh[1]
      if first and text.present(first.parentId) ~= view.leaf then
        M.reload(view)
        return
      end
      view.leaf = text.present(change.leafId)
      view.total, view.entries = view.total + #fresh, view.entries + #fresh
      append(view, blocks_of(view, fresh))
    end)
  end
end

---Open or close a divider; its frames become files when it opens.
---@param view octavo.TranscriptView
---@param number integer
---@param block octavo.Block
local function expand(view, number, block)
  local start = view.starts[number]
  local saved = block.saved
  if saved then
    vim.cmd("normal! za")
    return
  end
  view.session:request("session/getEntries", { ids = { block.id } }, function(failure, result)
    local entry = result and result.entries[1]
    if failure or not entry then
      ui.fail(failure or "The entry is gone.", "session/getEntries", client.server())
      return
    end
    local values = config.get()
    local files = frames.save(view.session.id, entry)
    local filled = model.block(entry, { clip = math.huge, icons = values.icons, frames = files })
    filled.saved = true
    local at
    for i, other in ipairs(view.blocks) do
      at = other.id == block.id and i or at
    end
    if not at then
      return
    end
    start = view.starts[at]
    local old = #view.blocks[at].lines
    view.blocks[at] = filled
    index(view)
    ui.write(view.buffer, start - 1, start - 1 + old, filled.lines)
    vim.api.nvim_buf_clear_namespace(view.buffer, namespace, start - 1, start - 1 + #filled.lines)
    decorate(view, at, at)
    refold(view)
    for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
      vim.api.nvim_win_call(window, function()
        vim.api.nvim_win_set_cursor(window, { start + filled.anchor - 1, 0 })
        pcall(vim.cmd, "normal! zo")
      end)
    end
    for line, path in pairs(filled.paths) do
      if values.draw_frame then
        values.draw_frame(path, view.buffer, start + line - 2)
      end
    end
  end)
end

---@param view octavo.TranscriptView
local function enter(view)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  if view.cursor and line == 1 then
    M.older(view)
    return
  end
  local number, block = block_at(view, line)
  if not number or not block then
    return
  end
  local path = block.paths[line - view.starts[number] + 1]
  if path then
    local _, problem = vim.ui.open(path)
    if problem then
      ui.say("The frame is " .. path .. ".")
    end
  elseif block.kind == "divider" then
    expand(view, number, block)
  elseif vim.fn.foldlevel(line) > 0 then
    vim.cmd("normal! za")
  end
end

---@param view octavo.TranscriptView
---@param act fun(session: octavo.Session, node: { id: string })
local function on_entry(view, act)
  return function()
    local _, block = block_at(view, vim.api.nvim_win_get_cursor(0)[1])
    if block then
      act(view.session, { id = block.id, onBranch = true })
    end
  end
end

---@param view octavo.TranscriptView
---@param step 1|-1
---@param wanted fun(block: octavo.Block): boolean
local function hop(view, step, wanted)
  local here = vim.api.nvim_win_get_cursor(0)[1]
  local first, last = (step == 1 and 1 or #view.blocks), (step == 1 and #view.blocks or 1)
  for i = first, last, step do
    local start = view.starts[i] + view.blocks[i].anchor - 1
    if (start - here) * step > 0 and wanted(view.blocks[i]) and #view.blocks[i].lines > 0 then
      vim.api.nvim_win_set_cursor(0, { start, 0 })
      return
    end
  end
end

---@param view octavo.TranscriptView
local function maps(view)
  local function divider(block)
    return block.kind == "divider"
  end
  local function spoken(block)
    return block.groups[block.anchor] == "OctavoUser"
  end
  local list
  local function add(plug, keys, desc, run)
    table.insert(list, { plug = plug, keys = keys, desc = desc, run = run })
  end
  list = {}
  add("enter", "<CR>", "open or close what is under the cursor", function()
    enter(view)
  end)
  add("toggle", "<Tab>", "the same", function()
    enter(view)
  end)
  add("next-divider", "]c", "next compaction or branch", function()
    hop(view, 1, divider)
  end)
  add("previous-divider", "[c", "previous compaction or branch", function()
    hop(view, -1, divider)
  end)
  add("next-user", "]]", "your next message", function()
    hop(view, 1, spoken)
  end)
  add("previous-user", "[[", "your previous message", function()
    hop(view, -1, spoken)
  end)
  add("read", "K", "read the entry whole", on_entry(view, actions.read))
  add("go-here", "gh", "go to this entry", on_entry(view, actions.go))
  add("go-summary", "S", "go, summarising what is left", on_entry(view, actions.go_with_summary))
  add("label", "L", "label this entry", on_entry(view, actions.label))
  add("fork", "F", "fork the session here", on_entry(view, actions.fork))
  add("copy-id", "Y", "copy the entry's id", on_entry(view, actions.copy_id))
  add("tree", "gt", "show in the tree", on_entry(view, function(session, node)
    require("octavo.tree").open(session, node.id)
  end))
  add("search", "gs", "search the whole session", function()
    actions.search(view.session)
  end)
  add("abort", "<C-c>", "stop what is running", function()
    view.session:abort()
  end)
  add("refresh", "R", "read again", function()
    M.reload(view)
  end)
  add("close", "q", "close the window", function()
    pcall(vim.cmd.close)
  end)
  add("help", "g?", "these keys", function()
    ui.help("Transcript", list)
  end)
  ui.maps(view.buffer, list)
end

---@param window integer
local function window_options(window)
  local options = vim.wo[window]
  options.foldmethod = "expr"
  options.foldexpr = "v:lua.require'octavo.transcript'.foldexpr()"
  options.foldtext = "v:lua.require'octavo.transcript'.foldtext()"
  options.foldlevel, options.foldenable, options.foldminlines = 0, true, 0
  options.fillchars = "fold: "
  options.signcolumn, options.foldcolumn = "yes:1", "0"
  options.wrap, options.linebreak, options.number, options.relativenumber = true, true, false, false
  options.list, options.spell = false, false
end

---Show the transcript of a session.
---@param session octavo.Session
---@param focus? string Entry to put the cursor on.
---@return octavo.TranscriptView
function M.open(session, focus)
  local buffer, fresh = ui.buffer("octavo://transcript/" .. session.id, "octavo-transcript")
  local view = M.views[buffer]
  local known = view ~= nil and not fresh
  if not known then
    view = {
      session = session,
      buffer = buffer,
      blocks = {},
      by_id = {},
      kept = {},
      levels = {},
      starts = {},
      total = 0,
      entries = 0,
      loading = false,
      generation = 0,
    }
    M.views[buffer] = view
    vim.b[buffer].octavo_session = session.id
    maps(view)
    ui.write(buffer, 0, -1, { "Reading the transcript…" })
    session:listen(function(event, change)
      if not vim.api.nvim_buf_is_valid(buffer) then
        return
      end
      if event == "reset" then
        M.reload(view)
      elseif event == "changed" then
        follow(view, change)
      end
    end)
    vim.api.nvim_create_autocmd("CursorMoved", {
      buffer = buffer,
      callback = function()
        if view.cursor and vim.api.nvim_win_get_cursor(0)[1] == 1 then
          M.older(view)
        end
      end,
    })
    vim.api.nvim_create_autocmd("BufWinEnter", {
      buffer = buffer,
      callback = function()
        window_options(vim.api.nvim_get_current_win())
        winbar(view)
      end,
    })
  end
  window_options(ui.show(buffer))
  if known and focus then
    M.jump(view, focus)
  elseif not known then
    M.reload(view, focus)
  end
  winbar(view)
  return view
end

return M
