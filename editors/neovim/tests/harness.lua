--- A small runner: checks by name, bounded waits, what the user was told, and pictures of the screen as text.
local M = { failed = 0, passed = 0, told = {}, choices = {}, answers = {} }

M.root = vim.fs.dirname(vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, "S").source:sub(2))))
M.repository = vim.fs.dirname(vim.fs.dirname(M.root))
M.dumps = vim.fs.joinpath(M.repository, "build", "editors", "neovim")
M.tmp = vim.fn.tempname()
vim.fn.mkdir(M.tmp, "p")
vim.fn.mkdir(M.dumps, "p")

vim.notify = function(message, level)
  table.insert(M.told, { message = message, level = level })
end

-- The user at the keyboard: the next choice is whatever `M.choose` named.
vim.ui.select = function(items, options, done)
  local wanted = table.remove(M.choices, 1)
  table.insert(M.told, { message = options.prompt })
  for i, item in ipairs(items) do
    local words = options.format_item and options.format_item(item) or tostring(item)
    if wanted and words:find(wanted, 1, true) then
      done(item, i)
      return
    end
  end
  done(nil, nil)
end
vim.ui.input = function(_, done)
  done(table.remove(M.answers, 1))
end

---@param line string
function M.print(line)
  io.stdout:write(line, "\n")
  io.stdout:flush()
end

---@param what string
---@param condition fun(): any
---@param ms? integer
function M.wait(what, condition, ms)
  local value
  local met = vim.wait(ms or 20000, function()
    value = condition()
    return value
  end, 5)
  if not met then
    local last = {}
    for i = math.max(1, #M.told - 3), #M.told do
      table.insert(last, M.told[i] and M.told[i].message)
    end
    error(("waited in vain: %s\n  told: %s"):format(what, table.concat(last, " | ")), 2)
  end
  return value
end

---Wait until the user was told something.
---@param words string
function M.wait_told(words, ms)
  return M.wait("being told " .. words, function()
    for _, told in ipairs(M.told) do
      if told.message:find(words, 1, true) then
        return told
      end
    end
  end, ms)
end

function M.forget()
  M.told = {}
end

---@param value any
---@param expected any
---@param what? string
function M.equal(value, expected, what)
  if not vim.deep_equal(value, expected) then
    error(("%s: expected %s, got %s"):format(what or "value", vim.inspect(expected), vim.inspect(value)), 2)
  end
end

---@param haystack string|string[]
---@param needle string
function M.has(haystack, needle)
  local words = type(haystack) == "table" and table.concat(haystack, "\n") or haystack
  if not words:find(needle, 1, true) then
    error(("%q is not in:\n%s"):format(needle, words:sub(1, 3000)), 2)
  end
end

---@param name string
---@param run fun()
function M.check(name, run)
  local started = vim.uv.hrtime()
  local ok, problem = xpcall(run, function(message)
    return debug.traceback(tostring(message), 2)
  end)
  local took = (vim.uv.hrtime() - started) / 1e6
  if ok then
    M.passed = M.passed + 1
    M.print(("ok    %s (%.0f ms)"):format(name, took))
  else
    M.failed = M.failed + 1
    M.print(("FAIL  %s\n%s"):format(name, problem))
  end
end

---@param buffer? integer
---@return string[]
function M.lines(buffer)
  return vim.api.nvim_buf_get_lines(buffer or 0, 0, -1, false)
end

---@param needle string
---@param buffer? integer
---@return integer? line
function M.line_with(needle, buffer)
  for i, line in ipairs(M.lines(buffer)) do
    if line:find(needle, 1, true) then
      return i
    end
  end
end

---Put the cursor on the first line with some words.
---@param needle string
function M.cursor_to(needle)
  local line = M.wait("the line " .. needle, function()
    return M.line_with(needle)
  end)
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  return line
end

---@param keys string
function M.press(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), "mx", false)
end

---Write what the screen shows into the build folder.
---@param name string
---@return string[]
function M.dump(name)
  vim.cmd("redraw!")
  local rows = {}
  for row = 1, vim.o.lines do
    local cells = {}
    for column = 1, vim.o.columns do
      cells[column] = vim.fn.screenstring(row, column)
    end
    rows[row] = (table.concat(cells):gsub("%s+$", ""))
  end
  for _, told in ipairs(M.told) do
    table.insert(rows, "▷ " .. told.message)
  end
  local file = assert(io.open(vim.fs.joinpath(M.dumps, name .. ".txt"), "w"))
  file:write(table.concat(rows, "\n"), "\n")
  file:close()
  return rows
end

---Wait for one answer of the server.
function M.ask(session, method, params)
  local answer
  session:request(method, params, function(failure, result)
    answer = { failure = failure, result = result }
  end)
  M.wait(method, function()
    return answer
  end)
  assert(not answer.failure, answer.failure and answer.failure.message)
  return answer.result
end

function M.finish()
  M.print(("%d passed, %d failed"):format(M.passed, M.failed))
  pcall(function()
    require("octavo.client").stop()
    vim.wait(3000, function()
      return require("octavo.client").lsp == nil
    end, 10)
  end)
  vim.fn.delete(M.tmp, "rf")
  -- Not os.exit(): Neovim ends its jobs only when it leaves by its own door.
  vim.cmd(M.failed == 0 and "qall!" or "cquit 1")
end

return M
