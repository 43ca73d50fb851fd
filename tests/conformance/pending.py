"""Upstream functions whose feature is not built yet; a function leaves this table when its adapter arrives."""

PENDING: dict[str, str] = {
    "AgentSession agent_end maintenance": "to come",
    "AgentSession.compact": "to come",
    "AgentSession.compact with extension handlers": "to come",
    "AgentSession.handoff": "to come",
    "AgentSession.navigateTree": "to come",
    "AgentSession.runIdleCompaction": "to come",
    "AgentSession.shake": "to come",
}
