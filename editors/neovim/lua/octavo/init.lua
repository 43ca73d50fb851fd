--- What other configuration calls: the statusline component, and `setup()` for those who like one.
local M = {}

---Optional; the same table may be given as `vim.g.octavo`.
---@param options? table<string, any>
function M.setup(options)
  require("octavo.config").setup(options)
end

---How full the context of the session of this buffer is, or what is being done to it.
---@param options? { escape?: boolean }
---@return string
function M.statusline(options)
  return require("octavo.statusline").component(options)
end

---Open a session by file and call back with it.
---@param path string
---@param done? fun(session: octavo.Session)
function M.open(path, done)
  require("octavo.session").open({ path = vim.fs.normalize(path) }, done or function() end)
end

---The session commands are about now.
---@return octavo.Session?
function M.session()
  return require("octavo.session").current()
end

return M
