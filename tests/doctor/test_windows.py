"""Whether two version windows have a version in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from example_sanity.doctor.windows import common, shown


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("", ""),
        (">=2.0", ""),
        (">=2.0", "<=2.0"),
        ("==2.0", ">=1.5,<3"),
        ("~=2.2", ">2.9.9"),
        ("==1.2.*", "!=1.2"),
        (">1.2", "<1.3"),
        (">=5.5.3,!=5.6.0,<5.11", "==5.7"),
        (">=1.2.0rc6", "<1.3"),
        ("==2.6.0", "==2.6.0+cu124"),
    ],
)
def test_windows_that_meet(first: str, second: str) -> None:
    found = common(SpecifierSet(first), SpecifierSet(second))

    assert found is not None
    assert SpecifierSet(first).contains(found, prereleases=True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (">=2.0", "<2.0"),
        ("==0.5.8", "==0.5.12"),
        ("==5.3.0", ">=5.5.3,<5.11"),
        ("~=6.0", "~=7.0"),
        ("==1.2.*", ">=1.3"),
        ("==1.2", "!=1.2"),
        (">2,<2.0", ""),
        (">=1.2.0rc6", "<1.2"),  # "<" leaves out the pre-releases of its own version
    ],
)
def test_windows_that_do_not_meet(first: str, second: str) -> None:
    assert common(SpecifierSet(first), SpecifierSet(second)) is None
    assert common(SpecifierSet(second), SpecifierSet(first)) is None


VERSIONS = st.builds(lambda a, b: f"{a}.{b}", st.integers(0, 3), st.integers(0, 3))
SPECIFIERS = st.builds(
    lambda operator, version: operator + version,
    st.sampled_from(["==", "!=", ">=", "<=", ">", "<", "~="]),
    VERSIONS,
) | st.builds(lambda operator, version: f"{operator}{version}.*", st.sampled_from(["==", "!="]), VERSIONS)
WINDOWS = st.lists(SPECIFIERS, max_size=3).map(lambda items: SpecifierSet(",".join(items)))
GRID = [Version(f"{a}.{b}{c}") for a in range(5) for b in range(5) for c in ("", ".1", ".5", "rc1", ".post1")]


@given(WINDOWS, WINDOWS)
def test_it_agrees_with_trying_every_version(first: SpecifierSet, second: SpecifierSet) -> None:
    tried = [version for version in GRID if (first & second).contains(version, prereleases=True)]
    found = common(first, second)

    if found is None:
        assert tried == []
    else:
        assert first.contains(found, prereleases=True)
        assert second.contains(found, prereleases=True)


def test_a_window_that_was_joined_is_shown_once() -> None:
    assert shown(SpecifierSet(">=2") & SpecifierSet(">=2")) == ">=2"


@pytest.mark.parametrize(
    ("window", "text"),
    [
        ("", ""),
        ("!=5.6.0,<5.11,>=5.5.3", ">=5.5.3,<5.11,!=5.6.0"),
        (">=2,==2.4,>=2", "==2.4"),
        ("==2.*,>=2.1", "==2.*,>=2.1"),
        ("==v0.13.0", "==0.13.0"),
    ],
)
def test_windows_are_shown_as_people_write_them(window: str, text: str) -> None:
    assert shown(SpecifierSet(window)) == text
