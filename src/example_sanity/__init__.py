"""Lint and sanity checks for repositories that ship LLM-training launch scripts."""

from __future__ import annotations

__version__ = "0.1.0"
