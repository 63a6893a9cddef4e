"""Under which circumstances a launcher is evaluated."""

from __future__ import annotations

import pytest

from example_sanity.launch.scenario import MAX_SCENARIOS, Answer, Scenario, left_out, scenarios
from example_sanity.launch.syntax import Script, parse


def script(text: str) -> Script:
    return parse("run.sh", text.encode())


def names(text: str) -> list[str]:
    default, *others = scenarios(script(text))
    assert (default.name, default.environment, default.probes) == ("default", {}, {})
    return [scenario.name for scenario in others]


def default(text: str) -> Scenario:
    return scenarios(script(text))[0]


class TestDeviations:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "python train.py",
            "A=${A:-x}\ncase $A in x) ;; *) exit 1 ;; esac",
            'A=${A:-x}\n[ "$A" = x ] && echo',
            '[ "${A:-x}" = x ] && echo',
            "A=x\ncase $A in x) ;; y) ;; esac",
            'A=$(uname)\n[[ "$A" == y ]]',
            "if cmd; then A=1; else A=0; fi\n[ $A = 1 ]",
            "for a in x y; do case $a in x) ;; esac; done",
            'while read -r line; do [[ "$line" == x ]]; done < f',
            "f() { local a=$1; [ $a = x ]; }",
            "while [[ $# -gt 0 ]]; do case $1 in --x) shift ;; esac; done",
            "case $A in *) ;; y*) ;; esac",
            '[[ -d $A && $A != "/" ]]',
        ],
    )
    def test_none(self, text: str) -> None:
        assert names(text) == []

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("A=${A:-x}\ncase $A in x) ;; y) ;; z | w) ;; *) exit 1 ;; esac", ["A=y", "A=z", "A=w"]),
            ('A=${A:-x}\n[ "$A" = y ] && echo; [[ $A != z ]]', ["A=y", "A=z"]),
            ('[ "$A" = x ]; [ "$A" = x ]', ["A=x"]),
            ('[ "${A:-1}" != 0 ]', ["A=0"]),
            ("a=${A:-x}\ncase $a in x) ;; y) ;; esac", ["A=y"]),
            ("A=${A:-x}\nb=$A\n[ $b = y ]", ["A=y"]),
            ("A=${A:-}\nA=${A:-${B:-x}}\n[ $A = x ]; [ $A = y ]", ["A=y"]),
            ("A=${A:-x}; [ $A = y ] && A=z; [ $A = z ]", ["A=y", "A=z"]),
            ('[ -z "$A" ] && A=x; case "$A" in x) ;; y) ;; esac', ["A=x", "A=y"]),
            ("A=lts; while [ $# -gt 0 ]; do case $1 in -a) B=$2 ;; esac; done; [ $B = x ]", ["B=x"]),
            ("B=${B:-u}; A=${A:-x}; [ $A = y ]; [ $B = v ]", ["A=y", "B=v"]),
            ('case "${A,,}" in true | 1) ;; esac', ["A=true", "A=1"]),
        ],
    )
    def test_found(self, text: str, expected: list[str]) -> None:
        assert names(text) == expected

    def test_a_deviation_sets_one_variable(self) -> None:
        found = scenarios(script("A=${A:-x}; [ $A = y ]; [ $A = z ]"))
        assert [scenario.environment for scenario in found] == [{}, {"A": "y"}, {"A": "z"}]

    def test_a_cut_is_said(self) -> None:
        text = "case $A in " + " ".join(f"v{number}) ;;" for number in range(20)) + " esac"
        assert len(scenarios(script(text))) == MAX_SCENARIOS == 16
        assert left_out(script(text)) == ("A=v15", "A=v16", "A=v17", "A=v18", "A=v19")
        assert left_out(script("[ $A = x ]")) == ()


class TestMachines:
    PROBE = "DEVICE=${DEVICE:-$(python3 -c 'import torch_npu' 2>/dev/null && echo npu || echo gpu)}\n"

    def test_a_probe_by_import(self) -> None:
        (_, npu) = scenarios(script(self.PROBE))
        assert npu.name == "probe npu"
        assert npu.probes == {"python3 -c import torch_npu": Answer(), "nvidia-smi": Answer(status=127)}

    def test_the_default_of_a_probed_knob_is_known(self) -> None:
        assert names(self.PROBE + 'case "$DEVICE" in gpu) ;; npu) ;; esac') == ["DEVICE=npu", "probe npu"]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("python -c 'import torch'", []),
            ("echo nvidia-smi", []),
            ("nvidia-smi -L | wc -l", ["probe cpu"]),
            ("if command -v npu-smi >/dev/null; then :; fi", ["probe npu"]),
            ("rocm-smi && nvidia-smi", ["probe rocm", "probe cpu"]),
        ],
    )
    def test_tools(self, text: str, expected: list[str]) -> None:
        assert names(text) == expected

    def test_nvidia_is_the_default_machine(self) -> None:
        text = "A=${A:-$(nvidia-smi && echo gpu || echo cpu)}\n[ $A = gpu ]; [ $A = cpu ]"
        assert names(text) == ["A=cpu", "probe cpu"]

    def test_npu_tools_answer(self) -> None:
        (_, npu) = scenarios(script("npu-smi info"))
        assert npu.probes["npu-smi"].status == 0
        assert npu.probes["npu-smi"].stdout.count("NPU ID") == 8


class TestPlaceholders:
    @pytest.mark.parametrize(
        "text",
        [
            "echo $A",
            "set -eu; A=1; echo $A",
            "set -u; echo ${A:-x} ${B:+x}",
            "set -u; echo $HOME $RANDOM ${BASH_SOURCE[0]} ${PIPESTATUS[0]}",
            "set -u; for a in 1; do echo $a; done; read -r b; echo $b",
            "set -u; set +u; echo $A",
            "echo $A; set -u",
            "set -u; source env.sh; echo $A",
            "set -u; [[ -v A ]] && echo $A",
            'A=${A:-x}; : "${A:?}"',
            "A=; [ -z $A ] && exit 1",
            "command -v jq || { echo no; exit 1; }",
            '[ -z "$A" ] && echo hint',
        ],
    )
    def test_none(self, text: str) -> None:
        assert default(text).placeholders == {}

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (': "${A:?}"', {"A": "placeholder-A"}),
            ("A=${A:?set A}", {"A": "placeholder-A"}),
            ('A=${A:-${B:-}}; : "${A:?}"', {"A": "placeholder-A"}),
            ("set -xeuo pipefail; echo $A/x", {"A": "placeholder-A"}),
            ("set -o nounset; echo ${A}", {"A": "placeholder-A"}),
            ('if [ -z "$A" ]; then echo no; exit 1; fi', {"A": "placeholder-A"}),
            ('[[ -n "${A:-}" ]] || exit 1', {"A": "placeholder-A"}),
            (
                '[[ -z "$A" || -z "$B" ]] && { echo no; exit 1; }',
                {"A": "placeholder-A", "B": "placeholder-B"},
            ),
            ("a=${A:?}; echo $a", {"A": "placeholder-A"}),
            (
                "set -u; echo $NNODES $MY_TP $NODE_RANK $MASTER_PORT",
                {"NNODES": "1", "MY_TP": "1", "NODE_RANK": "0", "MASTER_PORT": "29500"},
            ),
            ("set -u; echo $((A * 8))", {"A": "1"}),
            ("set -u; case $A in x) ;; y) ;; *) exit 1 ;; esac", {"A": "x"}),
        ],
    )
    def test_found(self, text: str, expected: dict[str, str]) -> None:
        assert default(text).placeholders == expected

    def test_every_scenario_has_them_but_for_what_it_sets(self) -> None:
        text = "set -u; echo $B; case $A in x) ;; y) ;; esac"
        first, second = scenarios(script(text))
        assert first.placeholders == {"A": "x", "B": "placeholder-B"}
        assert (second.name, second.environment, second.placeholders) == (
            "A=y",
            {"A": "y"},
            {"B": "placeholder-B"},
        )

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("echo $1", ()),
            ("A=${1:-x}", ()),
            ("f() { local a=$1; }; f x", ()),
            ("while [[ $# -gt 0 ]]; do case $1 in --a) A=$2 ;; esac; shift; done", ()),
            ('if [ "$1" = -d ]; then A=$2; fi', ()),
            ("MODEL=$1; NNODES=$2", ("placeholder-MODEL", "1")),
            ("if [ $# -lt 2 ]; then exit 1; fi; NNODES=$1", ("1", "placeholder-argument_2")),
            ('if [ "$#" -ne 1 ]; then usage; exit 1; fi', ("placeholder-argument_1",)),
            ("[ $# -eq 0 ] && exit 1", ("placeholder-argument_1",)),
            ("(( $# < 1 )) && exit 1", ("placeholder-argument_1",)),
            ("A=${1:?path}", ("placeholder-A",)),
            ('[ -z "$2" ] && exit 1', ("placeholder-argument_1", "placeholder-argument_2")),
            ("L=$1; [ $L != en ] && [ $L != zh ] && exit 1", ("en",)),
        ],
    )
    def test_arguments(self, text: str, expected: tuple[str, ...]) -> None:
        assert default(text).arguments == expected
