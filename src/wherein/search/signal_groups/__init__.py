"""The groups of signals, one module each: `SIGNALS` (name to range and reason) and `columns`."""
