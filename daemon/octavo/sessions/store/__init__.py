"""Where sessions are kept: JSON lines on disk, or memory."""
