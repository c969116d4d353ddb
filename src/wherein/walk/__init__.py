"""Which files there are, and of what kind."""
