--- Session files for the tests: an invented project of a given length, and huge or broken ones.
local M = {}

---@class octavo.test.Recipe
---@field entries integer
---@field model? string
---@field bytes? integer Size of each tool output.

local topics = {
  { ask = "The buoy feed drops every seventh sample; find out why.", file = "feed/reader.lua" },
  { ask = "Write a test for the leap second.", file = "tests/leap_spec.lua" },
  { ask = "Why is the harbour map upside down on tablets?", file = "map/projection.lua" },
  { ask = "Rename the gauge module; nobody knows what a float is.", file = "gauge/float.lua" },
}

---@param path string
---@param recipe octavo.test.Recipe
---@return { ids: string[], users: { id: string, text: string }[], path: string }
function M.write(path, recipe)
  local file = assert(io.open(path, "w"))
  local made = { ids = {}, users = {}, path = path }
  local parent = vim.NIL
  local number = 0
  local function put(object)
    file:write(vim.json.encode(object), "\n")
  end
  local function add(kind, fields)
    number = number + 1
    local id = ("%08x"):format((number * 40503) % 2 ^ 31)
    local stamp = os.date("!%Y-%m-%dT%H:%M:%S.000Z", 1772440000 + number * 30)
    put(vim.tbl_extend("force", { type = kind, id = id, parentId = parent, timestamp = stamp }, fields))
    parent = id
    table.insert(made.ids, id)
    return id
  end
  local function message(fields)
    fields.timestamp = (1772440000 + number * 30) * 1000
    return add("message", { message = fields })
  end
  put({
    type = "session",
    version = 3,
    id = ("019d0000-0000-7000-8000-%012x"):format(recipe.entries * 1000 + (recipe.bytes or 0) % 1000),
    timestamp = "2026-03-02T08:00:00.000Z",
    cwd = "/home/ada/buoys",
    title = "Buoys that forget their seventh sample",
    titleSource = "user",
  })
  add("model_change", { model = recipe.model or "anthropic/claude-sonnet-4-5" })
  local model = { api = "openai-completions", provider = "local", model = "small" }
  local turn = 0
  while number < recipe.entries do
    turn = turn + 1
    local topic = topics[(turn - 1) % #topics + 1]
    local ask = ("%s (round %d)"):format(topic.ask, turn)
    if turn == 3 then
      ask = ask .. " The password of the weather station is written on the zirconium plate."
    end
    table.insert(made.users, { id = message({ role = "user", content = ask }), text = ask })
    for step = 1, 3 do
      if number + 2 >= recipe.entries then
        break
      end
      local call = ("call_%d_%d"):format(turn, step)
      local command = ("grep -n sample %s | head -%d"):format(topic.file, step * 10)
      message(vim.tbl_extend("force", model, {
        role = "assistant",
        content = {
          { type = "text", text = ("Looking at %s, step %d."):format(topic.file, step) },
          { type = "toolCall", id = call, name = "bash", arguments = { command = command } },
        },
        stopReason = "toolUse",
      }))
      local lines = {}
      for i = 1, 12 do
        lines[i] = ("%s:%d: local sample = feed[%d] -- round %d of %s"):format(topic.file, i * 7, i, turn, "the feed")
      end
      local output = table.concat(lines, "\n")
      if recipe.bytes then
        output = output .. "\n" .. ("0123456789abcdef "):rep(math.floor(recipe.bytes / 17))
      end
      message({
        role = "toolResult",
        toolCallId = call,
        toolName = "bash",
        content = { { type = "text", text = output } },
        isError = step == 3 and turn % 5 == 0,
      })
    end
    if number < recipe.entries then
      message(vim.tbl_extend("force", model, {
        role = "assistant",
        content = { { type = "text", text = ("Round %d is done: **%s** now keeps every sample."):format(turn, topic.file) } },
        stopReason = "stop",
      }))
    end
  end
  file:close()
  return made
end

return M
