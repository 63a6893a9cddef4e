"""A real run of a launcher, scaled down to the GPUs at hand: a plan, a tiny checkpoint, tiny data, a verdict."""
