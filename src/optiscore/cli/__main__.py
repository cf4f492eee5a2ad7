"""`python -m optiscore.cli` is `optiscore`."""

from . import main

main()
