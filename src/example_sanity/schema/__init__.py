"""What trainers accept: command-line parsers and configuration trees, read without importing them."""
