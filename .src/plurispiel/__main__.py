"""`python -m plurispiel`: the command line."""

import sys

from plurispiel.tournaments.cli import main

if __name__ == "__main__":
    sys.exit(main())
