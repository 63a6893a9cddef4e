"""Comment lines that open and close regions, in the ways that launchers write them."""

from __future__ import annotations

import pytest

from example_sanity.launch.syntax import parse


def headings(text: str) -> list[tuple[str, bool]]:
    return [(item.title, item.end) for item in parse("run.sh", text.encode()).markers]


@pytest.mark.parametrize(
    "line",
    [
        "# user-adjustable",
        "#",
        "##########",
        "# ----------",
        "# ==========",
        "# --- ---",
        "#!/usr/bin/env bash",
        "### usage: run it",
        "####clear after training",
        "# set TP - EP - PP",
        "# - item -",
        "#   - flash: 16 nodes, PP4",
        "A=1  # ---- user-adjustable ----",
        "echo '# ---- user-adjustable ----'",
        "# ngpu / pp = tp * ep * dp ----",
        "cat <<'EOF'\n# ---- user-adjustable ----\nEOF",
    ],
)
def test_ordinary_comments_and_rulers_are_no_markers(line: str) -> None:
    assert headings(line + "\n") == []


@pytest.mark.parametrize(
    ("line", "title", "end"),
    [
        ("# ---- user-adjustable ----", "user-adjustable", False),
        ("# ---- end user-adjustable ----", "user-adjustable", True),
        ("#---- user-adjustable ----", "user-adjustable", False),
        ("# ---- User-Adjustable  (CI: short) ----", "user-adjustable", False),
        ("########## mlite backend knobs ##########", "mlite backend knobs", False),
        ("##### end mlite  backend knobs #####", "mlite backend knobs", True),
        ("### knobs ###", "knobs", False),
        ("# === End: knobs ===", "knobs", True),
        ("# --- end of knobs ---", "knobs", True),
        ("# ──── knobs ────", "knobs", False),
        ("# *** knobs ***", "knobs", False),
        ("# === end-to-end ===", "end-to-end", False),
        ("# === end to end run ===", "end to end run", False),
        ("# === launch ===", "launch", False),
        ("    # --- loss ---", "loss", False),
        ("# -- cp_plan & module_patches --", "cp_plan & module_patches", False),
        ("# ---- knobs ----\r", "knobs", False),
        ("# ---- 设置 ----", "设置", False),
    ],
)
def test_markers(line: str, title: str, end: bool) -> None:
    assert headings(line + "\n") == [(title, end)]


def regions(*lines: str) -> list[tuple[str, int, int]]:
    parsed = parse("run.sh", "\n".join(lines).encode())
    return [(item.title, item.first_line, item.last_line) for item in parsed.regions]


def test_headings_without_an_end_are_no_regions() -> None:
    assert regions("# === derived defaults ===", "A=1", "# === launch ===", "cmd") == []
    assert regions("# === end knobs ===") == []


def test_a_region_is_what_stands_between() -> None:
    assert regions("# --- a ---", "A=1", "B=2", "##### end a #####", "C=3") == [("a", 2, 3)]


def test_a_remark_may_stand_at_one_side_only() -> None:
    assert regions("# --- a (b) ---", "A=1", "# --- end a ---") == [("a", 2, 2)]


def test_headings_inside_and_several_regions() -> None:
    assert regions(
        "# --- a ---",
        "# --- b ---",
        "A=1",
        "# --- end a ---",
        "# --- c ---",
        "# --- end c ---",
        "# --- a ---",
    ) == [("a", 2, 3), ("c", 6, 5)]


def test_nested_regions_and_twice_the_same() -> None:
    assert regions("# --- a ---", "# --- b ---", "# --- end b ---", "# --- end a ---") == [
        ("a", 2, 3),
        ("b", 3, 2),
    ]
    assert regions("# --- a ---", "# --- a ---", "# --- end a ---") == [("a", 3, 2)]
