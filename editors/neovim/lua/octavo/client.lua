--- The connection to the server: one `vim.lsp` client without a buffer, started when needed and again when it is lost.
--- Every request made here is answered exactly once, also when the server dies and when Neovim drops the answer.
local M = {}

local config = require("octavo.config")
local errors = require("octavo.errors")
local ui = require("octavo.ui")

---@class octavo.Pending
---@field method string
---@field callback fun(failure: octavo.Failure?, result: any)

---@class octavo.Handle
---@field token? string Work-done token, for requests that report progress.
---@field cancel fun()

---@type "off"|"starting"|"ready"|"waiting"
M.state = "off"
---@type vim.lsp.Client?
M.lsp = nil
M.attempts = 0

---@type table<integer, octavo.Pending>
local pending = {}
---@type (fun(failure: octavo.Failure?))[]
local waiting = {}
---@type table<string, fun(payload: any)[]>
local listeners = {}
local stopping = false
local tokens = 0
---@type integer? Id of the client that counts; what older ones still do is of no interest.
local current

---Call a function for each notification of a name, and for `octavo/lost` and `octavo/back`.
---@param name string
---@param listener fun(payload: any)
function M.on(name, listener)
  listeners[name] = listeners[name] or {}
  table.insert(listeners[name], listener)
end

---@param name string
---@param payload any
local function tell(name, payload)
  for _, listener in ipairs(listeners[name] or {}) do
    local ok, problem = xpcall(listener, debug.traceback, payload)
    if not ok then
      vim.lsp.log.error("octavo", name, problem)
      ui.say(("A view could not follow %s; see :LspLog."):format(name), vim.log.levels.ERROR)
    end
  end
end

---Name and version of the server, for sentences.
---@return string
function M.server()
  local info = M.lsp and M.lsp.server_info
  if info then
    return ("The server %s %s"):format(info.name or "octavo", info.version or "")
  end
  return "The server"
end

---@return octavo.SessionTreeCapabilities?
function M.capabilities()
  local experimental = M.lsp and M.lsp.server_capabilities and M.lsp.server_capabilities.experimental
  return type(experimental) == "table" and experimental.sessionTree or nil
end

---@return string[]
function M.command()
  local given = config.get().cmd
  if given then
    return given
  end
  local lsp = vim.lsp.config.octavo
  local command = lsp and lsp.cmd
  if type(command) == "table" then
    if command[1] == "octavo" and vim.fn.executable("octavo") == 0 and vim.fn.executable("uvx") == 1 then
      return vim.list_extend({ "uvx" }, command)
    end
    return command
  end
  return { "octavo", "attach" }
end

---@param failure octavo.Failure?
local function release(failure)
  local queue = waiting
  waiting = {}
  for _, resume in ipairs(queue) do
    resume(failure)
  end
end

---@param failure octavo.Failure
local function fail_pending(failure)
  local lost = pending
  pending = {}
  for _, request in pairs(lost) do
    request.callback(failure)
  end
end

---@param code integer
---@param id integer
local function on_exit(code, id)
  if id ~= current then
    return
  end
  local was = M.state
  M.lsp = nil
  M.state = "off"
  fail_pending(errors.new("server-stopped", "The server stopped before it answered; nothing was half written."))
  if stopping then
    release(errors.new("server-stopped", "The server was stopped."))
    return
  end
  if was == "starting" then
    M.attempts = M.attempts + 1
  end
  tell("octavo/lost", { code = code })
  local limit = config.get().restart
  if M.attempts >= limit.attempts or (was == "starting" and M.attempts >= 2) then
    local words = table.concat(M.command(), " ")
    release(errors.new("no-server", ("`%s` ended with code %s; see :checkhealth octavo."):format(words, code)))
    return
  end
  M.state = "waiting"
  vim.defer_fn(function()
    if M.state == "waiting" then
      M.state = "off"
      M.attempts = M.attempts + 1
      M.ensure(function(failure)
        if failure then
          ui.fail(failure)
        end
      end)
    end
  end, limit.delay_ms * 2 ^ math.min(M.attempts, 6))
end

---Start the process; refuse `initialize` errors with a sentence where Neovim would raise.
---@param command string[]
local function transport(command)
  return function(dispatchers, lsp_config)
    local rpc = vim.lsp.rpc.start(command, dispatchers, {
      cwd = lsp_config.cmd_cwd,
      env = lsp_config.cmd_env,
      detached = lsp_config.detached,
    })
    local request = rpc.request
    rpc.request = function(method, params, callback, on_reply)
      if method ~= "initialize" then
        return request(method, params, callback, on_reply)
      end
      return request(method, params, function(failure, result)
        if failure then
          stopping = true
          M.state = "off"
          release(errors.read(failure))
          rpc.terminate()
        else
          callback(failure, result)
        end
      end, on_reply)
    end
    return rpc
  end
end

---@return table<string, fun(err: any, payload: any)>
local function handlers()
  local table_ = {}
  for _, name in ipairs({
    "session/compactionStart",
    "session/compactionEnd",
    "session/branchSummaryStart",
    "session/branchSummaryEnd",
    "session/handoffStart",
    "session/handoffEnd",
    "session/didChange",
    "session/modelPromoted",
    "session/continue",
    "session/notice",
    "hook/sessionCompact",
    "hook/sessionTree",
  }) do
    table_[name] = function(_, payload)
      tell(name, payload)
    end
  end
  return table_
end

---@param client vim.lsp.Client
local function on_init(client)
  M.lsp = client
  M.state = "ready"
  local offered = M.capabilities()
  if not offered then
    stopping = true
    local failure = errors.new("old-server", M.server() .. " offers no session trees; update it (pipx upgrade octavo).")
    M.state = "off"
    release(failure)
    client:stop(true)
    return
  end
  if (offered.protocolVersion or 0) > 1 then
    ui.say(M.server() .. " speaks a newer protocol; update the plugin.", vim.log.levels.WARN)
  end
  local again = M.attempts > 0
  release(nil)
  if again then
    tell("octavo/back", {})
  end
  vim.defer_fn(function()
    if M.lsp == client then
      M.attempts = 0
    end
  end, 5000)
end

local function start()
  local command = M.command()
  if vim.fn.executable(command[1]) == 0 then
    release(errors.new("no-server", ("The program %q is not here; install it with `pipx install octavo`."):format(command[1])))
    return
  end
  M.state, stopping = "starting", false
  local values = config.get()
  local base = vim.lsp.config.octavo or {}
  local init = vim.tbl_deep_extend("force", vim.empty_dict(), base.init_options or {}, {
    models = values.models,
    settings = values.settings,
  })
  if next(init) == nil then
    init = vim.empty_dict() -- a plain empty table would be a list on the wire
  end
  local lsp_config = vim.tbl_deep_extend("force", base, {
    name = "octavo",
    cmd = transport(command),
    handlers = vim.tbl_extend("keep", base.handlers or {}, handlers()),
    on_init = on_init,
    on_exit = function(code, _, client_id)
      vim.schedule(function()
        on_exit(code, client_id)
      end)
    end,
  })
  lsp_config.init_options = init -- merged, it would lose what makes it an object
  local id = vim.lsp.start(lsp_config, {
    attach = false,
    reuse_client = function()
      return false
    end,
    silent = true,
  })
  if not id then
    M.state = "off"
    release(errors.new("no-server", ("`%s` could not be started; see :LspLog."):format(table.concat(command, " "))))
    return
  end
  current = id
  local client = vim.lsp.get_client_by_id(id)
  vim.defer_fn(function()
    if current == id and M.state == "starting" and client and not client.initialized then
      stopping = true
      M.state = "off"
      release(errors.new("no-server", ("`%s` said nothing; is it an octavo server?"):format(table.concat(command, " "))))
      client:stop(true)
    end
  end, values.start_timeout_ms)
end

---Call back when the server is ready, or with the reason why it is not.
---@param resume fun(failure: octavo.Failure?)
function M.ensure(resume)
  if M.state == "ready" and M.lsp and not M.lsp:is_stopped() then
    resume(nil)
    return
  end
  table.insert(waiting, resume)
  if M.state == "off" then
    start()
  end
end

---@param method string
---@param params table<string, any>
---@param callback fun(failure: octavo.Failure?, result: any)
---@param handle { id?: integer, cancelled?: boolean }
local function send(method, params, callback, handle)
  local offered = M.capabilities()
  if offered and not vim.list_contains(offered.methods or {}, method) then
    callback(errors.new("method-not-found", method))
    return
  end
  local client = assert(M.lsp)
  local id
  local sent, number = client:request(method, params, function(failure, result)
    local request = pending[id]
    pending[id] = nil
    if request then
      request.callback(failure and errors.read(failure) or nil, result)
    end
  end, vim.api.nvim_get_current_buf())
  if not sent or not number then
    callback(errors.new("server-stopped", "The server has stopped; it is being started again."))
    return
  end
  id = number
  handle.id = number
  pending[number] = { method = method, callback = callback }
end

---Ask the server. The callback is called exactly once.
---@param method string
---@param params table<string, any>
---@param callback fun(failure: octavo.Failure?, result: any)
---@param options? { progress?: boolean }
---@return octavo.Handle
function M.request(method, params, callback, options)
  local state = {}
  if options and options.progress then
    tokens = tokens + 1
    params.workDoneToken = ("nvim-%d-%d"):format(vim.fn.getpid(), tokens)
  end
  M.ensure(function(failure)
    if failure then
      callback(failure)
    elseif state.cancelled then
      callback(errors.new("cancelled", "Cancelled; nothing was written."))
    else
      send(method, params, callback, state)
    end
  end)
  return {
    token = params.workDoneToken,
    cancel = function()
      state.cancelled = true
      if state.id and pending[state.id] and M.lsp then
        M.lsp:cancel_request(state.id)
      end
    end,
  }
end

---End the server and stay without it until the next request.
function M.stop()
  stopping, current = true, nil
  local client = M.lsp
  M.lsp, M.state, M.attempts = nil, "off", 0
  if client then
    client:stop()
  end
  local failure = errors.new("server-stopped", "The connection to the server was closed.")
  fail_pending(failure)
  release(failure)
end

-- Neovim never hands an answer -32800 to the callback; that the request is complete it does tell.
vim.api.nvim_create_autocmd("LspRequest", {
  group = vim.api.nvim_create_augroup("octavo-client", {}),
  callback = function(event)
    local data = event.data
    if not M.lsp or data.client_id ~= M.lsp.id or data.request.type ~= "complete" then
      return
    end
    vim.schedule(function()
      local request = pending[data.request_id]
      if request then
        pending[data.request_id] = nil
        request.callback(errors.new("cancelled", "Cancelled; nothing was written."))
      end
    end)
  end,
})

vim.api.nvim_create_autocmd("VimLeavePre", {
  group = "octavo-client",
  callback = function()
    stopping = true
  end,
})

return M
