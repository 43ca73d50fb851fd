"""Upstream functions whose feature is not built yet; a function leaves this table when its adapter arrives."""

PENDING: dict[str, str] = {
    "AgentSession agent_end maintenance": "to come",
    "AgentSession.compact": "to come",
    "AgentSession.compact with extension handlers": "to come",
    "AgentSession.handoff": "to come",
    "AgentSession.navigateTree": "to come",
    "AgentSession.runIdleCompaction": "to come",
    "AgentSession.shake": "to come",
    "SessionManager persistence": "to come",
    "compact": "to come",
    "generateBranchSummary": "to come",
    "generateBranchSummary / compact / generateHandoff": "to come",
    "generateHandoff": "to come",
    "getPreservedOpenAiRemoteCompactionData / withOpenAiRemoteCompactionPreserveData(x, undefined)": "to come",
    "listSessions": "to come",
    "prepareBranchEntries": "to come",
    "prepareEntryForPersistence": "to come",
    "requestOpenAiRemoteCompaction": "to come",
    "requestRemoteCompaction": "to come",
}
