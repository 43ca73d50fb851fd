"""octavo: a JSON-RPC sidecar that owns an agent's session tree and keeps it inside its context window."""

__version__ = "0.1.0"
