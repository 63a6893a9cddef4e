"""ENV006 and ENV007: what the comment at the top of a launcher says of its knobs."""

from __future__ import annotations

import pytest

from example_sanity.checks.knobs.header import UndocumentedKnob, WrongDocumentedDefault
from example_sanity.core.rule import Rule
from example_sanity.testing import check_rule

REGION = (
    "# ---- knobs ----\nTP=${TP:-2}\nPP=${PP:-1}\nCP=${CP:-1}\nEP=${EP:-1}\nDIR=${DIR:-$PWD}\n# ---- end knobs ----\n"
    "python3 train.py $TP $PP $CP $EP $DIR\n"
)


def said(rule: type[Rule], header: str, rest: str = REGION) -> list[str]:
    return [
        f"{item.span.line}:{item.span.column} {item.message}"
        for item in check_rule(rule, f"{header}\n{rest}")
    ]


@pytest.mark.parametrize(
    "header",
    [
        "#   TP   tensor parallel (default: 2)\n#   DIR  where (default: the current folder)",
        "#   TP=2   tensor parallel\n#   OTHER=4   of the program",
        "# TP: tensor parallel [default 2]",
        "#   TP=<number>   tensor parallel",
        "# GRPO - DEFAULT settings (default: 7)",
        "echo\n#   TP   (default: 9)",
    ],
)
def test_headers_that_agree_are_silent(header: str) -> None:
    assert said(WrongDocumentedDefault, header) == []


def test_a_knob_with_several_defaults_needs_one_that_agrees() -> None:
    text = "if [ $D = a ]; then TP=${TP:-4}; else TP=${TP:-8}; fi\npython3 train.py $TP\n"
    assert said(WrongDocumentedDefault, "#   TP   tensor parallel (default: 8)", text) == []
    assert len(said(WrongDocumentedDefault, "#   TP   tensor parallel (default: 9)", text)) == 1


@pytest.mark.parametrize(
    ("header", "place"),
    [
        ("#   TP   tensor parallel (default: 4)", "1:36"),
        ("#   TP=4   tensor parallel", "1:8"),
        ("# TP: tensor parallel, default 4, of a node", "1:32"),
    ],
)
def test_headers_with_another_default(header: str, place: str) -> None:
    assert said(WrongDocumentedDefault, header) == [f"{place} the default of TP is 2, not 4"]
    (item,) = check_rule(WrongDocumentedDefault, f"{header}\n{REGION}")
    assert item.fix is not None
    assert item.fix.edits[0].text == "2"


LISTED = "#   TP   one\n#   PP   two\n#   CP   three"


def test_headers_that_describe_all_or_few_knobs_are_silent() -> None:
    assert said(UndocumentedKnob, f"{LISTED}\n#   EP   four\n#   DIR   five") == []
    assert said(UndocumentedKnob, f"{LISTED}\n# and EP, DIR") == []
    assert said(UndocumentedKnob, "#   TP   one\n#   PP   two") == []


def test_headers_that_leave_a_knob_out() -> None:
    assert said(UndocumentedKnob, LISTED) == [
        "8:1 the header describes 3 of 5 knobs, and not EP",
        "9:1 the header describes 3 of 5 knobs, and not DIR",
    ]
