"""`python -m linnet` is the command `linnet`."""

import sys

from linnet.command import main

sys.exit(main())
