"""The rule families, one module each."""
