"""`python -m docassay` is the command line."""

from docassay.cli import main

if __name__ == "__main__":
    main()
