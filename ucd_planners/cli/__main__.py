"""`python -m ucd_planners.cli` is the command `ucd`."""

import sys

from ucd_planners.cli import main

sys.exit(main())
