--- The pure modules, without a server.
local h = require("harness")
local errors = require("octavo.errors")
local frames = require("octavo.frames")
local preview = require("octavo.preview")
local search = require("octavo.search")
local statusline = require("octavo.statusline")
local text = require("octavo.text")
local transcript = require("octavo.transcript_model")
local tree = require("octavo.tree_model")

local icons = require("octavo.config").get().icons

---@param id string
---@param parent? string
---@param depth integer
---@param children integer
---@param more? table
local function node(id, parent, depth, children, more)
  return vim.tbl_extend("force", {
    id = id,
    parentId = parent,
    depth = depth,
    type = "message",
    role = "user",
    text = "text of " .. id,
    toolNames = {},
    isError = false,
    onBranch = true,
    isLeaf = false,
    childCount = children,
    hiddenChildren = 0,
  }, more or {})
end

local function ids(nodes)
  return table.concat(vim.tbl_map(function(one)
    return one.id
  end, nodes))
end

---@param names string
---@param before integer
---@param after integer
local function window(names, before, after)
  local nodes = {}
  for name in names:gmatch(".") do
    table.insert(nodes, node(name, nil, 0, 1))
  end
  return { nodes = nodes, hiddenBefore = before, hiddenAfter = after }
end

local function block(entry, options)
  return transcript.block(entry, vim.tbl_extend("force", { clip = 200, icons = icons }, options or {}))
end

return function()
  h.check("numbers are short and grouped", function()
    h.equal(text.count(0), "0")
    h.equal(text.count(999), "999")
    h.equal(text.count(1234567), "1,234,567")
    h.equal(text.count(-1234), "-1,234")
    h.equal(text.short(950), "950")
    h.equal(text.short(12400), "12.4k")
    h.equal(text.short(171204), "171k")
    h.equal(text.short(1234567), "1.2M")
    h.equal(text.short(vim.NIL), "?")
  end)

  h.check("text is cut by cells, not by bytes", function()
    h.equal(text.cut("abc", 3), "abc")
    h.equal(text.cut("abcd", 3), "ab…")
    h.equal(text.cut("満潮満潮", 5), "満潮…")
    h.equal(text.cut("", 3), "")
  end)

  h.check("times lose seconds and zone, and nonsense is nothing", function()
    h.equal(text.when("2026-03-02T09:38:00.000Z"), "2026-03-02 09:38")
    h.equal(text.when("yesterday"), "")
    h.equal(text.when(vim.NIL), "")
  end)

  h.check("lines keep no carriage returns and no NULs", function()
    h.equal(text.lines("a\r\nb\0c\n"), { "a", "b␀c", "" })
  end)

  h.check("errors are one sentence, whatever they look like", function()
    h.equal(errors.sentence({ code = -31010, message = "No session x." }), "No session x.")
    h.equal(errors.sentence("/some/where/client.lua:12: it broke\nstack traceback:\n\tfoo"), "it broke")
    h.equal(errors.sentence({ message = "Traceback (most recent call last):\n  File x\nValueError: bad" }), "ValueError: bad")
    h.equal(errors.sentence({ code = -32800, message = "x" }), "Cancelled; nothing was written.")
    h.equal(errors.sentence({ message = vim.NIL }), "The server gave no reason.")
    h.has(errors.sentence({ code = -32601, message = "x" }, "session/search", "The server octavo 0.0.1"), "octavo 0.0.1 does not know session/search; update it")
    local bad = { code = -32602, message = "Bad.", data = { kind = "invalid-params", details = { { loc = { "a", 1 }, msg = "is missing" } } } }
    h.equal(errors.sentence(bad), "Bad. (a.1 is missing)")
  end)

  h.check("windows of a tree that overlap are joined without repeating anything", function()
    local above = tree.merge(window("defg", 3, 9), window("abcde", 0, 11))
    h.equal({ ids(above.nodes), above.hiddenBefore, above.hiddenAfter }, { "abcdefg", 0, 9 })
    local below = tree.merge(window("defg", 3, 9), window("efghij", 4, 6))
    h.equal({ ids(below.nodes), below.hiddenBefore, below.hiddenAfter }, { "defghij", 3, 6 })
    local around = tree.merge(window("de", 3, 9), window("bcdefg", 1, 4))
    h.equal({ ids(around.nodes), around.hiddenBefore, around.hiddenAfter }, { "bcdefg", 1, 4 })
    local apart = tree.merge(window("de", 3, 9), window("xyz", 20, 0))
    h.equal({ ids(apart.nodes), apart.hiddenBefore, apart.hiddenAfter }, { "xyz", 20, 0 })
    h.equal(ids(tree.merge(window("", 0, 0), window("ab", 0, 0)).nodes), "ab")
  end)

  h.check("branches are drawn with a line as long as they have siblings below", function()
    local nodes = {
      node("root", nil, 0, 2),
      node("a", "root", 1, 1),
      node("a1", "a", 1, 2),
      node("x", "a1", 2, 0),
      node("y", "a1", 2, 0),
      node("b", "root", 1, 1),
      node("b1", "b", 1, 0),
    }
    h.equal(tree.guides(nodes), { "", "├╴", "│ ", "│ ├╴", "│ └╴", "└╴", "  " })
  end)

  h.check("a branch whose sibling is not loaded stays open", function()
    local nodes = { node("root", nil, 0, 2, { hiddenChildren = 1 }), node("a", "root", 1, 0) }
    h.equal(tree.guides(nodes), { "", "├╴" })
  end)

  h.check("a line names leaf, label, tools and forks, and its spans lie within it", function()
    local one = node("a", vim.NIL, 1, 2, {
      role = "assistant",
      isLeaf = true,
      label = "first\nidea",
      text = "Hello",
      toolNames = { "read", "bash" },
    })
    local line, spans = tree.line(one, "├╴", icons)
    h.equal(line, "├╴◆ agent     [first idea] Hello  read, bash  ⑂ 2")
    for _, span in ipairs(spans) do
      assert(span.from < span.to and span.to <= #line)
    end
    local odd = tree.line(node("b", nil, 0, 0, { type = "from_the_future", role = vim.NIL, onBranch = false }), "", icons)
    h.equal(odd, "○ from the future text of b")
  end)

  h.check("edges count what they hide", function()
    h.equal(tree.edge(0, "before"), nil)
    h.equal(tree.edge(1, "before"), "⋯ 1 entry above (<CR> loads them)")
    h.equal(tree.edge(1200, "after"), "⋯ 1,200 entries below (<CR> loads them)")
  end)

  h.check("a tool call is a fold of its own", function()
    local made = block({
      id = "a",
      type = "message",
      message = {
        role = "assistant",
        content = {
          { type = "text", text = "Let me look." },
          { type = "toolCall", id = "c", name = "bash", arguments = { command = "ls\npwd", timeout = 5 } },
          "not a block",
        },
      },
    })
    h.equal(made.lines, {
      "",
      "── agent ",
      "Let me look.",
      "  ▸ bash  ls pwd",
      "    command:",
      "      ls",
      "      pwd",
      "    timeout: 5",
    })
    h.equal(made.levels, { "0", "0", "0", ">1", "1", "1", "1", "1" })
    h.equal(made.anchor, 2)
  end)

  h.check("a tool result folds, says that it failed, and is cut when it is long", function()
    local made = block({
      id = "r",
      type = "message",
      message = { role = "toolResult", toolName = "bash", isError = true, content = { { type = "text", text = ("x\n"):rep(500) } } },
    }, { clip = 10 })
    h.equal(made.lines[1], "  ◂ bash failed  x")
    h.equal(#made.lines, 12)
    h.has(made.lines[12], "K shows the entry whole")
    assert(made.clipped)
    h.equal(made.levels[1], ">1")
    h.equal(made.groups[1], "OctavoError")
  end)

  h.check("a line of a megabyte is cut at a whole character", function()
    local made = block({ id = "r", type = "message", message = { role = "user", content = ("満"):rep(400000) } })
    assert(#made.lines[3] <= 65536)
    assert(vim.fn.strchars(made.lines[3]) * 3 == #made.lines[3], "a character was cut in two")
  end)

  h.check("a divider is a fold with the summary and the frames", function()
    local made = block({
      id = "c",
      type = "compaction",
      summary = "## Goal\nTea",
      shortSummary = "Tea\nis ready",
      tokensBefore = 82000,
      preserveData = { snapcompact = { frames = { {}, {} } } },
    }, { frames = { { path = "/p/1.png", note = "n1" }, { path = "/p/2.png", note = "n2" } } })
    h.equal(made.lines[2], "━━ compacted here · 82.0k tokens before · 2 frames ━━")
    h.equal(made.levels, { "0", ">1", "1", "1", "1", "1", "1", "1" })
    h.equal(made.paths, { [4] = "/p/1.png", [6] = "/p/2.png" })
    h.equal(made.kind, "divider")
    local plain = block({ id = "c", type = "compaction", summary = "Tea", shortSummary = "Tea\nis ready" })
    h.equal(plain.lines[2], "━━ compacted here · Tea is ready ━━")
  end)

  h.check("entries that are broken, unknown or silent do no harm", function()
    for _, entry in ipairs({
      { id = "1", type = "message" },
      { id = "2", type = "message", message = vim.NIL },
      { id = "3", type = "message", message = { role = "user" } },
      { id = "4", type = "message", message = { role = "assistant", content = vim.NIL } },
      { id = "5", type = "message", message = { role = "toolResult", content = { 1, { type = "text" } } } },
      { id = "6", type = "message", message = { role = "assistant", content = { { type = "toolCall" } } } },
      { id = "7", type = "from_the_future" },
      { id = "8", type = "custom", data = {} },
      { id = "9", type = "compaction", summary = vim.NIL, preserveData = { snapcompact = vim.NIL } },
      { id = "10", type = "label", targetId = "x", label = vim.NIL },
    }) do
      local made = block(entry)
      h.equal(#made.lines, #made.levels)
      for _, line in ipairs(made.lines) do
        assert(not line:find("\n"), line)
      end
    end
    h.equal(block({ id = "7", type = "from_the_future" }).kind, "hidden")
  end)

  h.check("frames become files once, and a broken one is named", function()
    local png = vim.base64.encode("\137PNG fake")
    local entry = { id = "../e", preserveData = { snapcompact = { frames = {
      { data = png, mimeType = "image/png", cols = 10, rows = 2, chars = 20 },
      { data = "§", mimeType = "image/png" },
    } } } }
    local files = frames.save("s/../1", entry)
    h.equal(#files, 2)
    assert(vim.startswith(files[1].path, frames.folder() .. "/s____1/"), files[1].path)
    local file = assert(io.open(files[1].path, "rb"))
    h.equal(file:read("a"), "\137PNG fake")
    file:close()
    h.equal(files[1].note, "10 × 2 cells, 20 characters")
    h.equal(files[2].note, "its picture cannot be decoded")
    h.equal(frames.save("s", { id = "x" }), {})
    h.equal(frames.count({ preserveData = vim.NIL }), 0)
  end)

  h.check("a hit is marked where the query is, in bytes", function()
    local line, matches = search.line({
      entryId = "e",
      type = "message",
      role = "user",
      timestamp = "2026-03-02T09:38:00.000Z",
      snippet = "満潮 😀 tea",
      matches = { { start = 6, ["end"] = 9 } },
      onBranch = true,
      archived = true,
    }, icons)
    h.equal(line:sub(matches[1].from + 1, matches[1].to), "tea")
    h.has(line, "archived")
  end)

  h.check("the plan says why nothing is possible, and what each strategy costs", function()
    h.has(preview.lines({ possible = false, reason = "nothing-to-compact" }), "too small")
    local lines, strategies = preview.lines({
      possible = true,
      tokensBefore = 171204,
      contextWindow = 200000,
      summarized = { messages = 362, tokens = 129324 },
      kept = { messages = 36, tokens = 23990 },
      files = { readFiles = { "a" }, modifiedFiles = {} },
      strategies = {
        { strategy = "context-full", available = false, unavailableReason = "No key." },
        { strategy = "snapcompact", available = true, chosen = true, frames = 8, modelCalls = 0, tokensAfter = 66100, fits = true, cost = 0 },
      },
    })
    h.has(lines, "not now: No key.")
    h.has(lines, "●")
    h.equal(vim.tbl_values(strategies), { "snapcompact" })
    h.has(lines, "8 frames")
  end)

  h.check("the gauge fills and never overflows", function()
    local gauge = { width = 4, full = "#", empty = "." }
    h.equal(statusline.bar(0, gauge), "....")
    h.equal(statusline.bar(50, gauge), "##..")
    h.equal(statusline.bar(250, gauge), "####")
    h.equal(statusline.running({ verb = "compacting", phase = "summary", percentage = 40 }), "compacting… summary 40%")
    h.equal(statusline.running({ verb = "compacting", phase = "turnPrefix" }), "compacting… begun turn")
    h.equal(statusline.running({ verb = "shaking" }), "shaking…")
  end)

  h.check("a configuration with mistakes is told what they are", function()
    local config = require("octavo.config")
    config.setup({ windw = 5, page = "many", cmd = "octavo" })
    local problems = table.concat(config.problems(), "\n")
    config.setup()
    h.has(problems, '"windw"')
    h.has(problems, '"page" must be a number')
    h.has(problems, '"cmd" must be a list')
    h.equal(config.problems(), {})
  end)
end
