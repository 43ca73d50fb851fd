--- A real HTTP server on loopback that speaks Chat Completions: answers with a summary, or keeps its caller waiting.
local M = {}

---@class octavo.test.ModelServer
---@field url string
---@field asked integer Requests so far.
---@field silent boolean Whether it keeps callers waiting.
---@field text string What it answers.

---@param text string
---@return string
local function body_of(text)
  local events = {}
  for i = 1, #text, 40 do
    table.insert(events, vim.json.encode({ choices = { { index = 0, delta = { content = text:sub(i, i + 39) } } } }))
  end
  table.insert(events, vim.json.encode({ choices = { { index = 0, delta = vim.empty_dict(), finish_reason = "stop" } } }))
  table.insert(events, vim.json.encode({ choices = {}, usage = { prompt_tokens = 1000, completion_tokens = 40 } }))
  return "data: " .. table.concat(events, "\n\ndata: ") .. "\n\ndata: [DONE]\n\n"
end

---@param text string
---@return octavo.test.ModelServer
function M.start(text)
  local server = vim.uv.new_tcp()
  server:bind("127.0.0.1", 0)
  local self = { asked = 0, silent = false, text = text, open = 0 }
  server:listen(16, function()
    local peer = vim.uv.new_tcp()
    server:accept(peer)
    self.open = self.open + 1
    local received = ""
    peer:read_start(function(_, chunk)
      if not chunk then
        self.open = self.open - 1
        peer:close()
        return
      end
      received = received .. chunk
      local head, rest = received:match("^(.-\r\n\r\n)(.*)$")
      local length = head and tonumber(head:lower():match("content%-length: (%d+)"))
      if not length or #rest < length then
        return
      end
      self.asked = self.asked + 1
      received = ""
      if not self.silent then
        local body = body_of(self.text)
        peer:write(
          ("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s"):format(
            #body,
            body
          )
        )
      end
    end)
  end)
  self.url = ("http://127.0.0.1:%d/v1"):format(server:getsockname().port)
  return self
end

return M
