"""The JSON-RPC daemon: framing, transports, dispatch, handlers."""
