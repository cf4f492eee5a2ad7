"""`python -m optiscore.table` is `optiscore`."""

from . import main

main()
