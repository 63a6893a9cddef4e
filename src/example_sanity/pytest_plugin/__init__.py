"""The pytest plugin: ``pytest --example-sanity`` adds our rules to the tests. It imports nothing more without a flag."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

MARKER = "example_sanity"
GPU = "gpu"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("example-sanity", "sanity checks of launch scripts")
    group.addoption(
        "--example-sanity",
        action="store_true",
        help="also check launchers, ignore lists and what else example-sanity looks at",
    )
    group.addoption(
        "--example-sanity-only", action="store_true", help="check these, and collect no other tests"
    )
    group.addoption(
        "--example-sanity-select",
        action="append",
        default=[],
        metavar="RULE",
        help="only these codes, names or families (repeatable)",
    )
    group.addoption("--example-sanity-preset", metavar="NAME", help="conventions to start from")
    group.addoption("--example-sanity-config", metavar="FILE", help="configuration file to use instead")
    group.addoption(
        "--example-sanity-smoke",
        action="store_true",
        help="also run each launcher for real, scaled down, where there is a GPU",
    )
    group.addoption(
        "--example-sanity-smoke-time-limit",
        type=float,
        default=30.0,
        metavar="MINUTES",
        help="end a launcher, and all that it started, after so long (default: 30)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and set to work where a flag asks for it."""
    config.addinivalue_line("markers", f"{MARKER}: an item of example-sanity")
    config.addinivalue_line("markers", f"{GPU}: runs a launcher on a GPU")
    if config.getoption("example_sanity_smoke"):
        from example_sanity.pytest_plugin.smoking import Smoking

        # First: it takes node ids from the call that are of no rule family.
        config.pluginmanager.register(Smoking(config), "example-sanity-smoke-items")
    if config.getoption("example_sanity") or config.getoption("example_sanity_only"):
        from example_sanity.pytest_plugin.collecting import Collecting

        config.pluginmanager.register(Collecting(config), "example-sanity-items")
