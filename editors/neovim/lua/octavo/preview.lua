--- Compaction with a look at it first: the plan with its prices, then the held summary to read, edit, apply or discard.
local M = {}

local client = require("octavo.client")
local text = require("octavo.text")
local ui = require("octavo.ui")

local namespace = vim.api.nvim_create_namespace("octavo-plan")

---@type table<string, integer> Buffer of each held operation.
M.held = {}

---The plan as lines; the second list names the strategy a line belongs to.
---@param plan octavo.PrepareCompactionResult
---@return string[] lines
---@return table<integer, string> strategies
function M.lines(plan)
  local lines, strategies = {}, {}
  local function add(format, ...)
    table.insert(lines, select("#", ...) > 0 and format:format(...) or format)
  end
  add("# What a compaction would do")
  add("")
  if not plan.possible then
    local reasons = {
      ["already-compacted"] = "The last entry is a compaction already; say something first, or undo it.",
      ["nothing-to-compact"] = "The session is too small to compact.",
    }
    add("Nothing: %s", reasons[plan.reason] or tostring(plan.reason or "the server gives no reason."))
    return lines, strategies
  end
  local window = plan.contextWindow > 0 and (" of " .. text.short(plan.contextWindow)) or ""
  add("The context has %s%s tokens.", text.short(plan.tokensBefore), window)
  for _, part in ipairs({ { "summarized", "Summarised" }, { "turnPrefix", "Begun turn" }, { "kept", "Kept word for word" } }) do
    local span = text.present(plan[part[1]])
    if span then
      add("  %-20s %6s tokens in %s", part[2], text.short(span.tokens), text.plural(span.messages, "message"))
    end
  end
  local read, modified = plan.files.readFiles, plan.files.modifiedFiles
  add("  %-20s %s read, %s changed", "Files remembered", text.count(#read), text.count(#modified))
  add("")
  add("<CR> on a line makes the summary and holds it for you to read; nothing is written yet.")
  add("")
  add("  %-14s %10s %8s %8s  %s", "strategy", "afterwards", "calls", "price", "")
  for _, strategy in ipairs(plan.strategies) do
    if strategy.available then
      local notes = {}
      if strategy.frames > 0 then
        table.insert(notes, text.plural(strategy.frames, "frame"))
      end
      if text.present(strategy.model) then
        table.insert(notes, strategy.model)
      end
      if not strategy.fits then
        table.insert(notes, "stays above the threshold")
      end
      local cost = text.present(strategy.cost)
      add(
        "%s %-14s %10s %8d %8s  %s",
        strategy.chosen and "●" or "○",
        strategy.strategy,
        text.short(strategy.tokensAfter),
        strategy.modelCalls,
        strategy.modelCalls == 0 and "free" or cost and ("$%.2f"):format(cost) or "unknown",
        table.concat(notes, ", ")
      )
      strategies[#lines] = strategy.strategy
    else
      add("  %-14s not now: %s", strategy.strategy, tostring(strategy.unavailableReason or "unavailable"))
    end
  end
  return lines, strategies
end

---@param session octavo.Session
---@param operation string
function M.discard(session, operation)
  session:request("session/discardCompaction", { operationId = operation }, function(failure)
    if failure then
      ui.fail(failure, "session/discardCompaction", client.server())
    else
      ui.say("The held summary is discarded; nothing was written.")
    end
    M.forget(operation)
  end)
end

---@param operation string
function M.forget(operation)
  local buffer = M.held[operation]
  M.held[operation] = nil
  if buffer and vim.api.nvim_buf_is_valid(buffer) then
    vim.api.nvim_buf_delete(buffer, { force = true })
  end
end

---Write a held summary into the session, as it stands in its buffer.
---@param session octavo.Session
---@param operation string
function M.apply(session, operation)
  local buffer = M.held[operation]
  local params = { operationId = operation }
  if buffer and vim.b[buffer].octavo_summary then
    local words = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
    if words ~= vim.b[buffer].octavo_summary then
      params.summary = words
    end
  end
  session:request("session/applyCompaction", params, function(failure, result)
    if failure then
      ui.fail(failure, "session/applyCompaction", client.server())
      return
    end
    if buffer and vim.api.nvim_buf_is_valid(buffer) then
      vim.bo[buffer].modified = false
    end
    M.forget(operation)
    local repaired = {}
    for _, check in ipairs(result.checks) do
      if check.repaired then
        table.insert(repaired, check.name)
      end
    end
    local note = #repaired > 0 and (" Repaired: " .. table.concat(repaired, ", ") .. ".") or ""
    ui.say(("Written: %s → %s tokens.%s"):format(text.short(result.tokensBefore), text.short(result.tokensAfter), note))
  end)
end

---Show a held summary; `:w` writes it into the session, `:Octavo discard` drops it.
---@param session octavo.Session
---@param result octavo.CompactionResult
function M.show(session, result)
  local operation = result.operationId
  local buffer = ui.buffer("octavo://summary/" .. operation, "markdown")
  M.held[operation] = buffer
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden = "acwrite", "hide"
  vim.bo[buffer].modifiable, vim.bo[buffer].undolevels = true, -123456
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, text.lines(result.summary))
  vim.bo[buffer].undolevels = vim.go.undolevels
  vim.bo[buffer].modified = false
  vim.b[buffer].octavo_session, vim.b[buffer].octavo_operation = session.id, operation
  vim.b[buffer].octavo_summary = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function()
      M.apply(session, operation)
    end,
  })
  vim.api.nvim_create_autocmd("BufDelete", {
    buffer = buffer,
    callback = function()
      if M.held[operation] then
        M.held[operation] = nil
        ui.offer("The summary is still held.", {
          {
            label = "Discard it",
            run = function()
              M.discard(session, operation)
            end,
          },
          {
            label = "Write it into the session",
            run = function()
              M.apply(session, operation)
            end,
          },
        })
      end
    end,
  })
  local window = ui.show(buffer)
  vim.wo[window].wrap, vim.wo[window].linebreak = true, true
  vim.wo[window].winbar = (" Held summary · %s → %s tokens %%=:w writes it · :Octavo discard drops it "):format(
    text.short(result.tokensBefore),
    text.short(result.tokensAfter)
  )
end

---Make a summary and hold it.
---@param session octavo.Session
---@param params table<string, any>
function M.hold(session, params)
  params.hold = true
  session:run("session/compact", params, function(result)
    M.show(session, result)
  end)
end

---Show the summary that is held, also one that another client or an earlier Neovim made.
---@param session octavo.Session
---@param operation string
function M.again(session, operation)
  local buffer = M.held[operation]
  if buffer and vim.api.nvim_buf_is_valid(buffer) then
    ui.show(buffer)
    return
  end
  session:request("session/getHeldCompaction", { operationId = operation }, function(failure, result)
    if failure then
      ui.fail(failure, "session/getHeldCompaction", client.server())
    else
      M.show(session, result)
    end
  end)
end

---Show what each strategy would do and cost.
---@param session octavo.Session
---@param params table<string, any> Strategy and instructions.
function M.plan(session, params)
  session:request("session/prepareCompaction", vim.deepcopy(params), function(failure, plan)
    if failure then
      ui.fail(failure, "session/prepareCompaction", client.server())
      return
    end
    local buffer = ui.buffer("octavo://plan/" .. session.id, "octavo-plan")
    vim.b[buffer].octavo_session = session.id
    local lines, strategies = M.lines(plan)
    ui.write(buffer, 0, -1, lines)
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
    vim.api.nvim_buf_set_extmark(buffer, namespace, 0, 0, { end_col = #lines[1], hl_group = "OctavoUser" })
    for line in pairs(strategies) do
      vim.api.nvim_buf_set_extmark(buffer, namespace, line - 1, 0, { end_col = #lines[line], hl_group = "OctavoAgent" })
    end
    ui.maps(buffer, {
      {
        plug = "hold",
        keys = "<CR>",
        desc = "make this summary and hold it",
        run = function()
          local strategy = strategies[vim.api.nvim_win_get_cursor(0)[1]]
          if strategy then
            M.hold(session, vim.tbl_extend("force", params, { strategy = strategy }))
          end
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
    })
    local window = ui.show(buffer)
    vim.wo[window].winbar = (" %s %%=q closes "):format((session:title():gsub("%%", "%%%%")))
    for i = 1, #lines do
      if strategies[i] and lines[i]:find("^●") then
        vim.api.nvim_win_set_cursor(window, { i, 0 })
      end
    end
  end)
end

return M
