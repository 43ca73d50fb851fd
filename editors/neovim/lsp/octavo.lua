-- Found by Neovim on the runtimepath; change any of it with `vim.lsp.config("octavo", { … })`.
-- The plugin starts the client when a command needs it: `vim.lsp.enable("octavo")` is not necessary.
---@type vim.lsp.Config
return {
  cmd = { "octavo", "attach" },
  filetypes = { "octavo-tree", "octavo-transcript" },
  init_options = {},
}
