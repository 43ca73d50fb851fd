"""Everything that makes history shorter without frames: cut points, summaries, pruning, shake."""
