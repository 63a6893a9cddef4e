"""The knobs family: scripts that are right, exact findings of those that are not, and fixes that leave nothing to find."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.checks.knobs.layout import Layout
from example_sanity.checks.knobs.options import KnobsOptions
from example_sanity.checks.knobs.pairing import pair
from example_sanity.checks.knobs.placement import quoted
from example_sanity.core.finding import Edit, Finding, Severity
from example_sanity.launch.syntax import DefaultKind, parse
from helpers import Write, brief, report

HERE = Path(__file__).parent
RIGHT = sorted((HERE / "ok").glob("*.sh"))
WRONG = sorted((HERE / "err").glob("*.sh"))
REGION = "# ---- user-adjustable ----\nTP=${TP:-2}\n# ---- end user-adjustable ----\n"
LAUNCH = 'torchrun train.py "$TP"\n'


def _apply(text: str, edits: Sequence[Edit]) -> str:
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:index]) for index in range(len(lines) + 1)]
    for edit in sorted(edits, key=lambda e: e.span, reverse=True):
        span = edit.span
        first, last = (
            starts[line - 1] + column - 1
            for line, column in ((span.line, span.column), (span.end_line, span.end_column))
        )
        text = text[:first] + edit.text + text[last:]
    return text


def _findings(write: Write, text: str, path: str = "run.sh") -> tuple[Finding, ...]:
    return report(write({path: text}), "knobs").findings


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_right_scripts_are_silent(write: Write, path: Path) -> None:
    assert [(f.span.line, f.code, f.message) for f in _findings(write, path.read_text())] == []


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_right_scripts_parse_so_that_their_silence_means_something(path: Path) -> None:
    assert parse(path.name, path.read_bytes()).errors == ()


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_wrong_scripts_get_exactly_these_findings(write: Write, path: Path) -> None:
    found = _findings(write, path.read_text())

    lines = [f"{f.span.line}:{f.span.column} {f.severity.value} {f.code} {f.message}" for f in found]
    assert "\n".join(lines) + "\n" == path.with_suffix(".txt").read_text()


def test_the_region_is_a_related_place(write: Write) -> None:
    (found,) = _findings(write, f'{REGION}SEED=${{SEED:-1}}\n{LAUNCH}echo "$SEED"\n')

    assert [(r.path, r.span.line, r.label) for r in found.related] == [
        ("run.sh", 1, "the region 'user-adjustable' (line 2) begins here")
    ]


def test_a_stray_knob_moves_into_the_region(write: Write) -> None:
    text = f'{REGION}SEED=${{SEED:-1}}  # any\n{LAUNCH}echo "$SEED"\n'
    (found,) = _findings(write, text)

    assert found.fix
    assert found.fix.safe
    fixed = _apply(text, found.fix.edits)
    assert fixed.splitlines()[:4] == [
        "# ---- user-adjustable ----",
        "TP=${TP:-2}",
        "SEED=${SEED:-1}  # any",
        "# ---- end user-adjustable ----",
    ]
    assert _findings(write, fixed) == ()


def test_a_stray_knob_above_the_region_moves_down(write: Write) -> None:
    text = f'SEED=${{SEED:-1}}\n{REGION}{LAUNCH}echo "$SEED"\n'
    (found,) = _findings(write, text)

    assert found.fix
    assert _findings(write, _apply(text, found.fix.edits)) == ()


@pytest.mark.parametrize(
    "between",
    ["echo $SEED", "HOME=/root", "SEED=2", "source env.sh"],
    ids=["read on the way", "default changes", "set on the way", "may be set on the way"],
)
def test_a_stray_knob_does_not_move_past_what_it_is_about(write: Write, between: str) -> None:
    text = f'SEED=${{SEED:-$HOME}}\n{between}\n{REGION}{LAUNCH}echo "$SEED"\n'
    found = [f for f in _findings(write, text) if f.code == "ENV001"]

    assert [f.fix for f in found] == [None]


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("NNODES=4", "NNODES=${NNODES:-4}"),
        ("nnodes=4", "nnodes=${NNODES:-4}"),
        ('dtype="bfloat16"', "dtype=${DTYPE:-bfloat16}"),
        ("name='a b'", "name=${NAME:-'a b'}"),
        ("empty=", "empty=${EMPTY:-}"),
        ("length=$((1024 * 2))", "length=${LENGTH:-$((1024 * 2))}"),
        ("export level=3", "export level=${LEVEL:-3}"),
        ("tp=2", "tp=${tp:-2}"),  # TP is another knob
        ("rank=0", "rank=${rank:-0}"),  # RANK is the process launcher's
    ],
)
def test_a_fixed_knob_becomes_overridable(write: Write, line: str, right: str) -> None:
    name = line.removeprefix("export ").partition("=")[0]
    text = f'# ---- knobs ----\nTP=${{TP:-2}}\n{line}\n# ---- end knobs ----\n{LAUNCH}echo "${name}"\n'
    (found,) = _findings(write, text)

    assert found.code == "ENV002"
    assert found.fix
    fixed = _apply(text, found.fix.edits)
    assert fixed.split("\n")[2] == right
    assert _findings(write, fixed) == ()


@given(
    st.text(alphabet=string.ascii_letters + string.digits + " './:-_,[]", max_size=12).filter(
        lambda t: "'" not in t
    )
)
def test_a_literal_stays_the_default(value: str) -> None:
    for literal in (f"'{value}'", f'"{value}"'):
        (found,) = parse("run.sh", f"A=${{A:-{quoted(literal)}}}\n".encode()).assignments
        assert (found.kind, found.via, found.default) == (DefaultKind.OVERRIDABLE, "A", value)


def test_a_misspelt_end_is_spelt_right(write: Write) -> None:
    text = (HERE / "err" / "misspelt_end.sh").read_text()
    (found,) = _findings(write, text)

    assert found.fix
    assert _findings(write, _apply(text, found.fix.edits)) == ()


@pytest.mark.parametrize(
    ("text", "right", "safe"),
    [
        ('set -u\ntorchrun "$CKPT/a"\n', 'torchrun "${CKPT:?set CKPT}/a"', True),
        ("torchrun ${CKPT}\n", "torchrun ${CKPT:?set CKPT}", False),
        ('RUN=a\ntorchrun "$RUN_test" $RUN\n', 'torchrun "${RUN}_test" $RUN', True),
        ("torchrun ${CKPT%/}\n", None, False),
        ("torchrun $((CKPT + 1))\n", None, False),
    ],
)
def test_an_unbound_variable_is_demanded(write: Write, text: str, right: str | None, safe: bool) -> None:
    (found,) = _findings(write, text)

    assert found.code == "ENV005"
    assert bool(found.fix) is bool(right)
    if found.fix:
        assert found.fix.safe is safe
        fixed = _apply(text, found.fix.edits)
        assert right in fixed.split("\n")
        assert _findings(write, fixed) == ()


@pytest.mark.parametrize(
    "source",
    [
        "source ./env.sh",
        "source env.sh",
        ". jobs/env.sh",
        'source "$(dirname "$0")/env.sh"',
        'source "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/env.sh"',
        'HERE=$(dirname "$0")\nsource "$HERE/../jobs/env.sh"',
        "source ${BASH_SOURCE%/*}/env.sh",
    ],
)
def test_what_a_sourced_file_sets_and_reads_counts(write: Write, source: str) -> None:
    root = write(
        {
            "jobs/run.sh": f'set -u\nUSED=1\nLOST=2\n{source}\ntorchrun "$GIVEN" "$MISSING"\n',
            "jobs/env.sh": "source jobs/more.sh\n",
            "jobs/more.sh": "GIVEN=$USED\n",
        }
    )

    assert brief(report(root, "knobs").findings) == [
        "jobs/run.sh:3 ENV003",
        f"jobs/run.sh:{4 + len(source.splitlines())} ENV005",
    ]


@pytest.mark.parametrize(
    "source",
    [
        "source $CONFIG",
        "source /opt/set_env.sh",
        ". ~/.bashrc",
        "source missing.sh",
        "source <(make_env)",
        "source $CONFIG/env.sh",
    ],
)
def test_a_source_that_cannot_be_told_silences_both_rules(write: Write, source: str) -> None:
    root = write(
        {
            "run.sh": f'set -u\nCONFIG=${{1:-a}}\nLOST=2\n{source}\ntorchrun "$MISSING" $CONFIG\n',
            "env.sh": "A=1\necho $A\n",
        }
    )

    assert report(root, "knobs").findings == ()


def test_a_script_that_another_sources_may_set_what_that_one_reads(write: Write) -> None:
    root = write(
        {
            "scripts/train.sh": "MODEL_ARGS=(--layers 36)\npython3 probe.py\n",
            "scripts/all.sh": 'source "${DIR}/train.sh"\ntorchrun train.py "${MODEL_ARGS[@]}"\n',
        }
    )

    assert "ENV003" not in {f.code for f in report(root, "knobs").findings}


@pytest.mark.parametrize(
    "caller",
    [
        {"submit.sh": "export CKPT=/c\nbash jobs/run.sh\n"},
        {"submit.sh": "sbatch --export=CKPT jobs/run.sh\n"},
        {".github/workflows/e2e.yml": "steps:\n- run: bash jobs/run.sh\n  env:\n    CKPT: /c\n"},
        {"README.md": "Choose first:\n\n    export CKPT=/c\n    bash jobs/run.sh\n"},
        {"jobs/README.md": "`CKPT=/c bash run.sh` starts it; SEED is free.\n"},
    ],
)
def test_a_caller_that_passes_the_variable_sets_it(write: Write, caller: dict[str, str]) -> None:
    files = {"jobs/run.sh": "set -u\ntorchrun train.py $CKPT $SEED\n", **caller}

    found = report(write(files), "knobs").findings
    assert [f.message.partition(" ")[0] for f in found] == ["SEED"]


def test_a_readme_of_other_scripts_says_nothing_of_this_one(write: Write) -> None:
    files = {
        "jobs/run.sh": "torchrun train.py $CKPT\n",
        "README.md": "export CKPT=/c\nbash jobs/other.sh\n",
        "docs/README.md": "CKPT=/c bash run.sh\n",
    }
    (found,) = report(write(files), "knobs").findings
    assert found.code == "ENV005"


@pytest.mark.parametrize(
    ("switch", "severity"),
    [
        ("set -u", Severity.ERROR),
        ("set -euo pipefail", Severity.ERROR),
        ("set -o nounset", Severity.ERROR),
        ("#!/bin/bash -eu", Severity.ERROR),
        ("set -e", Severity.WARNING),
        ("set -u\nset +u", Severity.WARNING),
        ("set -eo pipefail", Severity.WARNING),
    ],
)
def test_an_unbound_variable_is_an_error_where_it_ends_the_run(
    write: Write, switch: str, severity: Severity
) -> None:
    (found,) = _findings(write, f"{switch}\ntorchrun train.py $CKPT\n")

    assert found.severity is severity


OPTIONS = {
    "roots": ('roots = ["jobs"]', "SEED=1\ntorchrun train.py\n"),
    "region-titles": ('region-titles = ["settings"]', "# ---- settings ----\nTP=${TP:-2}\n" + LAUNCH),
    "derived-headings": (
        'derived-headings = ["site*"]',
        f"{REGION}# ---- site defaults ----\nN=${{N:-1}}\n{LAUNCH}echo $N\n",
    ),
    "provided": ('provided = ["CKPT_*"]', "set -u\ntorchrun train.py $CKPT_DIR\n"),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_each_option_changes_the_outcome(write: Write, option: str) -> None:
    line, text = OPTIONS[option]
    default = _findings(write, text, "lib/run.sh")
    root = write(
        {"pyproject.toml": f"[tool.example-sanity.knobs]\n{line}\n", "jobs/a.sh": LAUNCH.replace("$TP", "$1")}
    )

    assert bool(default) is not bool(report(root, "knobs").findings)


def test_a_pair_of_markers_without_a_default_is_no_knob_region(write: Write) -> None:
    text = f'{REGION}# ---- launch ----\nPORT=8000\n# ---- end launch ----\n{LAUNCH}echo "$PORT"\n'

    assert _findings(write, text) == ()


@given(st.lists(st.sampled_from(["a", "end a", "b", "end b", "user-adjustable"]), max_size=8))
def test_every_marker_has_one_role(titles: list[str]) -> None:
    text = "".join(f"# ---- {title} ----\n" for title in titles)
    found = pair(Layout(parse("run.sh", text.encode()), KnobsOptions()))

    roles = [*found.lonely, *found.orphans, *found.headings, *(m for both in found.pairs for m in both)]
    assert sorted(m.span.line for m in roles) == list(range(1, len(titles) + 1))
    assert all(not b.end and e.end and b.title == e.title and b.span < e.span for b, e in found.pairs)
