--- `:checkhealth octavo`.
local M = {}

local health = vim.health

local function check_server()
  local client = require("octavo.client")
  local command = client.command()
  local words = table.concat(command, " ")
  if vim.fn.executable(command[1]) == 0 then
    health.error(("The program %q is not here."):format(command[1]), {
      "Install it: pipx install octavo",
      'Or say where it is: vim.lsp.config("octavo", { cmd = { "/path/to/octavo", "attach" } })',
    })
    return
  end
  health.ok(("The server command is `%s`."):format(words))
  if vim.fs.basename(command[1]) == "octavo" then
    local result = vim.system({ command[1], "--version" }, { text = true, timeout = 10000 }):wait()
    if result.code == 0 then
      health.ok(("Its version is %s."):format(vim.trim(result.stdout)))
    else
      health.warn(("`%s --version` failed: %s"):format(command[1], vim.trim(result.stderr or "")))
    end
  end
  local done, failure = false, nil
  client.ensure(function(problem)
    done, failure = true, problem
  end)
  if not vim.wait(20000, function()
    return done
  end, 20) then
    health.error("The server does not answer; see :LspLog.")
  elseif failure then
    health.error(require("octavo.errors").sentence(failure))
  else
    local offered = client.capabilities()
    health.ok(("%s answers, protocol %s, %d methods."):format(client.server(), offered.protocolVersion, #offered.methods))
    for _, name in ipairs({ "session/open", "session/getTree", "session/getBranch", "session/compact", "session/search" }) do
      if not vim.list_contains(offered.methods, name) then
        health.warn(("The server has no %s; update it: pipx upgrade octavo"):format(name))
      end
    end
  end
end

function M.check()
  health.start("octavo")
  if vim.fn.has("nvim-0.11") == 1 then
    health.ok("Neovim is " .. tostring(vim.version()) .. ".")
  else
    health.error("Neovim 0.11 or newer is needed.")
    return
  end
  local problems = require("octavo.config").problems()
  for _, problem in ipairs(problems) do
    health.error(problem, { "See :help octavo-config" })
  end
  if #problems == 0 then
    health.ok("The configuration is in order.")
  end
  local folder = require("octavo.frames").folder()
  if vim.fn.mkdir(folder, "p") == 1 and vim.fn.filewritable(folder) == 2 then
    health.ok("Frames are written to " .. folder .. ".")
  else
    health.warn("Frames cannot be written to " .. folder .. ".")
  end
  check_server()
end

return M
