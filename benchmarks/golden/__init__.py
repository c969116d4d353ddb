"""Golden files: the first ten hits of fixed queries, so that a ranking change is a diff."""
