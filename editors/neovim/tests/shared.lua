--- The one daemon of a user, as `octavo attach` finds it: two editors on a session, a lost connection, a killed daemon.
local h = require("harness")
local make_session = require("make_session")

---The daemon's own record.
---@return { pid: integer }
local function record()
  local path = vim.fs.joinpath(vim.env.OCTAVO_RUNTIME_DIR, "octavo", "daemon.json")
  return vim.json.decode(table.concat(vim.fn.readfile(path), "\n"))
end

return function()
  local client = require("octavo.client")
  client.stop()
  -- A short path: sockets have names of a hundred characters at most.
  local runtime = vim.fn.tempname():gsub("[^/]*$", "") .. "r"
  vim.fn.mkdir(runtime, "p", "0700")
  vim.env.OCTAVO_RUNTIME_DIR = runtime
  vim.g.octavo = { cmd = { h.python, "-m", "octavo", "attach" } }
  local path = vim.fs.joinpath(h.tmp, "shared.jsonl")
  make_session.write(path, { entries = 41 })
  local session, tree, transcript, daemon

  h.check("the daemon is started and shared by attaching to it", function()
    vim.cmd("silent! only | enew")
    vim.cmd("Octavo open " .. path)
    h.wait("the tree", function()
      return vim.bo.filetype == "octavo-tree" and h.line_with("◆")
    end)
    session = require("octavo").session()
    tree = vim.api.nvim_get_current_buf()
    vim.cmd("Octavo transcript")
    h.wait("the transcript", function()
      return vim.bo.filetype == "octavo-transcript" and h.line_with("(round 1)")
    end)
    transcript = vim.api.nvim_get_current_buf()
    daemon = record().pid
    assert(vim.uv.kill(daemon, 0) == 0)
  end)

  -- Another program: holds the session open and appends each line it is given.
  local answered = 0
  local companion = vim.fn.jobstart({
    h.python,
    "-c",
    ([[
import asyncio, sys
from octavo_client import Client, Options
async def main():
    async with Client.spawn([sys.executable, '-m', 'octavo', 'attach'], Options()) as client:
        session = (await client.session_open(path=%q)).session_id
        while words := await asyncio.to_thread(sys.stdin.readline):
            await client.session_append(session_id=session, messages=[{'role': 'user', 'content': words.strip()}])
            print('done', flush=True)
asyncio.run(main())
]]):format(path),
  }, {
    on_stdout = function(_, lines)
      answered = answered + (lines[1] == "done" and 1 or 0)
    end,
  })
  ---@param words string
  local function elsewhere(words)
    local before = answered
    vim.fn.chansend(companion, words .. "\n")
    h.wait("the other program", function()
      return answered > before
    end)
  end

  h.check("what another program appends shows up in both views", function()
    elsewhere("liquorice")
    h.wait("the tree", function()
      return h.line_with("liquorice", tree)
    end)
    h.wait("the transcript", function()
      return h.line_with("liquorice", transcript)
    end)
  end)

  h.check("after a lost connection the views read what they missed, without losing their place", function()
    h.forget()
    local epoch = session.epoch
    local resets = 0
    session:listen(function(event)
      resets = resets + (event == "reset" and 1 or 0)
    end)
    -- Hold the restart back until the other program is through.
    local attached
    for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do
      local process = vim.api.nvim_get_proc(pid)
      if process and process.name:find("python") and pid ~= vim.fn.jobpid(companion) then
        attached = pid
      end
    end
    vim.g.octavo = vim.tbl_extend("force", vim.g.octavo, { restart = { attempts = 5, delay_ms = 4000 } })
    vim.uv.kill(assert(attached, "no attached process"), "sigkill")
    h.wait_told("The server stopped")
    elsewhere("caramel")
    h.wait_told(session:title() .. " is open again")
    h.wait("the transcript", function()
      return h.line_with("caramel", transcript)
    end)
    h.wait("the tree", function()
      return h.line_with("caramel", tree)
    end)
    h.equal(record().pid, daemon, "the daemon")
    h.equal(session.epoch, epoch, "the epoch")
    h.equal(resets, 0, "resets")
  end)

  h.check("a killed daemon is replaced, and the views are read anew", function()
    h.forget()
    vim.g.octavo = vim.tbl_extend("force", vim.g.octavo, { restart = { attempts = 5, delay_ms = 100 } })
    local old, epoch = record().pid, session.epoch
    vim.uv.kill(old, "sigkill")
    h.wait_told(session:title() .. " is open again", 30000)
    h.wait("the session of another daemon", function()
      return session.epoch ~= epoch
    end)
    assert(record().pid ~= old, "the daemon is the old one")
    h.ask(session, "session/append", { messages = { { role = "user", content = "fudge" } } })
    h.wait("the transcript", function()
      return h.line_with("fudge", transcript)
    end)
    h.dump("30-shared")
  end)

  vim.fn.jobstop(companion)
  client.stop()
  vim.g.octavo = nil
  if vim.uv.fs_stat(vim.fs.joinpath(runtime, "octavo", "daemon.json")) then
    vim.uv.kill(record().pid, "sigterm")
  end
end
