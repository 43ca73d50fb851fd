--- What can be done to an entry or a session, shared by the views and the commands. Each asks the server and tells.
local M = {}

local client = require("octavo.client")
local text = require("octavo.text")
local ui = require("octavo.ui")

---@param method string
---@param done fun(result: any)
local function or_fail(method, done)
  return function(failure, result)
    if failure then
      ui.fail(failure, method, client.server())
    else
      done(result)
    end
  end
end

---The text of a message gone back to is put where it can be used: the unnamed register, the clipboard, an event.
---@param session octavo.Session
---@param words string
local function offer_text(session, words)
  vim.fn.setreg('"', words)
  if vim.fn.has("clipboard") == 1 then
    vim.fn.setreg("+", words)
  end
  session.editor_text = words
  vim.api.nvim_exec_autocmds("User", {
    pattern = "OctavoEditorText",
    data = { sessionId = session.id, text = words },
    modeline = false,
  })
end

---@param session octavo.Session
---@param id string
---@param params table<string, any>
function M.navigate(session, id, params)
  params = vim.tbl_extend("keep", { targetId = id }, params)
  session:run("session/navigateTree", params, function(result)
    if result.cancelled then
      if not result.aborted then
        ui.say("You are where you were; a hook kept you there.")
      end
      return
    end
    local words = text.present(result.editorText)
    if words then
      offer_text(session, words)
      ui.say("You are before that message; its text is in the unnamed register (p puts it).")
    else
      ui.say(result.summaryEntry and "You are there, with a summary of what was left." or "You are there.")
    end
  end)
end

---@param session octavo.Session
---@param node { id: string }
function M.go(session, node)
  M.navigate(session, node.id, {})
end

---@param session octavo.Session
---@param node { id: string }
function M.go_with_summary(session, node)
  M.navigate(session, node.id, { summarize = true })
end

---@param session octavo.Session
---@param node octavo.TreeNode
function M.label(session, node)
  ui.input("Label (empty removes it): ", text.present(node.label) or "", function(label)
    session:request("session/setLabel", { targetId = node.id, label = label }, or_fail("session/setLabel", function() end))
  end)
end

---@param session octavo.Session
---@param node { id: string }
function M.fork(session, node)
  session:request(
    "session/fork",
    { entryId = node.id },
    or_fail("session/fork", function(info)
      local fork = require("octavo.session").adopt(info)
      ui.say("The fork is " .. (text.present(info.path) or info.sessionId) .. ".")
      require("octavo.tree").open(fork)
    end)
  )
end

---@param _ octavo.Session
---@param node { id: string }
function M.copy_id(_, node)
  vim.fn.setreg('"', node.id)
  if vim.fn.has("clipboard") == 1 then
    vim.fn.setreg("+", node.id)
  end
  ui.say("Copied " .. node.id .. ".")
end

---@param session octavo.Session
---@param node { id: string, onBranch?: boolean }
function M.show(session, node)
  if node.onBranch == false then
    M.read(session, node)
  else
    require("octavo.transcript").open(session, node.id)
  end
end

---One entry whole, in a buffer of its own.
---@param session octavo.Session
---@param node { id: string }
function M.read(session, node)
  session:request(
    "session/getEntries",
    { ids = { node.id } },
    or_fail("session/getEntries", function(result)
      local entry = result.entries[1]
      if not entry then
        ui.say("The entry " .. node.id .. " is not there any more.", vim.log.levels.WARN)
        return
      end
      local block = require("octavo.transcript_model").block(entry, {
        clip = math.huge,
        icons = require("octavo.config").get().icons,
        frames = require("octavo.frames").save(session.id, entry),
        raw = true,
      })
      local buffer = ui.buffer("octavo://entry/" .. session.id .. "/" .. node.id, "octavo-entry")
      vim.b[buffer].octavo_session = session.id
      ui.write(buffer, 0, -1, block.lines)
      ui.maps(buffer, {
        {
          plug = "close",
          keys = "q",
          desc = "close the window",
          run = function()
            pcall(vim.cmd.close)
          end,
        },
      })
      ui.show(buffer)
    end)
  )
end

---@param session octavo.Session
---@param query? string
---@param options? table<string, any>
function M.search(session, query, options)
  if query and query ~= "" then
    require("octavo.search").open(session, query, options or {})
  else
    ui.input("Search the session: ", "", function(words)
      if vim.trim(words) ~= "" then
        require("octavo.search").open(session, vim.trim(words), options or {})
      end
    end)
  end
end

---Go somewhere by choosing a message of the user.
---@param session octavo.Session
---@param summarize boolean
function M.choose(session, summarize)
  session:request(
    "session/getTree",
    { filter = "user-only", window = 2000 },
    or_fail("session/getTree", function(result)
      local nodes = {}
      for i = #result.nodes, 1, -1 do
        table.insert(nodes, result.nodes[i])
      end
      if #nodes == 0 then
        ui.say("There is no message of yours to go to.")
        return
      end
      ui.select(nodes, summarize and "Go to, with a summary" or "Go to", function(node)
        return text.when(node.timestamp) .. "  " .. text.flat(node.text)
      end, function(node)
        M.navigate(session, node.id, { summarize = summarize or nil })
      end)
    end)
  )
end

---@param session octavo.Session
function M.undo(session)
  session:request(
    "session/undoCompaction",
    {},
    or_fail("session/undoCompaction", function(result)
      ui.say(("The compaction is undone; the context has %s tokens."):format(text.short(result.tokens)))
    end)
  )
end

---Say what it would free, then do it.
---@param session octavo.Session
---@param mode? string
function M.prune(session, mode)
  local params = { mode = mode, dryRun = true }
  session:request(
    "session/prune",
    params,
    or_fail("session/prune", function(plan)
      if plan.prunedCount == 0 then
        ui.say("There is nothing to prune.")
        return
      end
      ui.offer(("%s would go, %s tokens."):format(text.plural(plan.prunedCount, "tool result"), text.short(plan.tokensSaved)), {
        {
          label = "Prune them",
          run = function()
            session:request(
              "session/prune",
              { mode = mode },
              or_fail("session/prune", function(done)
                ui.say(("Pruned %s, %s tokens."):format(text.plural(done.prunedCount, "tool result"), text.short(done.tokensSaved)))
              end)
            )
          end,
        },
        { label = "Leave everything as it is", run = function() end },
      })
    end)
  )
end

---@param session octavo.Session
---@param mode? string
function M.shake(session, mode)
  session:request(
    "session/shake",
    { mode = mode, dryRun = true },
    or_fail("session/shake", function(plan)
      local pieces = plan.toolResultsDropped + plan.blocksDropped + plan.imagesDropped
      if pieces == 0 then
        ui.say("There is nothing bulky to move out.")
        return
      end
      ui.offer(("%s would move out of the context, %s tokens."):format(text.plural(pieces, "piece"), text.short(plan.tokensFreed)), {
        {
          label = "Move them into an artifact",
          run = function()
            session:run("session/shake", { mode = mode }, function(done)
              ui.say(("Freed %s tokens; the text is kept as artifact %s."):format(text.short(done.tokensFreed), done.artifactId or "?"))
            end)
          end,
        },
        { label = "Leave everything as it is", run = function() end },
      })
    end)
  )
end

---@param session octavo.Session
---@param instructions? string
function M.handoff(session, instructions)
  session:run("session/handoff", { customInstructions = instructions }, function(result)
    local info = text.present(result.newSession)
    if not text.present(result.document) then
      ui.say("The model wrote no handoff.", vim.log.levels.WARN)
      return
    end
    local buffer = ui.buffer("octavo://handoff/" .. session.id, "markdown")
    ui.write(buffer, 0, -1, text.lines(result.document))
    ui.show(buffer)
    if info then
      local successor = require("octavo.session").adopt(info)
      vim.b[buffer].octavo_session = successor.id
      ui.say("The session goes on in " .. (text.present(info.path) or info.sessionId) .. ".")
    end
  end)
end

---@param session octavo.Session
function M.status(session)
  local usage = session.usage
  local lines = { session:title() }
  local info = session.info
  table.insert(lines, ("  %s, %s, %s"):format(
    text.plural(info.entryCount, "entry", "entries"),
    text.present(info.model) or "no model chosen",
    info.mode == "read" and "read-only" or "writable"
  ))
  if usage then
    local percent = text.present(usage.percent)
    table.insert(lines, ("  context %s of %s tokens%s"):format(
      text.short(usage.tokens),
      usage.contextWindow > 0 and text.short(usage.contextWindow) or "?",
      percent and (" (%.0f%%)"):format(percent) or ""
    ))
    for _, part in ipairs({ "system", "tools", "summary", "frames", "user", "assistant", "toolResults" }) do
      local tokens = usage.breakdown[part] or 0
      if tokens > 0 then
        table.insert(lines, ("    %-12s %s"):format(part, text.short(tokens)))
      end
    end
  end
  local operation = session.operation
  table.insert(lines, operation and ("  %s… (:Octavo abort stops it)"):format(operation.verb) or "  nothing is running")
  vim.notify(table.concat(lines, "\n"), vim.log.levels.INFO, { title = "octavo" })
end

return M
