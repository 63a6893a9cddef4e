"""Findings, rules, configuration, project discovery and the runner. Knows no rule and no shell."""
