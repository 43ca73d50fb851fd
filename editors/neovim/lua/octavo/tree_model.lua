--- The tree as lines to draw: merges windows of nodes, draws branches. Pure; knows no buffers and no server.
local M = {}

local text = require("octavo.text")

---@class octavo.TreeWindow
---@field nodes octavo.TreeNode[]
---@field hiddenBefore integer
---@field hiddenAfter integer

---Where a node is in a list, or nil.
---@param nodes octavo.TreeNode[]
---@param id string
---@return integer?
function M.find(nodes, id)
  for i, node in ipairs(nodes) do
    if node.id == id then
      return i
    end
  end
end

---Join a further window to the one that is shown; windows that do not touch replace each other.
---@param shown octavo.TreeWindow
---@param more octavo.TreeWindow
---@return octavo.TreeWindow
function M.merge(shown, more)
  local first, last = more.nodes[1], more.nodes[#more.nodes]
  if not first or #shown.nodes == 0 then
    return more
  end
  local nodes = {}
  local meets = M.find(more.nodes, shown.nodes[1].id)
  if meets then
    vim.list_extend(nodes, more.nodes, 1, meets - 1)
    vim.list_extend(nodes, shown.nodes)
    local reach = M.find(more.nodes, shown.nodes[#shown.nodes].id)
    if reach then
      vim.list_extend(nodes, more.nodes, reach + 1)
    end
    return {
      nodes = nodes,
      hiddenBefore = more.hiddenBefore,
      hiddenAfter = reach and more.hiddenAfter or shown.hiddenAfter,
    }
  end
  local from = M.find(shown.nodes, first.id)
  if not from or not last then
    return more
  end
  vim.list_extend(nodes, shown.nodes, 1, from - 1)
  vim.list_extend(nodes, more.nodes)
  return { nodes = nodes, hiddenBefore = shown.hiddenBefore, hiddenAfter = more.hiddenAfter }
end

---The lines of branches to the left of each node.
---@param nodes octavo.TreeNode[]
---@return string[]
function M.guides(nodes)
  local left = {} ---@type table<string, integer> children of a parent yet to come
  for _, node in ipairs(nodes) do
    left[node.id] = node.childCount - node.hiddenChildren
  end
  local hidden = {}
  local depth_of = {}
  for _, node in ipairs(nodes) do
    hidden[node.id] = node.hiddenChildren
    depth_of[node.id] = node.depth
  end
  local open = {} ---@type table<integer, boolean> whether a sibling comes below, by depth
  local guides = {}
  for i, node in ipairs(nodes) do
    local parent = text.present(node.parentId)
    local head = false
    if parent and left[parent] then
      left[parent] = left[parent] - 1
      head = node.depth > depth_of[parent]
      if head then
        open[node.depth] = left[parent] > 0 or hidden[parent] > 0
      end
    end
    local parts = {}
    for depth = 1, node.depth do
      if depth == node.depth and head then
        parts[depth] = open[depth] and "├╴" or "└╴"
      else
        parts[depth] = open[depth] and "│ " or "  "
      end
    end
    guides[i] = table.concat(parts)
  end
  return guides
end

---What an entry is, in a word.
---@param node { type: string, role?: string }
---@param icons table<string, string>
---@return string
function M.kind(node, icons)
  local name = text.present(node.role) or node.type
  return icons[name] or (name:gsub("_", " "))
end

---@class octavo.Span
---@field from integer First byte.
---@field to integer Byte after the last.
---@field group string Highlight group.

local groups = {
  user = "OctavoUser",
  assistant = "OctavoAgent",
  toolResult = "OctavoTool",
  compaction = "OctavoDivider",
  branch_summary = "OctavoDivider",
}

---One node as a line.
---@param node octavo.TreeNode
---@param guide string
---@param icons table<string, string>
---@return string line
---@return octavo.Span[] spans
function M.line(node, guide, icons)
  local line, spans = "", {}
  local function add(piece, group)
    if group and piece ~= "" then
      table.insert(spans, { from = #line, to = #line + #piece, group = group })
    end
    line = line .. piece
  end
  local mark = node.isLeaf and icons.leaf or node.onBranch and icons.active or icons.other
  add(guide, "OctavoMeta")
  add(mark .. " ", node.isLeaf and "OctavoLeaf" or node.onBranch and "OctavoUser" or "OctavoOther")
  local kind = M.kind(node, icons)
  local dim = not node.onBranch and "OctavoOther" or nil
  local group = dim or groups[text.present(node.role) or node.type] or "OctavoTool"
  add(kind .. (" "):rep(math.max(1, 10 - vim.fn.strdisplaywidth(kind))), group)
  local label = text.present(node.label)
  if label then
    add("[" .. text.flat(label) .. "]", "OctavoLabel")
    add(" ")
  end
  local words = text.flat(node.text)
  add(words, node.isError and "OctavoError" or dim or (group == "OctavoTool" and group or nil))
  if #node.toolNames > 0 and not words:find(node.toolNames[1], 1, true) then
    add((words == "" and "" or "  ") .. table.concat(node.toolNames, ", "), "OctavoTool")
  end
  if node.childCount > 1 then
    add(("  ⑂ %d"):format(node.childCount), "OctavoMeta")
  end
  return line, spans
end

---The line that stands for what is not loaded.
---@param count integer
---@param where "before"|"after"
---@return string?
function M.edge(count, where)
  if count <= 0 then
    return nil
  end
  return ("⋯ %s %s (<CR> loads them)"):format(text.plural(count, "entry", "entries"), where == "before" and "above" or "below")
end

return M
