--- An open session as the editor follows it: what the server said of it, how full it is, what is being done to it.
--- It counts the changes and catches up after gaps; views listen to it and ask it for windows.
local M = {}

local client = require("octavo.client")
local errors = require("octavo.errors")
local text = require("octavo.text")
local ui = require("octavo.ui")

---@class octavo.Operation
---@field id string
---@field verb string "compacting", "summarising", "handing off"
---@field started integer ms
---@field phase? string
---@field percentage? integer
---@field abort string Method that stops it.

---@class octavo.Session
---@field id string
---@field info octavo.SessionInfo
---@field usage? octavo.ContextUsage
---@field operation? octavo.Operation
---@field ended integer Runs that have ended since it was opened.
---@field handle? octavo.Handle Request of the running operation, when it is ours.
---@field private listeners fun(event: string, payload: any)[]
local Session = {}
Session.__index = Session

---@type table<string, octavo.Session>
M.all = {}
---@type string?
M.last = nil

---@return octavo.Session?
function M.current()
  local id = vim.b.octavo_session or M.last
  return id and M.all[id] or nil
end

---@param listener fun(event: string, payload: any)
function Session:listen(listener)
  table.insert(self.listeners, listener)
end

---@param event "changed"|"reset"|"operation"|"usage"|"lost"
---@param payload? any
function Session:tell(event, payload)
  for _, listener in ipairs(self.listeners) do
    listener(event, payload)
  end
  vim.cmd.redrawstatus({ bang = true })
end

---@return string
function Session:title()
  return text.present(self.info.title) or vim.fs.basename(text.present(self.info.path) or self.id)
end

---Ask about this session. A server that has forgotten it (it was started anew) is told of it again, once.
---@param method string
---@param params table<string, any>
---@param callback fun(failure: octavo.Failure?, result: any)
---@param options? { progress?: boolean }
---@return octavo.Handle
function Session:request(method, params, callback, options)
  params.sessionId = self.id
  local inner
  local outer = client.request(method, params, function(failure, result)
    if failure and failure.kind == "session-not-found" and text.present(self.info.path) then
      self:reattach(function(again)
        if again then
          callback(again)
        else
          inner = client.request(method, params, callback)
        end
      end)
      return
    end
    callback(failure, result)
  end, options)
  return {
    token = outer.token,
    cancel = function()
      (inner or outer).cancel()
    end,
  }
end

---@param info octavo.SessionInfo
function Session:take(info)
  self.info = info
  self.seq, self.epoch = info.seq, info.epoch
end

---Measure the context; runs once more if asked to while it runs.
function Session:measure()
  if self.measuring then
    self.measure_again = true
    return
  end
  self.measuring = true
  self:request("session/contextUsage", {}, function(failure, usage)
    self.measuring = false
    if not failure then
      self.usage = usage
      self:tell("usage", usage)
    end
    if self.measure_again then
      self.measure_again = false
      self:measure()
    end
  end)
end

---@param change octavo.Change
function Session:apply(change)
  self.seq = change.seq
  self.info.seq = change.seq
  self.info.leafId = change.leafId
  if change.kind == "title" and change.title then
    self.info.title = change.title
  end
  self:tell("changed", change)
end

---Read what was missed.
function Session:catch_up()
  if self.catching then
    self.catch_again = true
    return
  end
  self.catching = true
  local known = { sinceSeq = self.seq, epoch = self.epoch, limit = 1 }
  self:request("session/getEntries", known, function(failure, result)
    self.catching = false
    if failure then
      return
    end
    if result.reset or result.epoch ~= self.epoch then
      self.seq, self.epoch = result.seq, result.epoch
      self.info.leafId = result.leafId
      self:tell("reset")
    else
      for _, change in ipairs(result.changes) do
        if change.seq > self.seq then
          self:apply(change)
        end
      end
    end
    self:measure()
    if self.catch_again then
      self.catch_again = false
      self:catch_up()
    end
  end)
end

---Open it again after the server was lost.
---@param done? fun(failure: octavo.Failure?)
function Session:reattach(done)
  local path = text.present(self.info.path)
  if not path then
    M.all[self.id] = nil
    ui.say("The session lived in the memory of the server that stopped, and is gone.", vim.log.levels.WARN)
    return
  end
  client.request("session/open", { path = path, mode = self.info.mode }, function(failure, info)
    if failure then
      ui.fail(failure, "session/open", client.server())
    else
      local same = info.epoch == self.epoch
      local seq = self.seq
      self.info = info
      if same then
        self.seq = seq
        self:catch_up()
      else
        self:take(info)
        self:tell("reset")
        self:measure()
      end
    end
    if done then
      done(failure)
    end
  end)
end

---Stop whatever runs.
function Session:abort()
  local operation = self.operation
  if not operation then
    ui.say("Nothing is running.")
    return
  end
  self:request(operation.abort, {}, function(failure, result)
    if failure then
      ui.fail(failure, operation.abort, client.server())
    elseif not result.aborted then
      ui.say("It had ended already.")
    end
  end)
end

---Run something that takes long; its end is told by the notification, else by the answer.
---@param method string
---@param params table<string, any>
---@param done? fun(result: any)
function Session:run(method, params, done)
  local ended = self.ended
  self.handle = self:request(method, params, function(failure, result)
    self.handle = nil
    if failure then
      if self.ended == ended then
        ui.fail(failure, method, client.server())
      end
    elseif done then
      done(result)
    end
  end, { progress = true })
end

---@param info octavo.OpenResult
---@return octavo.Session
local function register(info)
  local session = M.all[info.sessionId]
  if not session then
    session = setmetatable({ id = info.sessionId, listeners = {}, ended = 0 }, Session)
    M.all[info.sessionId] = session
  end
  session:take(info)
  M.last = session.id
  return session
end

---@param recovered octavo.Recovered?
local function tell_recovered(recovered)
  if not text.present(recovered) then
    return
  end
  local damage = recovered.damage or {}
  if #damage > 0 then
    local where = recovered.backupPath and ("; the bytes are kept in " .. recovered.backupPath) or ""
    ui.say(
      ("%s of the file could not be read (line %d: %s)%s."):format(
        text.plural(#damage, "stretch", "stretches"),
        damage[1].line,
        damage[1].reason,
        where
      ),
      vim.log.levels.WARN
    )
  end
end

---Open a session by file or id.
---@param target { path?: string, sessionId?: string, mode?: "write"|"read" }
---@param done fun(session: octavo.Session)
function M.open(target, done)
  local params = vim.tbl_extend("keep", target, { mode = "write", cwd = vim.fn.getcwd() })
  client.request("session/open", params, function(failure, info)
    if failure and failure.kind == "session-locked" and params.mode == "write" then
      ui.offer(errors.sentence(failure), {
        {
          label = "Open read-only",
          run = function()
            M.open(vim.tbl_extend("force", target, { mode = "read" }), done)
          end,
        },
        {
          label = "Try again",
          run = function()
            M.open(target, done)
          end,
        },
      })
    elseif failure then
      ui.fail(failure, "session/open", client.server())
    else
      local session = register(info)
      tell_recovered(info.recovered)
      session:measure()
      done(session)
    end
  end)
end

---Take in a session the server opened for us, such as a fork.
---@param info octavo.SessionInfo
---@return octavo.Session
function M.adopt(info)
  local session = register(info)
  session:measure()
  return session
end

---@param payload { sessionId: string, operationId: string, action?: string }
---@param verb string
---@param abort string
local function started(payload, verb, abort)
  local session = M.all[payload.sessionId]
  if session then
    session.operation = { id = payload.operationId, verb = verb, started = vim.uv.now(), abort = abort }
    session:tell("operation", session.operation)
  end
end

---@param payload { sessionId: string, aborted: boolean, errorMessage?: string }
---@param aborted string
---@param success string?
local function finished(payload, aborted, success)
  local session = M.all[payload.sessionId]
  if not session then
    return
  end
  session.operation = nil
  session.ended = session.ended + 1
  session:tell("operation", nil)
  if payload.aborted then
    ui.say(aborted)
  elseif text.present(payload.errorMessage) then
    ui.say(payload.errorMessage, vim.log.levels.ERROR)
  elseif success then
    ui.say(success)
  end
end

client.on("session/compactionStart", function(payload)
  started(payload, payload.action == "shake" and "shaking" or "compacting", "session/abortCompaction")
end)

client.on("session/compactionEnd", function(payload)
  local result = text.present(payload.result)
  local success
  if payload.skipped then
    success = payload.skipReason
  elseif result and result.held then
    success = ("A summary is held for you to read: %s → %s tokens."):format(
      text.short(result.tokensBefore),
      text.short(result.tokensAfter)
    )
  elseif payload.tokensBefore and payload.tokensAfter then
    success = ("Compacted: %s → %s tokens."):format(text.short(payload.tokensBefore), text.short(payload.tokensAfter))
  end
  finished(payload, "The compaction was stopped; nothing was written.", success)
end)

client.on("session/branchSummaryStart", function(payload)
  started(payload, "summarising the branch", "session/abortBranchSummary")
end)
client.on("session/branchSummaryEnd", function(payload)
  finished(payload, "The branch summary was stopped; you are where you were.")
end)
client.on("session/handoffStart", function(payload)
  started(payload, "handing off", "session/abortCompaction")
end)
client.on("session/handoffEnd", function(payload)
  finished(payload, "The handoff was stopped; nothing was written.")
end)

client.on("session/didChange", function(payload)
  local session = M.all[payload.sessionId]
  if not session then
    return
  end
  if payload.kind == "closed" then
    ui.say("The session " .. session:title() .. " was closed.")
    M.all[payload.sessionId] = nil
  elseif payload.epoch ~= session.epoch or payload.seq > session.seq + 1 then
    session:catch_up()
  elseif payload.seq == session.seq + 1 then
    session:apply(payload)
    session:measure()
  end
end)

client.on("session/notice", function(payload)
  local levels = { info = vim.log.levels.INFO, warning = vim.log.levels.WARN, error = vim.log.levels.ERROR }
  ui.say(payload.message, levels[payload.level])
end)

client.on("session/modelPromoted", function(payload)
  ui.say(("The session went from %s to %s, which has a larger window."):format(payload.from, payload.to))
end)

client.on("octavo/lost", function()
  for _, session in pairs(M.all) do
    if session.operation then
      session.operation = nil
      session.ended = session.ended + 1
    end
    session:tell("lost")
  end
  if next(M.all) then
    ui.say("The server stopped; it is being started again.", vim.log.levels.WARN)
  end
end)

client.on("octavo/back", function()
  for _, session in pairs(M.all) do
    session:reattach(function(failure)
      if not failure then
        ui.say("The server is back; " .. session:title() .. " is open again.")
      end
    end)
  end
end)

vim.api.nvim_create_autocmd("LspProgress", {
  group = vim.api.nvim_create_augroup("octavo-progress", {}),
  callback = function(event)
    local params = event.data.params
    for _, session in pairs(M.all) do
      local operation = session.operation
      if operation and session.handle and session.handle.token == params.token and type(params.value) == "table" then
        operation.phase = params.value.message or operation.phase
        operation.percentage = params.value.percentage or operation.percentage
        session:tell("operation", operation)
      end
    end
  end,
})

return M
