--- Hits of a search in a buffer: `<CR>` goes to the entry in the transcript, also to what compaction archived.
local M = {}

local actions = require("octavo.actions")
local client = require("octavo.client")
local config = require("octavo.config")
local model = require("octavo.tree_model")
local text = require("octavo.text")
local ui = require("octavo.ui")

local namespace = vim.api.nvim_create_namespace("octavo-search")

---A hit as a line, with the bytes of its matches.
---@param hit octavo.SearchHit
---@param icons table<string, string>
---@return string line
---@return { from: integer, to: integer }[] matches
function M.line(hit, icons)
  local where = hit.archived and "archived" or not hit.onBranch and "other branch" or ""
  local prefix = ("%-16s  %-10s %-13s"):format(text.when(hit.timestamp), model.kind(hit, icons), where)
  local snippet = hit.snippet
  local matches = {}
  for _, match in ipairs(hit.matches) do
    local from = vim.str_byteindex(snippet, "utf-16", match.start, false)
    local to = vim.str_byteindex(snippet, "utf-16", match["end"], false)
    table.insert(matches, { from = #prefix + from, to = #prefix + to })
  end
  -- Replacing byte by byte keeps the offsets of the matches.
  return prefix .. snippet:gsub("%c", " "), matches
end

---@param session octavo.Session
---@param query string
---@param options { scope?: string, regex?: boolean, caseSensitive?: boolean }
function M.open(session, query, options)
  local hits, cursor = {}, nil
  local buffer = ui.buffer("octavo://search/" .. session.id, "octavo-search")
  vim.b[buffer].octavo_session = session.id
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  ui.write(buffer, 0, -1, { "Searching…" })
  local loading = false
  local function more()
    if loading then
      return
    end
    loading = true
    local params = vim.tbl_extend("force", { scope = "tree" }, options, { query = query, limit = 200, cursor = cursor })
    session:request("session/search", params, function(failure, result)
      loading = false
      if not vim.api.nvim_buf_is_valid(buffer) then
        return
      end
      if failure then
        ui.write(buffer, 0, -1, { require("octavo.errors").sentence(failure, "session/search", client.server()) })
        ui.fail(failure, "session/search", client.server())
        return
      end
      cursor = text.present(result.nextCursor)
      local first = #hits
      vim.list_extend(hits, result.hits)
      local lines, marks = {}, {}
      for i, hit in ipairs(result.hits) do
        lines[i], marks[i] = M.line(hit, config.get().icons)
      end
      if cursor then
        table.insert(lines, "⋯ more (<CR> loads them)")
      elseif #hits == 0 then
        lines = { ("Nothing says %q here."):format(query) }
      end
      ui.write(buffer, first, -1, lines)
      for i, list in ipairs(marks) do
        for _, match in ipairs(list) do
          vim.api.nvim_buf_set_extmark(buffer, namespace, first + i - 1, match.from, {
            end_col = match.to,
            hl_group = "OctavoMatch",
          })
        end
      end
      for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
        vim.wo[window].winbar = (" %s for %s %%=<CR> goes there · K reads "):format(
          text.plural(#hits, "hit") .. (cursor and " and more" or ""),
          (query:gsub("%%", "%%%%"))
        )
      end
    end)
  end
  local function on_hit(act)
    return function()
      local line = vim.api.nvim_win_get_cursor(0)[1]
      local hit = hits[line]
      if hit then
        act(session, { id = hit.entryId, onBranch = hit.onBranch })
      elseif cursor and line == #hits + 1 then
        more()
      end
    end
  end
  ui.maps(buffer, {
    { plug = "show", keys = "<CR>", desc = "show in the transcript", run = on_hit(actions.show) },
    { plug = "read", keys = "K", desc = "read the entry whole", run = on_hit(actions.read) },
    { plug = "go-here", keys = "gh", desc = "go to this entry", run = on_hit(actions.go) },
    { plug = "copy-id", keys = "Y", desc = "copy the entry's id", run = on_hit(actions.copy_id) },
    {
      plug = "tree",
      keys = "gt",
      desc = "show in the tree",
      run = on_hit(function(_, node)
        require("octavo.tree").open(session, node.id)
      end),
    },
    {
      plug = "close",
      keys = "q",
      desc = "close the window",
      run = function()
        pcall(vim.cmd.close)
      end,
    },
  })
  local window = ui.show(buffer)
  vim.wo[window].wrap, vim.wo[window].number, vim.wo[window].cursorline = false, false, true
  more()
end

return M
