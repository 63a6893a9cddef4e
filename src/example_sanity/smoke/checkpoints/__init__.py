"""Tiny random checkpoints by family: their configuration, weights, and a tokenizer, made once for each content."""
