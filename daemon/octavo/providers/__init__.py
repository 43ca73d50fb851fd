"""The models behind summaries: one module per wire, reached through `Completion` only."""
