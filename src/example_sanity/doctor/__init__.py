"""``doctor``: what is installed against what a launcher and its repository ask for. Nothing is imported or run."""
