"""Mesh algebra, one small module per backend, and the guard prover. Knows no shell."""
