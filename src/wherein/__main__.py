"""Runs the command: ``python -m wherein``."""

import sys

from wherein.cli.main import main

sys.exit(main())
