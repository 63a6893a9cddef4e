"""One module per backend: which settings carry which size, what must divide what, what is derived."""
