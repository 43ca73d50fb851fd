if vim.g.loaded_octavo then
  return
end
vim.g.loaded_octavo = true

vim.api.nvim_create_user_command("Octavo", function(command)
  require("octavo.commands").run(command)
end, {
  nargs = "*",
  bang = true,
  desc = "Session trees, transcripts and compaction",
  complete = function(lead, line, position)
    return require("octavo.commands").complete(lead, line, position)
  end,
})
