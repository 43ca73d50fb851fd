"""When and how a session is made smaller: triggers, orchestration, idle time."""
