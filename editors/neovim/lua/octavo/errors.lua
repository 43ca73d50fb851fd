--- Errors as one sentence for a person, whatever the server or Neovim made of them.
local M = {}

---@class octavo.Failure
---@field message string
---@field kind? string
---@field code? integer
---@field data? table<string, any>

---@param kind string
---@param message string
---@return octavo.Failure
function M.new(kind, message)
  return { kind = kind, message = message, data = { kind = kind } }
end

---@param text string
---@return string
local function first_sentence(text)
  local line = vim.trim(text):match("^[^\n]*") or ""
  -- A traceback, Lua's or Python's, says where and not what: its last line is the sentence.
  if line:find("^Traceback") then
    local lines = vim.split(vim.trim(text), "\n")
    line = lines[#lines]
  end
  return (line:gsub("^[%w_./\\-]+%.lua:%d+: ", ""))
end

---@param failure any What a callback got as its error.
---@return octavo.Failure
function M.read(failure)
  if type(failure) ~= "table" then
    return M.new("internal-error", first_sentence(tostring(failure)))
  end
  local data = type(failure.data) == "table" and failure.data or {}
  local message = type(failure.message) == "string" and failure.message or "The server gave no reason."
  return {
    message = first_sentence(message),
    kind = failure.kind or data.kind,
    code = failure.code,
    data = data,
  }
end

---@param failure any
---@param method? string
---@param server? string Name and version of the server.
---@return string
function M.sentence(failure, method, server)
  local read = M.read(failure)
  if read.kind == "method-not-found" or read.kind == "not-available" or read.code == -32601 then
    local name = server or "The server"
    return ("%s does not know %s; update it (pipx upgrade octavo)."):format(name, method or "this request")
  end
  if read.kind == "cancelled" or read.code == -32800 then
    return "Cancelled; nothing was written."
  end
  if read.kind == "invalid-params" then
    local bad = {}
    for _, detail in ipairs(type(read.data.details) == "table" and read.data.details or {}) do
      local where = type(detail.loc) == "table" and table.concat(vim.tbl_map(tostring, detail.loc), ".") or ""
      table.insert(bad, vim.trim(where .. " " .. tostring(detail.msg or "")))
    end
    if #bad > 0 then
      return ("%s (%s)"):format(read.message, table.concat(bad, "; "))
    end
  end
  return read.message
end

return M
