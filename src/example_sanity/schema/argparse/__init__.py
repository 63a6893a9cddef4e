"""Command-line parsers, read statically: which flags a program takes, and what is not known of them."""

from example_sanity.schema.argparse.reading import read_table
from example_sanity.schema.argparse.table import Flag, FlagTable, Positional

__all__ = ["Flag", "FlagTable", "Positional", "read_table"]
