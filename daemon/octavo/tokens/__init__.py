"""How large a context is: counting, usage, thresholds and what is known of models."""
