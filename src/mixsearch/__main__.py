"""``python -m mixsearch``: the command line."""

from mixsearch.cli import main

if __name__ == "__main__":
    main()
