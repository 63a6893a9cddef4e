"""Command-line parsers, read statically: which flags a program takes, and what is not known of them."""
