"""Hydra configuration: where it lives, what it holds, and of what type. Nothing of a checked project is imported."""
