--- Frames of a compaction as files: where the terminal cannot draw, a path can still be opened.
local M = {}

local text = require("octavo.text")

---@class octavo.FrameFile
---@field path string
---@field note string What is on it.

---@return string
function M.folder()
  return vim.fs.joinpath(vim.fn.stdpath("cache"), "octavo", "frames")
end

---@param entry table<string, any>
---@return table[]
local function frames_of(entry)
  local kept = text.present(entry.preserveData)
  local archive = type(kept) == "table" and kept.snapcompact
  local frames = type(archive) == "table" and archive.frames
  return type(frames) == "table" and vim.islist(frames) and frames or {}
end

---How many frames an entry carries.
---@param entry table<string, any>
---@return integer
function M.count(entry)
  return #frames_of(entry)
end

---Write the frames of an entry that are not there yet; say where they are.
---@param session_id string
---@param entry table<string, any>
---@return octavo.FrameFile[]
function M.save(session_id, entry)
  local files = {}
  for i, frame in ipairs(frames_of(entry)) do
    local extension = tostring(frame.mimeType or ""):match("^image/(%w+)$") or "bin"
    local name = ("%s-%02d.%s"):format(tostring(entry.id):gsub("[^%w_-]", "_"), i, extension)
    local folder = vim.fs.joinpath(M.folder(), (session_id:gsub("[^%w_-]", "_")))
    local path = vim.fs.joinpath(folder, name)
    local note = ("%s × %s cells, %s characters"):format(frame.cols or "?", frame.rows or "?", text.count(tonumber(frame.chars) or 0))
    if not vim.uv.fs_stat(path) then
      local decoded, bytes = pcall(vim.base64.decode, type(frame.data) == "string" and frame.data or "")
      if decoded and bytes ~= "" then
        vim.fn.mkdir(folder, "p")
        local file, problem = io.open(path, "wb")
        if file then
          file:write(bytes)
          file:close()
        else
          note = "could not be written: " .. tostring(problem)
        end
      else
        note = "its picture cannot be decoded"
      end
    end
    table.insert(files, { path = path, note = note })
  end
  return files
end

return M
