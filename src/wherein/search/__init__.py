"""Query to ranked hits."""
