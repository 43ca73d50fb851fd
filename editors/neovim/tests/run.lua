-- nvim --headless --clean -u NONE -c "luafile editors/neovim/tests/run.lua"
-- Not with -l: that has no screen, and the story takes pictures of it. OCTAVO_TESTS names the parts to run.
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, "S").source:sub(2)))
package.path = here .. "/?.lua;" .. package.path
vim.opt.runtimepath:prepend(vim.fs.dirname(here))
vim.cmd("runtime! plugin/octavo.lua")
vim.o.columns, vim.o.lines, vim.o.swapfile, vim.o.more = 110, 40, false, false

local h = require("harness")
local python = vim.env.OCTAVO_PYTHON or vim.fs.joinpath(h.repository, ".venv", "bin", "python")
for name, value in pairs({
  OCTAVO_CONFIG = "",
  OCTAVO_SESSIONS_ROOT = vim.fs.joinpath(h.tmp, "root", "sessions"),
  XDG_RUNTIME_DIR = vim.fs.joinpath(h.tmp, "run"),
  XDG_CACHE_HOME = vim.fs.joinpath(h.tmp, "cache"),
}) do
  vim.env[name] = value
end
vim.fn.mkdir(vim.env.XDG_RUNTIME_DIR, "p", "0700")
h.python = python
h.command = vim.env.OCTAVO_COMMAND and vim.split(vim.env.OCTAVO_COMMAND, " ") or { python, "-m", "octavo", "serve", "--stdio" }
vim.lsp.config("octavo", { cmd = h.command })
-- A short path: sockets have names of a hundred characters at most.
vim.cmd.cd(h.tmp)

---End the server as a crash would.
function h.kill_server()
  local client = require("octavo.client").lsp
  for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do
    local process = vim.api.nvim_get_proc(pid)
    if client and process and (process.name or ""):find("python") or process and (process.name or ""):find("octavo") then
      vim.uv.kill(pid, "sigkill")
    end
  end
end

local parts = vim.split(vim.env.OCTAVO_TESTS or "unit story trouble shared", " ")
local ok, problem = xpcall(function()
  for _, part in ipairs(parts) do
    h.print("— " .. part)
    require(part)()
  end
end, debug.traceback)
if not ok then
  h.failed = h.failed + 1
  h.print(problem)
end
h.finish()
