"""Everything that is derived from the protocol models: schemas, the reference, golden wire files, the client's helpers.

`python -m octavo_protocol.generate` writes them, `--check` says which are stale. Nothing at run time imports this.
"""
