--- Bad input and bad luck: each ends in a sentence, never in a stack trace or a frozen editor.
local h = require("harness")
local make_session = require("make_session")

---Everything told so far is a sentence.
local function only_sentences()
  for _, told in ipairs(h.told) do
    assert(not told.message:find("stack traceback", 1, true), told.message)
    assert(not told.message:find("%.lua:%d+:"), told.message)
    assert(not told.message:find("Traceback", 1, true), told.message)
  end
  local errors = vim.v.errmsg
  assert(not errors:find("stack traceback", 1, true), errors)
end

---Use another server for a while.
---@param command string[]
---@param run fun()
local function with_server(command, run)
  local client = require("octavo.client")
  client.stop()
  vim.g.octavo = { cmd = command, start_timeout_ms = 1500, restart = { attempts = 2, delay_ms = 10 } }
  h.forget()
  vim.v.errmsg = ""
  local ok, problem = xpcall(run, debug.traceback)
  client.stop()
  vim.g.octavo = nil
  if not ok then
    error(problem, 0)
  end
  only_sentences()
end

---@param source string
---@return string[]
local function python(source)
  return { h.python, "-c", source }
end

local frame = [[
import sys, json
def read():
    n = 0
    while True:
        line = sys.stdin.buffer.readline().strip()
        if not line: break
        if line.lower().startswith(b'content-length'): n = int(line.split(b':')[1])
    return json.loads(sys.stdin.buffer.read(n)) if n else sys.exit(0)
def write(message):
    body = json.dumps({'jsonrpc': '2.0', **message}).encode()
    sys.stdout.buffer.write(b'Content-Length: %d\r\n\r\n' % len(body) + body); sys.stdout.buffer.flush()
]]

return function()
  local sessions = require("octavo.session")
  local small = make_session.write(vim.fs.joinpath(h.tmp, "small.jsonl"), { entries = 12 })

  h.check("no server: the sentence says what to install", function()
    with_server({ "no-such-octavo", "attach" }, function()
      vim.cmd("Octavo open " .. small.path)
      h.wait_told("pipx install octavo")
    end)
  end)

  h.check("a program that is no server is named after a moment", function()
    with_server(python("import time; time.sleep(600)"), function()
      vim.cmd("Octavo open " .. small.path)
      h.wait_told("said nothing")
    end)
  end)

  h.check("a program that ends at once is named with its exit code", function()
    with_server(python("raise SystemExit(3)"), function()
      vim.cmd("Octavo open " .. small.path)
      h.wait_told("ended with code 3")
    end)
  end)

  h.check("a language server of another kind is refused", function()
    local source = frame
      .. [[
write({'id': read()['id'], 'result': {'capabilities': {}, 'serverInfo': {'name': 'pearls', 'version': '0.1'}}})
while True: read()
]]
    with_server(python(source), function()
      vim.cmd("Octavo open " .. small.path)
      h.wait_told("pearls 0.1 offers no session trees")
    end)
  end)

  h.check("an old server lacks a method: the sentence names it and the remedy", function()
    local source = frame
      .. [[
capabilities = {'experimental': {'sessionTree': {'protocolVersion': 1, 'methods': ['session/open'], 'notifications': []}}}
write({'id': read()['id'], 'result': {'capabilities': capabilities, 'serverInfo': {'name': 'octavo', 'version': '0.0.1'}}})
while True: read()
]]
    with_server(python(source), function()
      vim.cmd("silent! only | enew")
      vim.b.octavo_session, sessions.last = nil, nil
      vim.cmd("Octavo open")
      h.wait_told("octavo 0.0.1 does not know session/list; update it")
    end)
  end)

  h.check("a server that refuses to be initialized is quoted", function()
    local source = frame
      .. [[
write({'id': read()['id'], 'error': {'code': -32602, 'message': 'models.0.provider is missing.'}})
while True: read()
]]
    with_server(python(source), function()
      vim.cmd("Octavo open " .. small.path)
      h.wait_told("models.0.provider is missing.")
    end)
  end)

  h.check("a request to a server that dies is answered, and the server is tried again", function()
    local source = frame
      .. [[
capabilities = {'experimental': {'sessionTree': {'protocolVersion': 1, 'methods': ['session/open'], 'notifications': []}}}
write({'id': read()['id'], 'result': {'capabilities': capabilities}})
read(); read()
sys.exit(9)
]]
    with_server(python(source), function()
      vim.cmd("Octavo open " .. small.path)
      h.wait_told("stopped before it answered")
    end)
  end)

  h.check("a file that is no session is left alone and named", function()
    local path = vim.fs.joinpath(h.tmp, "letter.jsonl")
    vim.fn.writefile({ "Dear Mira,", "the tide is late." }, path)
    h.forget()
    vim.cmd("Octavo open " .. path)
    local told = h.wait("a sentence", function()
      return h.told[1]
    end)
    h.equal(told.level, vim.log.levels.ERROR)
    h.has(told.message, "letter.jsonl")
    h.equal(vim.fn.readfile(path), { "Dear Mira,", "the tide is late." })
    only_sentences()
  end)

  h.check("a file that is not there is named", function()
    h.forget()
    vim.cmd("Octavo open " .. h.tmp .. "/nowhere.jsonl")
    h.has(h.wait("a sentence", function()
      return h.told[1]
    end).message, "nowhere.jsonl")
    only_sentences()
  end)

  h.check("a session another process owns is offered read-only", function()
    local other = vim.fn.jobstart({
      h.python,
      "-c",
      ([[
import asyncio, sys
from octavo_client import Client, Options
async def main():
    async with Client.spawn([sys.executable, '-m', 'octavo', 'serve', '--stdio'], Options()) as client:
        await client.session_open(path=%q)
        print('open', flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
]]):format(small.path),
    }, {
      on_stdout = function(_, lines)
        if lines[1] == "open" then
          h.other_open = true
        end
      end,
    })
    h.wait("the other owner", function()
      return h.other_open
    end)
    h.forget()
    h.choices = { "Open read-only" }
    vim.cmd("Octavo open " .. small.path)
    h.wait("the tree", function()
      return vim.bo.filetype == "octavo-tree" and h.line_with("◆")
    end)
    local session = require("octavo").session()
    h.equal(session.info.mode, "read")
    h.forget()
    vim.cmd("Octavo compact extractive")
    h.wait("a refusal", function()
      return h.told[1]
    end)
    only_sentences()
    h.dump("20-locked")
    vim.fn.jobstop(other)
    vim.fn.jobwait({ other }, 5000)
    h.ask(session, "session/close", {})
    sessions.all[session.id] = nil
  end)

  h.check("a damaged file opens and says what was lost", function()
    local path = vim.fs.joinpath(h.tmp, "torn.jsonl")
    local lines = vim.fn.readfile(make_session.write(path, { entries = 21 }).path)
    lines[5] = lines[5]:sub(1, 60)
    vim.fn.writefile(lines, path)
    h.forget()
    vim.cmd("Octavo open " .. path)
    h.wait_told("could not be read (line 5")
    only_sentences()
  end)

  h.check("wrong commands and entries are sentences", function()
    h.forget()
    vim.cmd("Octavo dance")
    h.wait_told("There is no `:Octavo dance`")
    vim.cmd("Octavo navigate ffffffff")
    h.wait_told("ffffffff")
    vim.cmd("Octavo abort")
    h.wait_told("Nothing is running")
    vim.cmd("Octavo discard")
    h.wait_told("No summary is held")
    vim.cmd("Octavo search -regex (")
    h.wait("a refusal", function()
      return h.told[#h.told].level == vim.log.levels.ERROR
    end)
    only_sentences()
  end)

  h.check("a session of a hundred megabytes never stops the editor", function()
    local path = vim.fs.joinpath(h.tmp, "big.jsonl")
    make_session.write(path, { entries = 2000, bytes = 140000 })
    assert(vim.uv.fs_stat(path).size > 100e6, "too small")
    vim.uv.update_time()
    local worst, last = 0, vim.uv.now()
    local timer = assert(vim.uv.new_timer())
    timer:start(0, 5, function()
      vim.uv.update_time()
      worst, last = math.max(worst, vim.uv.now() - last), vim.uv.now()
    end)
    h.forget()
    vim.cmd("Octavo open " .. path)
    h.wait("the tree", function()
      return vim.bo.filetype == "octavo-tree" and vim.api.nvim_buf_get_name(0):find(sessions.last, 1, true) and h.line_with("◆")
    end, 120000)
    vim.cmd("Octavo transcript")
    h.wait("the transcript", function()
      return vim.bo.filetype == "octavo-transcript" and h.line_with("is done")
    end, 60000)
    for _ = 1, 5 do
      local before = vim.api.nvim_buf_line_count(0)
      vim.api.nvim_win_set_cursor(0, { 1, 0 })
      h.press("<CR>")
      h.wait("an older page", function()
        return vim.api.nvim_buf_line_count(0) > before
      end, 60000)
    end
    timer:stop()
    timer:close()
    h.print(("      the longest pause was %d ms"):format(worst))
    assert(worst < 1000, ("the editor stood still for %d ms"):format(worst))
    h.dump("21-big")
  end)

  h.check(":checkhealth octavo is content", function()
    vim.cmd("silent! only | enew")
    vim.cmd("checkhealth octavo")
    local lines = table.concat(h.lines(), "\n")
    h.has(lines, "answers, protocol 1")
    assert(not lines:find("ERROR"), lines)
    h.dump("22-health")
    vim.cmd("bwipeout")
  end)

  h.check("the help has its tags", function()
    local doc = vim.fs.joinpath(h.tmp, "doc")
    vim.fn.mkdir(doc, "p")
    vim.uv.fs_copyfile(vim.fs.joinpath(h.root, "doc", "octavo.txt"), vim.fs.joinpath(doc, "octavo.txt"))
    vim.cmd.helptags(doc)
    local tags = table.concat(vim.fn.readfile(vim.fs.joinpath(doc, "tags")), "\n")
    for name in pairs(require("octavo.commands").subcommands) do
      h.has(tags, ":Octavo-" .. name .. "\t")
    end
    local help = table.concat(vim.fn.readfile(vim.fs.joinpath(doc, "octavo.txt")), "\n")
    for _, module in ipairs({ "tree", "transcript", "search", "preview" }) do
      local source = table.concat(vim.fn.readfile(vim.fs.joinpath(h.root, "lua", "octavo", module .. ".lua")), "\n")
      for plug in source:gmatch('plug = "([%w-]+)"') do
        h.has(help, "<Plug>(octavo-" .. plug .. ")")
      end
      for plug in source:gmatch('add%("([%w-]+)", ') do
        h.has(help, "<Plug>(octavo-" .. plug .. ")")
      end
    end
    for option in pairs(require("octavo.config").get()) do
      h.has(help, "*octavo-" .. option:gsub("_", "-") .. "*")
    end
  end)
end
