"""The session tree: files, entries, branches and the context built from them."""
