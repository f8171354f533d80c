"""`python -m wengert` is the command `wengert`."""

import sys

from wengert.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
