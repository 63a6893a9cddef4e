"""Failures that a step swallows: what is looked at, or was never meant to count, is silent."""

from __future__ import annotations

import pytest

from example_sanity.core.finding import Finding
from helpers import Write, report

WORKFLOW = ".github/workflows/e2e.yml"
FILES: dict[str, str | bytes] = {
    "tests/e2e/run_sft.sh": "python3 train.py\n",
    "tests/unit/test_loss.py": "",
    "gen.py": "",
    "pkg/__init__.py": "",
    "pkg/gen.py": "",
    "ci/stop.sh": "true\n",
}


def _workflow(script: str, *, step: str = "", job: str = "", after: str = "") -> str:
    lines = "".join(f"          {line}\n" for line in script.split("\n"))
    return (
        "on: push\njobs:\n  e2e:\n    runs-on: ubuntu-latest\n"
        f"{job}    steps:\n      - uses: actions/checkout@v4\n      - id: tests\n{step}        run: |\n{lines}{after}"
    )


def _findings(write: Write, text: str, options: str = "") -> tuple[Finding, ...]:
    return report(write({**FILES, WORKFLOW: text, "example-sanity.toml": options}), "workflows").findings


SILENT = {
    "no failure lost": "pytest tests/unit\nbash tests/e2e/run_sft.sh",
    "cleaning up": "ray stop --force || true\nrm -rf x || true\ndocker system prune -f || true\nnvidia-smi | tee x",
    "another status": "pytest tests/unit || exit 1\npytest tests/unit || { echo no; exit 1; }",
    "kept": "pytest tests/unit || status=$?\nexit $status",
    "a value": "n=$(python gen.py || true)",
    "a condition": "if ! pytest tests/unit; then exit 1; fi\nwhile pytest tests/unit; do :; done",
    "the last one counts": "set +e\nray stop\npytest tests/unit",
    "looked at": "set +e\npytest tests/unit\nstatus=$?\nexit $status",
    "pipefail": "set -euo pipefail\npytest tests/unit | tee log",
    "pipestatus": "pytest tests/unit | tee log\nexit ${PIPESTATUS[0]}",
    "the end of a pipe": "ls | pytest tests/unit",
    "a filter that reads": "python gen.py | jq .x",
    "and, at the end": "cd tests && pytest unit\npytest unit && echo good",
    "a module from elsewhere": "python -m asv run || true",
    "a version": "pytest --version || true",
    "in the background": "python gen.py &\nwait",
}


@pytest.mark.parametrize("script", SILENT.values(), ids=list(SILENT))
def test_what_is_not_lost_is_silent(write: Write, script: str) -> None:
    assert [item.message for item in _findings(write, _workflow(script))] == []


FOUND = {
    "pytest tests/unit || true": "`|| true` stands in for it; drop that",
    "cd tests && pytest unit || :": "`|| :` stands in for it; drop that",
    "python gen.py || echo 'no data'": "`|| echo 'no data'` stands in for it; drop that",
    "bash tests/e2e/run_sft.sh || exit 0": "`|| exit 0` stands in for it; drop that",
    "pre-commit run --all-files || { echo bad; true; }": "`|| { echo bad; true; }` stands in for it; drop that",
    "pytest tests/unit 2>&1 | tee log": "the pipe hands on the status of tee; set -o pipefail, or shell: bash",
    "python gen.py | grep x | tail -1": "the pipe hands on the status of tail; set -o pipefail, or shell: bash",
    "set +e\npytest tests/unit\necho done": "set -e is off, and other commands follow; look at its status, or set -e",
    "python -m pkg.gen || true": "`|| true` stands in for it; drop that",
    "pytest tests/unit && echo good\nls": "it stands left of &&, where set -e does not stop, and other commands follow; write "
    "it on a line of its own",
}


@pytest.mark.parametrize(("script", "how"), FOUND.items(), ids=list(FOUND))
def test_what_is_lost_is_found(write: Write, script: str, how: str) -> None:
    found = _findings(write, _workflow(script))

    assert [item.code for item in found] == ["WFL006"]
    assert found[0].message.endswith(f" fails: {how}")


def test_a_finding_points_at_the_command(write: Write) -> None:
    (found,) = _findings(write, _workflow("ls\nA=1 bash tests/e2e/run_sft.sh --x || true"))

    assert (found.span.line, found.span.column, found.span.end_column) == (10, 15, 44)
    assert "`bash tests/e2e/run_sft.sh --x`" in found.message


def test_the_shell_decides(write: Write) -> None:
    pipe = "pytest tests/unit | tee log"
    assert _findings(write, _workflow(pipe, step="        shell: bash\n")) == ()
    assert _findings(write, _workflow(pipe, job="    defaults: {run: {shell: bash}}\n")) == ()
    assert len(_findings(write, _workflow(pipe, step="        shell: sh\n"))) == 1
    two = "pytest tests/unit\nls"
    (found,) = _findings(write, _workflow(two, step="        shell: bash {0}\n"))
    assert "`bash {0}` has no -e, and other commands follow" in found.message
    assert _findings(write, _workflow(f"set -e\n{two}", step="        shell: bash {0}\n")) == ()


def test_continue_on_error_counts_where_something_is_judged(write: Write) -> None:
    step = "        continue-on-error: true\n"
    (found,) = _findings(write, _workflow("pytest tests/unit", step=step))
    assert (found.code, found.span.line) == ("WFL006", 8)
    assert found.message.startswith("continue-on-error lets the step pass when `pytest tests/unit` fails")
    (found,) = _findings(write, _workflow("pytest tests/unit", job="    continue-on-error: true\n"))
    assert (found.span.line, "lets the job pass" in found.message) == (5, True)
    assert _findings(write, _workflow("curl x", step=step)) == ()
    for reason in ("        # GPUs are scarce\n" + step, step.replace("\n", "  # GPUs are scarce\n")):
        assert _findings(write, _workflow("pytest tests/unit", step=reason)) == ()
    assert (
        _findings(write, _workflow("pytest tests/unit", step=step.replace("true", "${{ matrix.x }}"))) == ()
    )
    asked = "      - if: steps.tests.outcome == 'failure'\n        run: exit 1\n"
    assert _findings(write, _workflow("pytest tests/unit", step=step, after=asked)) == ()


def test_a_job_that_commits_what_a_checker_changed_is_silent(write: Write) -> None:
    after = "      - run: git commit -am fixes && git push\n"
    assert _findings(write, _workflow("pre-commit run --all-files || true", after=after)) == ()


def test_commands_that_may_fail_can_be_named(write: Write) -> None:
    text = _workflow("bash ci/stop.sh --all || true")

    assert len(_findings(write, text)) == 1
    assert _findings(write, text, '[workflows]\ncleanup = ["bash ci/stop.sh"]\n') == ()
