--- `:Octavo`: its subcommands, their arguments and completion.
local M = {}

local actions = require("octavo.actions")
local client = require("octavo.client")
local sessions = require("octavo.session")
local text = require("octavo.text")
local ui = require("octavo.ui")

local strategies = { "context-full", "snapcompact", "extractive" }
local scopes = { "-archived", "-branch", "-tree", "-regex", "-case" }

---@param done fun(session: octavo.Session)
local function choose_session(done)
  client.request("session/list", { cwd = vim.fn.getcwd(), limit = 100 }, function(failure, result)
    if failure then
      ui.fail(failure, "session/list", client.server())
    elseif #result.sessions == 0 then
      ui.say("No session of this folder was found; `:Octavo open FILE` opens one.", vim.log.levels.WARN)
    else
      ui.select(result.sessions, "Open a session", function(item)
        local title = text.present(item.title) or item.firstMessage
        return ("%s  %s"):format(text.when(item.modifiedAt), text.cut(text.flat(title), 80))
      end, function(item)
        sessions.open({ path = item.path }, done)
      end)
    end
  end)
end

---The session a command is about: this buffer's, this buffer's file, the last one, or one to choose.
---@param act fun(session: octavo.Session)
local function with_session(act)
  local session = sessions.current()
  local name = vim.api.nvim_buf_get_name(0)
  if not vim.b.octavo_session and vim.bo.buftype == "" and name:find("%.jsonl$") and vim.uv.fs_stat(name) then
    sessions.open({ path = name }, act)
  elseif session then
    act(session)
  else
    choose_session(act)
  end
end

---@param words string[]
---@return table<string, any>
local function compact_params(words)
  local params = {}
  if vim.list_contains(strategies, words[1]) then
    params.strategy = table.remove(words, 1)
  end
  if #words > 0 then
    params.customInstructions = table.concat(words, " ")
  end
  return params
end

---Find the summary that is held: the one of this buffer, one with a buffer, else what the server says.
---@param session octavo.Session
---@param found fun(operation: string?)
local function held(session, found)
  local operation = vim.b.octavo_operation
  if operation then
    return found(operation)
  end
  for id, buffer in pairs(require("octavo.preview").held) do
    if vim.b[buffer].octavo_session == session.id then
      return found(id)
    end
  end
  session:request("session/getInfo", {}, function(failure, info)
    if failure then
      ui.fail(failure, "session/getInfo", client.server())
    else
      found(info.heldOperations[1])
    end
  end)
end

---@param name "apply"|"discard"
local function on_held(name)
  return function()
    with_session(function(session)
      held(session, function(operation)
        if operation then
          require("octavo.preview")[name](session, operation)
        else
          ui.say("No summary is held; `:Octavo preview` makes one.")
        end
      end)
    end)
  end
end

---@class octavo.Subcommand
---@field run fun(words: string[], bang: boolean)
---@field complete? string[]|"file"

---@type table<string, octavo.Subcommand>
M.subcommands = {
  open = {
    complete = "file",
    run = function(words)
      local name = table.concat(words, " ")
      local function show(session)
        require("octavo.tree").open(session)
      end
      if name == "" then
        choose_session(show)
        return
      end
      local path = vim.fn.fnamemodify(vim.fn.expand(name), ":p")
      local is_file = vim.uv.fs_stat(path) ~= nil or name:find("[/.]") ~= nil
      sessions.open(is_file and { path = path } or { sessionId = name }, show)
    end,
  },
  tree = {
    complete = { "default", "no-tools", "user-only", "labeled-only", "all" },
    run = function(words)
      with_session(function(session)
        local view = require("octavo.tree").open(session)
        if words[1] then
          require("octavo.tree").set_filter(view, words[1])
        end
      end)
    end,
  },
  transcript = {
    run = function(words)
      with_session(function(session)
        require("octavo.transcript").open(session, words[1])
      end)
    end,
  },
  compact = {
    complete = strategies,
    run = function(words)
      with_session(function(session)
        session:run("session/compact", compact_params(words))
      end)
    end,
  },
  preview = {
    complete = strategies,
    run = function(words)
      with_session(function(session)
        local params = compact_params(words)
        held(session, function(operation)
          if operation then
            require("octavo.preview").again(session, operation)
          elseif params.strategy then
            require("octavo.preview").hold(session, params)
          else
            require("octavo.preview").plan(session, params)
          end
        end)
      end)
    end,
  },
  apply = { run = on_held("apply") },
  discard = { run = on_held("discard") },
  abort = {
    run = function()
      with_session(function(session)
        session:abort()
      end)
    end,
  },
  undo = {
    run = function()
      with_session(actions.undo)
    end,
  },
  navigate = {
    complete = { "summary" },
    run = function(words, bang)
      with_session(function(session)
        local summarize = bang
        local rest = {}
        for _, word in ipairs(words) do
          if word == "summary" then
            summarize = true
          else
            table.insert(rest, word)
          end
        end
        if rest[1] then
          actions.navigate(session, rest[1], { summarize = summarize or nil })
        else
          actions.choose(session, summarize)
        end
      end)
    end,
  },
  search = {
    complete = scopes,
    run = function(words)
      with_session(function(session)
        local options, rest = {}, {}
        for _, word in ipairs(words) do
          if word == "-regex" then
            options.regex = true
          elseif word == "-case" then
            options.caseSensitive = true
          elseif vim.list_contains(scopes, word) then
            options.scope = word:sub(2)
          else
            table.insert(rest, word)
          end
        end
        actions.search(session, table.concat(rest, " "), options)
      end)
    end,
  },
  prune = {
    complete = { "outputs", "stale", "both" },
    run = function(words)
      with_session(function(session)
        actions.prune(session, words[1])
      end)
    end,
  },
  shake = {
    complete = { "elide", "images" },
    run = function(words)
      with_session(function(session)
        actions.shake(session, words[1])
      end)
    end,
  },
  handoff = {
    run = function(words)
      with_session(function(session)
        actions.handoff(session, #words > 0 and table.concat(words, " ") or nil)
      end)
    end,
  },
  status = {
    run = function()
      with_session(function(session)
        session:request("session/getInfo", {}, function(failure, info)
          if failure then
            ui.fail(failure, "session/getInfo", client.server())
          else
            session.info = vim.tbl_extend("force", session.info, info)
            actions.status(session)
          end
        end)
      end)
    end,
  },
  close = {
    run = function()
      with_session(function(session)
        session:request("session/close", {}, function(failure)
          if failure then
            ui.fail(failure, "session/close", client.server())
          else
            sessions.all[session.id] = nil
            ui.say("Closed " .. session:title() .. ".")
          end
        end)
      end)
    end,
  },
  stop = {
    run = function()
      client.stop()
      ui.say("The connection is closed; the next command opens it again.")
    end,
  },
}

---@param command vim.api.keyset.create_user_command.command_args
function M.run(command)
  local words = vim.deepcopy(command.fargs)
  local name = table.remove(words, 1)
  if name == nil then
    M.subcommands[sessions.current() and "tree" or "open"].run({}, false)
    return
  end
  local subcommand = M.subcommands[name]
  if not subcommand then
    local names = vim.tbl_keys(M.subcommands)
    table.sort(names)
    ui.say(("There is no `:Octavo %s`; there are %s."):format(name, table.concat(names, ", ")), vim.log.levels.ERROR)
    return
  end
  subcommand.run(words, command.bang)
end

---@param lead string
---@param line string
---@param position integer
---@return string[]
function M.complete(lead, line, position)
  local words = vim.split(line:sub(1, position), "%s+")
  local candidates
  if #words <= 2 then
    candidates = vim.tbl_keys(M.subcommands)
    table.sort(candidates)
  else
    local subcommand = M.subcommands[words[2]]
    candidates = subcommand and subcommand.complete or {}
    if candidates == "file" then
      return vim.fn.getcompletion(lead, "file")
    end
  end
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

return M
