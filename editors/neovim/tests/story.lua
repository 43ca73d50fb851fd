--- The story of a user with a session of a thousand entries, from opening it to a server that dies and comes back.
local h = require("harness")
local make_session = require("make_session")

local SUMMARY = "## Goal\nKeep every seventh sample of the buoy feed.\n\n## Progress\n### Done\n- [x] The reader was found to skip a slot.\n\n## Next Steps\n1. Write the test for the leap second.\n"

return function()
  local model = require("model_server").start(SUMMARY)
  vim.lsp.config("octavo", {
    init_options = {
      models = {
        { provider = "local", id = "small", api = "openai-completions", contextWindow = 100000, baseUrl = model.url },
      },
    },
  })
  local path = vim.fs.joinpath(h.tmp, "thousand.jsonl")
  local made = make_session.write(path, { entries = 1001, model = "local/small" })
  local progress = {}
  vim.api.nvim_create_autocmd("LspProgress", {
    callback = function(event)
      table.insert(progress, event.data.params.value.kind)
    end,
  })
  local session, tree

  h.check("a session opens by file and shows its tree, the cursor on the leaf", function()
    vim.cmd("silent! only | enew")
    vim.cmd("Octavo open " .. path)
    h.wait("the tree", function()
      return vim.bo.filetype == "octavo-tree" and h.line_with("◆")
    end)
    session = require("octavo").session()
    tree = vim.api.nvim_get_current_buf()
    vim.cmd.resize(30)
    h.equal(vim.fn.line("."), h.line_with("◆"))
    h.has(h.lines()[1], "above (<CR> loads them)")
    h.has(vim.wo.winbar, "1,000 entries")
    h.wait("the measure", function()
      return session.usage
    end)
    local line = require("octavo").statusline()
    h.has(line, "█")
    h.has(line, "%")
    vim.o.statusline = " %f %= octavo %{v:lua.require'octavo'.statusline()} "
    vim.o.laststatus = 2
    h.dump("01-tree")
  end)

  h.check("the tree grows at its edge until the first entry is there", function()
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    h.press("<CR>")
    h.wait("the first message", function()
      return h.line_with("(round 1)")
    end)
    assert(not h.lines()[1]:find("⋯"), h.lines()[1])
    assert(vim.api.nvim_buf_line_count(0) >= 990, vim.api.nvim_buf_line_count(0))
    local seen = {}
    for _, line in ipairs(h.lines()) do
      local round = line:match("you .*%(round (%d+)%)")
      if round then
        assert(not seen[round], "twice: " .. line)
        seen[round] = true
      end
    end
  end)

  h.check("a filter is chosen and the cursor stays near", function()
    h.choices = { "user-only" }
    h.press("f")
    h.wait("fewer lines", function()
      return vim.api.nvim_buf_line_count(0) < 200
    end)
    assert(not h.line_with("agent"))
    h.dump("02-tree-user-only")
    vim.cmd("Octavo tree default")
    h.wait("all lines", function()
      return h.line_with("agent")
    end)
  end)

  h.check("the transcript shows the end first, folds tool calls, and grows at its top", function()
    vim.cmd("Octavo transcript")
    h.wait("the transcript", function()
      return vim.bo.filetype == "octavo-transcript" and h.line_with("is done")
    end)
    vim.cmd.resize(30)
    h.has(h.lines()[1], "above (<CR> loads them)")
    local call = h.line_with("▸ bash")
    assert(vim.fn.foldclosed(call) == call, "the call is not folded")
    assert(vim.fn.foldclosedend(call) > call)
    h.dump("03-transcript")
    local before = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    h.press("<CR>")
    h.wait("older entries", function()
      return vim.api.nvim_buf_line_count(0) > before
    end)
    assert(vim.fn.foldclosed(h.line_with("▸ bash")) > 0)
    vim.cmd("quit")
  end)

  h.check("an entry gets a label, and the tree shows it", function()
    vim.api.nvim_set_current_win(vim.fn.bufwinid(tree))
    h.answers = { "before the map" }
    require("octavo.tree").open(session, made.users[100].id)
    h.cursor_to("(round 100)")
    h.press("L")
    h.wait("the label", function()
      return h.line_with("[before the map]")
    end)
  end)

  h.check("going back to an old message with a summary writes a branch and offers its text", function()
    h.forget()
    vim.api.nvim_set_current_win(vim.fn.bufwinid(tree))
    require("octavo.tree").open(session, made.users[20].id)
    h.cursor_to("(round 20)")
    local offered
    vim.api.nvim_create_autocmd("User", {
      pattern = "OctavoEditorText",
      callback = function(event)
        offered = event.data.text
      end,
    })
    h.press("S")
    h.wait_told("unnamed register", 60000)
    assert(model.asked >= 1, "the model was not asked")
    h.equal(vim.fn.getreg('"'), made.users[20].text)
    h.equal(offered, made.users[20].text)
    h.wait("the branch in the tree", function()
      local line = h.line_with("◆", tree)
      return line and h.lines(tree)[line]:find("branch", 1, true)
    end)
    h.dump("04-navigated")
  end)

  h.check("a compaction is stopped half-way: the end is told, though Neovim drops the answer", function()
    h.forget()
    -- Back to the long branch, where there is something to compact.
    vim.cmd("Octavo navigate " .. made.ids[#made.ids])
    h.wait_told("You are there")
    local before = vim.fn.readblob(path)
    h.forget()
    model.silent = true
    local asked = model.asked
    progress = {}
    vim.cmd("Octavo compact context-full")
    h.wait("the model being asked", function()
      return model.asked > asked
    end)
    h.wait("the gauge", function()
      return require("octavo").statusline():find("compacting", 1, true)
    end)
    h.dump("05-compacting")
    vim.cmd("Octavo abort")
    h.wait_told("The compaction was stopped; nothing was written.")
    h.wait("the request being over", function()
      return session.handle == nil
    end)
    h.wait("the connection to the model being given up", function()
      return model.open == 0
    end)
    h.equal(vim.fn.readblob(path), before, "the file")
    h.wait("LspProgress", function()
      return progress[1] == "begin" and progress[#progress] == "end"
    end)
    for _, told in ipairs(h.told) do
      assert(told.level ~= vim.log.levels.ERROR, told.message)
    end
    model.silent = false
    h.dump("06-stopped")
  end)

  h.check("$/cancelRequest by the handle ends it the same way", function()
    h.forget()
    model.silent = true
    local asked = model.asked
    vim.cmd("Octavo compact context-full")
    h.wait("the model being asked", function()
      return model.asked > asked
    end)
    session.handle.cancel()
    h.wait_told("The compaction was stopped; nothing was written.")
    h.wait("the request being over", function()
      return session.handle == nil
    end)
    model.silent = false
  end)

  h.check("a compaction is written and tells its figures", function()
    h.forget()
    vim.cmd("Octavo compact extractive")
    h.wait_told("Compacted:")
    h.wait("the leaf in the tree", function()
      local line = h.line_with("◆", tree)
      return line and h.lines(tree)[line]:find("compacted", 1, true)
    end)
    h.dump("07-compacted")
  end)

  h.check("the divider stands in the transcript and opens to the summary", function()
    vim.cmd("Octavo transcript")
    local line = h.wait("the divider", function()
      return h.line_with("compacted here")
    end)
    vim.cmd.resize(30)
    assert(vim.fn.foldclosed(line) == line, "the divider is open")
    local signs = vim.api.nvim_buf_get_extmarks(0, -1, { line - 1, 0 }, { line - 1, -1 }, { details = true })
    local signed = vim.iter(signs):any(function(mark)
      return mark[4].sign_text ~= nil
    end)
    assert(signed, "no sign at the divider")
    vim.api.nvim_win_set_cursor(0, { line, 0 })
    h.dump("08-divider")
    h.press("<CR>")
    h.wait("the open divider", function()
      return vim.fn.foldclosed(line) == -1
    end)
    h.has(h.lines()[line + 1], "## ")
    vim.cmd("normal! zt")
    h.dump("09-divider-open")
    vim.cmd("quit")
  end)

  h.check("undo goes back to before it", function()
    h.forget()
    vim.cmd("Octavo undo")
    h.wait_told("The compaction is undone")
    h.dump("10-undone")
  end)

  h.check("the plan shows strategies and prices", function()
    vim.cmd("only")
    vim.cmd("Octavo preview")
    h.wait("the plan", function()
      return h.line_with("extractive")
    end)
    h.has(h.lines(), "Kept word for word")
    h.has(h.lines(), "not now:")
    h.dump("11-plan")
  end)

  h.check("a held summary is read, edited and written with :w", function()
    h.forget()
    h.cursor_to("extractive")
    h.press("<CR>")
    h.wait("the held summary", function()
      return vim.api.nvim_buf_get_name(0):find("octavo://summary/", 1, true)
    end)
    h.dump("12-held")
    -- As after a restart of the editor: nothing here knows of the summary any more.
    local first = vim.api.nvim_buf_get_lines(0, 0, -1, false)
    require("octavo.preview").forget(vim.b.octavo_operation)
    vim.cmd("Octavo preview")
    h.wait("the held summary again", function()
      return vim.api.nvim_buf_get_name(0):find("octavo://summary/", 1, true)
    end)
    h.equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), first)
    vim.api.nvim_buf_set_lines(0, -1, -1, false, { "", "The tea is in the second drawer." })
    assert(vim.bo.modified)
    vim.cmd("write")
    h.wait_told("Written:")
    local branch = h.ask(session, "session/getBranch", { order = "newestFirst", limit = 1 })
    h.has(branch.entries[1].summary, "second drawer")
    h.dump("13-applied")
  end)

  h.check("frames become files that the divider names", function()
    h.forget()
    vim.cmd("Octavo undo")
    h.wait_told("undone")
    local eyes = { provider = "local", id = "eyes", contextWindow = 100000, inputs = { "text", "image" } }
    local registered
    require("octavo.client").request("model/register", { models = { eyes } }, function(failure)
      registered = failure or true
    end)
    h.wait("the model", function()
      return registered
    end)
    h.equal(registered, true)
    h.ask(session, "session/setModel", { model = "local/eyes" })
    vim.cmd("Octavo compact snapcompact")
    h.wait_told("Compacted:", 60000)
    vim.cmd("Octavo transcript")
    local line = h.wait("the divider", function()
      local at = h.line_with("━━ compacted here")
      return at and h.lines()[at]:find("frame") and at
    end)
    vim.api.nvim_win_set_cursor(0, { line, 0 })
    h.press("<CR>")
    local at = h.wait("the path of a frame", function()
      return h.line_with(".png")
    end)
    local file = assert(io.open(vim.trim(h.lines()[at]), "rb"))
    h.equal(file:read(4), "\137PNG")
    file:close()
    vim.cmd("normal! zt")
    h.dump("14-frames")
    vim.cmd("quit")
  end)

  h.check("what was archived is found and shown", function()
    vim.cmd("Octavo search -archived zirconium")
    h.wait("a hit", function()
      return vim.bo.filetype == "octavo-search" and h.line_with("archived")
    end)
    h.dump("15-search")
    h.press("<CR>")
    h.wait("the place in the transcript", function()
      return vim.bo.filetype == "octavo-transcript" and vim.fn.getline(".") ~= "" and h.line_with("zirconium")
    end)
    h.wait("the cursor on it", function()
      local line = h.line_with("zirconium")
      return math.abs(vim.fn.line(".") - line) <= 1
    end)
    h.dump("16-found")
  end)

  h.check("a change by another client is followed in both views", function()
    local branch = h.ask(session, "session/append", {
      messages = { { role = "user", content = "A word from elsewhere: marzipan." } },
    })
    h.wait("the transcript", function()
      return h.line_with("marzipan", vim.fn.bufnr("octavo://transcript/" .. session.id))
    end)
    h.wait("the tree", function()
      return h.line_with("marzipan", tree)
    end)
    assert(branch.leafId)
  end)

  h.check("the server is killed and comes back; views and commands go on", function()
    h.forget()
    h.kill_server()
    h.wait_told("The server stopped")
    h.dump("17-lost")
    h.wait_told("is open again", 30000)
    vim.cmd("Octavo status")
    h.wait_told("context ")
    h.forget()
    h.ask(session, "session/append", { messages = { { role = "user", content = "After the fall: nougat." } } })
    h.wait("the transcript", function()
      return h.line_with("nougat", vim.fn.bufnr("octavo://transcript/" .. session.id))
    end)
    h.dump("18-back")
  end)

  h.check("a server killed in the middle of a compaction leaves the session whole and says so", function()
    h.forget()
    h.ask(session, "session/undoCompaction", {})
    h.ask(session, "session/setModel", { model = "local/small" })
    model.silent = true
    local asked = model.asked
    vim.cmd("Octavo compact context-full")
    h.wait("the model being asked", function()
      return model.asked > asked
    end)
    h.kill_server()
    h.wait_told("The server stopped")
    h.wait_told("is open again", 30000)
    h.equal(session.operation, nil)
    model.silent = false
  end)

  h.check("commands complete", function()
    h.equal(vim.fn.getcompletion("Octavo tr", "cmdline"), { "transcript", "tree" })
    h.equal(vim.fn.getcompletion("Octavo compact sn", "cmdline"), { "snapcompact" })
    h.equal(vim.fn.getcompletion("Octavo search -a", "cmdline"), { "-archived" })
  end)
end
