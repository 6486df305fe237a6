"""`python -m lopsided.cli`."""

from lopsided.cli import main

main()
