"""`python -m lopsided`: the command line, or, without the laboratory, what it needs."""

from lopsided.start import main

if __name__ == "__main__":
    main()
