"""Upstream functions whose feature is not built yet; a function leaves this table when its adapter arrives."""

PENDING: dict[str, str] = {}
