"""A worker that cannot start."""


def main() -> None:
    raise SystemExit(3)
