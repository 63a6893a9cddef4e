"""From a launch script to the commands that it would run. Knows no backend."""
