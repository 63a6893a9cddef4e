"""The helper for tests of rules."""

from __future__ import annotations

import pytest

from example_sanity import Rule, Subject, UsageError
from example_sanity.checks.ignores.suppressions import UnusedSuppression
from example_sanity.checks.knobs.variables import UnusedKnob
from example_sanity.checks.mesh.rules import DenseMesh
from example_sanity.checks.naming import ForbiddenToken
from example_sanity.core.system import UnparsableShell
from example_sanity.testing import check_rule
from spy import Bad, SpyPlugin

NAME = "examples/run_a_vllm_fsdp.sh"


class Anything(Rule):
    """Finds every script."""

    code = "ANY001"
    name = "anything"
    summary = "there is a script"
    subject = Subject.SCRIPT_PATH

    def check(self, subject, context):  # type: ignore[no-untyped-def]
        del context
        yield self.finding(subject, span=_FIRST, message="found")


_FIRST = check_rule(ForbiddenToken, "", path=NAME)[0].span


def test_only_the_rule_speaks() -> None:
    text = UnusedKnob.bad[0].text
    assert [finding.code for finding in check_rule(UnusedKnob, text, path=NAME)] == ["ENV003"]
    assert check_rule(UnusedKnob, "python3 train.py\n", path=NAME) == []


def test_options_are_the_table_of_the_family() -> None:
    assert check_rule(ForbiddenToken, "", path=NAME, options={"forbidden": {}}) == []
    with pytest.raises(UsageError, match="unknown key 'forbiden'"):
        check_rule(ForbiddenToken, "", path=NAME, options={"forbiden": {}})


def test_further_files_are_there() -> None:
    text = "source lib.sh\npython3 train.py $UNSET_KNOB\n"
    files = {"examples/lib.sh": "A=1\n", "example-sanity.toml": "ignore = ['naming']\n"}

    assert check_rule(ForbiddenToken, text, path=NAME, files=files) == []


def test_a_rule_on_suppressions_knows_the_others() -> None:
    used, unused = "# sanity: ignore-file[NAM002] old\n", "# sanity: ignore-file[NAM001] old\n"

    assert check_rule(UnusedSuppression, used, path=NAME) == []
    assert len(check_rule(UnusedSuppression, unused, path=NAME)) == 1


def test_rules_of_plugins_and_rules_of_nobody() -> None:
    assert len(check_rule(Bad, "BAD\n", path="a.md", plugins=[SpyPlugin()])) == 1
    assert [finding.message for finding in check_rule(Anything, "")] == ["found"]


def test_what_cannot_be_inspected_is_no_clean_file() -> None:
    with pytest.raises(ValueError, match="could not be inspected: SYS003 bash cannot parse"):
        check_rule(DenseMesh, "if then\n")
    assert check_rule(UnparsableShell, "if then\n") != []
