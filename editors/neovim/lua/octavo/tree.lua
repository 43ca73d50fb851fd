--- The tree buffer: a window of the session's tree that grows at its edges, with keys to move about in the session.
local M = {}

local actions = require("octavo.actions")
local client = require("octavo.client")
local config = require("octavo.config")
local model = require("octavo.tree_model")
local text = require("octavo.text")
local ui = require("octavo.ui")

local namespace = vim.api.nvim_create_namespace("octavo-tree")
local filters = { "default", "no-tools", "user-only", "labeled-only", "all" }

---@class octavo.TreeView
---@field session octavo.Session
---@field buffer integer
---@field window octavo.TreeWindow
---@field filter? octavo.TreeFilter
---@field answer? octavo.GetTreeResult
---@field loading boolean
---@field first integer Line of the first node, 1-based.

---@type table<integer, octavo.TreeView>
M.views = {}

---@param view octavo.TreeView
---@return octavo.TreeNode?
local function node_here(view)
  return view.window.nodes[vim.api.nvim_win_get_cursor(0)[1] - view.first + 1]
end

---@param view octavo.TreeView
local function winbar(view)
  local answer = view.answer
  if not answer then
    return
  end
  local words = (" %s · %s of %s · %s "):format(
    view.session:title(),
    text.count(#view.window.nodes),
    text.plural(answer.matching, "entry", "entries"),
    answer.filter
  )
  for _, window in ipairs(vim.fn.win_findbuf(view.buffer)) do
    vim.wo[window].winbar = (words:gsub("%%", "%%%%")) .. "%=g? keys "
  end
end

---Draw everything anew; the cursor stays on its node, or goes to `focus`.
---@param view octavo.TreeView
---@param focus? string
local function draw(view, focus)
  local windows = vim.fn.win_findbuf(view.buffer)
  local kept = {}
  for _, window in ipairs(windows) do
    local node = view.drawn and view.drawn[vim.api.nvim_win_get_cursor(window)[1] - view.first + 1]
    kept[window] = focus or node and node.id or nil
  end
  local icons = config.get().icons
  local guides = model.guides(view.window.nodes)
  local lines, spans = {}, {}
  local top = model.edge(view.window.hiddenBefore, "before")
  view.first = top and 2 or 1
  if top then
    lines[1], spans[1] = top, { { from = 0, to = #top, group = "OctavoMeta" } }
  end
  for i, node in ipairs(view.window.nodes) do
    lines[#lines + 1], spans[#lines + 1] = model.line(node, guides[i], icons)
  end
  local bottom = model.edge(view.window.hiddenAfter, "after")
  if bottom then
    lines[#lines + 1], spans[#lines + 1] = bottom, { { from = 0, to = #bottom, group = "OctavoMeta" } }
  end
  if #view.window.nodes == 0 then
    lines = { "This session has no entries that pass the filter; `f` chooses another." }
    spans = { { { from = 0, to = #lines[1], group = "OctavoMeta" } } }
  end
  ui.write(view.buffer, 0, -1, lines)
  view.drawn = view.window.nodes
  vim.api.nvim_buf_clear_namespace(view.buffer, namespace, 0, -1)
  for row, list in pairs(spans) do
    for _, span in ipairs(list) do
      vim.api.nvim_buf_set_extmark(view.buffer, namespace, row - 1, span.from, {
        end_col = span.to,
        hl_group = span.group,
      })
    end
  end
  for window, id in pairs(kept) do
    local at = model.find(view.window.nodes, id)
    if at then
      vim.api.nvim_win_set_cursor(window, { at + view.first - 1, 0 })
    end
  end
  winbar(view)
end

---Ask for a window and draw it.
---@param view octavo.TreeView
---@param options { around?: string, size?: integer, join?: boolean, focus?: string|false }
local function load(view, options)
  if view.loading then
    view.again = options
    return
  end
  view.loading = true
  local params = { filter = view.filter, around = options.around, window = options.size or config.get().window }
  view.session:request("session/getTree", params, function(failure, answer)
    view.loading = false
    if not vim.api.nvim_buf_is_valid(view.buffer) then
      return
    end
    if failure then
      ui.fail(failure, "session/getTree", client.server())
    else
      view.answer = answer
      view.window = options.join and model.merge(view.window, answer) or answer
      local leaf
      for _, node in ipairs(answer.nodes) do
        leaf = node.isLeaf and node.id or leaf
      end
      draw(view, options.focus or (not view.placed and leaf) or nil)
      view.placed = true
    end
    local again = view.again
    view.again = nil
    if again then
      load(view, again)
    end
  end)
end

---Read again what is shown, as many nodes around the same place.
---@param view octavo.TreeView
---@param focus? string
function M.refresh(view, focus)
  local size = math.max(config.get().window, #view.window.nodes)
  local middle = view.window.nodes[math.ceil(#view.window.nodes / 2)]
  local around = size > config.get().window and middle and middle.id or nil
  load(view, { around = focus or around, size = math.min(size, 10000), focus = focus })
end

---Load more at an edge.
---@param view octavo.TreeView
---@param where "before"|"after"
function M.more(view, where)
  local nodes = view.window.nodes
  local edge = where == "before" and nodes[1] or nodes[#nodes]
  if edge and not view.loading then
    load(view, { around = edge.id, size = math.min(2 * config.get().window, 10000), join = true })
  end
end

---@param view octavo.TreeView
---@return "before"|"after"?
local function edge_here(view)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  if line < view.first then
    return "before"
  elseif line >= view.first + #view.window.nodes and view.window.hiddenAfter > 0 then
    return "after"
  end
end

---@param view octavo.TreeView
---@param act fun(session: octavo.Session, node: octavo.TreeNode)
local function on_node(view, act)
  return function()
    local node = node_here(view)
    if node then
      act(view.session, node)
    end
  end
end

---@param view octavo.TreeView
---@param step 1|-1
local function to_branch(view, step)
  local at = vim.api.nvim_win_get_cursor(0)[1] - view.first + 1
  local nodes = view.window.nodes
  local i = at + step
  while nodes[i] do
    local before = nodes[i - 1]
    if before and text.present(nodes[i].parentId) ~= before.id or nodes[i].childCount > 1 then
      vim.api.nvim_win_set_cursor(0, { i + view.first - 1, 0 })
      return
    end
    i = i + step
  end
end

---@param view octavo.TreeView
local function maps(view)
  local list
  list = {
    {
      plug = "go",
      keys = "<CR>",
      desc = "go to this entry",
      run = function()
        local edge = edge_here(view)
        if edge then
          M.more(view, edge)
        else
          on_node(view, actions.go)()
        end
      end,
    },
    { plug = "go-summary", keys = "S", desc = "go, summarising what is left", run = on_node(view, actions.go_with_summary) },
    { plug = "label", keys = "L", desc = "label this entry", run = on_node(view, actions.label) },
    { plug = "fork", keys = "F", desc = "fork the session here", run = on_node(view, actions.fork) },
    { plug = "copy-id", keys = "Y", desc = "copy the entry's id", run = on_node(view, actions.copy_id) },
    { plug = "show", keys = "o", desc = "show in the transcript", run = on_node(view, actions.show) },
    { plug = "read", keys = "K", desc = "read the entry whole", run = on_node(view, actions.read) },
    {
      plug = "filter",
      keys = "f",
      desc = "choose what is shown",
      run = function()
        ui.select(filters, "Show", tostring, function(choice)
          M.set_filter(view, choice)
        end)
      end,
    },
    {
      plug = "search",
      keys = "gs",
      desc = "search the whole session",
      run = function()
        actions.search(view.session)
      end,
    },
    {
      plug = "leaf",
      keys = "gl",
      desc = "jump to the leaf",
      run = function()
        load(view, { focus = view.session.info.leafId })
      end,
    },
    {
      plug = "next-branch",
      keys = "]b",
      desc = "next fork or branch",
      run = function()
        to_branch(view, 1)
      end,
    },
    {
      plug = "previous-branch",
      keys = "[b",
      desc = "previous fork or branch",
      run = function()
        to_branch(view, -1)
      end,
    },
    {
      plug = "abort",
      keys = "<C-c>",
      desc = "stop what is running",
      run = function()
        view.session:abort()
      end,
    },
    {
      plug = "refresh",
      keys = "R",
      desc = "read again",
      run = function()
        M.refresh(view)
      end,
    },
    {
      plug = "close",
      keys = "q",
      desc = "close the window",
      run = function()
        pcall(vim.cmd.close)
      end,
    },
    {
      plug = "help",
      keys = "g?",
      desc = "these keys",
      run = function()
        ui.help("Session tree", list)
      end,
    },
  }
  ui.maps(view.buffer, list)
end

---@param view octavo.TreeView
---@param filter octavo.TreeFilter
function M.set_filter(view, filter)
  view.filter = filter
  local node = vim.api.nvim_get_current_buf() == view.buffer and node_here(view) or nil
  load(view, { around = node and node.id, focus = node and node.id })
end

---@param window integer
local function window_options(window)
  local options = vim.wo[window]
  options.wrap, options.number, options.relativenumber, options.cursorline = false, false, false, true
  options.signcolumn, options.foldcolumn, options.list, options.spell = "no", "0", false, false
end

---Show the tree of a session.
---@param session octavo.Session
---@param focus? string Entry to put the cursor on.
---@return octavo.TreeView
function M.open(session, focus)
  local buffer, fresh = ui.buffer("octavo://tree/" .. session.id, "octavo-tree")
  local view = M.views[buffer]
  if fresh or not view then
    view = {
      session = session,
      buffer = buffer,
      window = { nodes = {}, hiddenBefore = 0, hiddenAfter = 0 },
      loading = false,
      first = 1,
    }
    M.views[buffer] = view
    vim.b[buffer].octavo_session = session.id
    maps(view)
    ui.write(buffer, 0, -1, { "Reading the tree…" })
    session:listen(function(event, change)
      if not vim.api.nvim_buf_is_valid(buffer) then
        return
      end
      if event == "reset" then
        M.refresh(view)
      elseif event == "changed" then
        -- Where the session went is worth seeing; what merely grew is not worth a jump.
        M.refresh(view, change.kind == "leaf" and text.present(change.leafId) or nil)
      end
    end)
    vim.api.nvim_create_autocmd("CursorMoved", {
      buffer = buffer,
      callback = function()
        local edge = edge_here(view)
        if edge then
          M.more(view, edge)
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
  local window = ui.show(buffer)
  window_options(window)
  load(view, { around = focus, focus = focus })
  return view
end

return M
