"""The structure of scripts: assignments, reads, commands, arrays, guards, choices, positions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_sanity.core.finding import Span
from example_sanity.launch.syntax import Assignment, DefaultKind, Script, parse


def script(text: str) -> Script:
    return parse("run.sh", text.encode())


def only(text: str, name: str = "A") -> Assignment:
    (found,) = [item for item in script(text).assignments if item.name == name]
    return found


def written(parsed: Script, span: Span) -> str:
    lines = parsed.lines[span.line - 1 : span.end_line]
    if len(lines) == 1:
        return lines[0][span.column - 1 : span.end_column - 1]
    return "\n".join([lines[0][span.column - 1 :], *lines[1:-1], lines[-1][: span.end_column - 1]])


def reads(text: str) -> list[str]:
    return [item.name for item in script(text).reads]


class TestAssignments:
    @pytest.mark.parametrize(
        "text",
        [
            "A=1",
            "A='x y'",
            'A="$B"',
            "A=$(hostname)",
            "A=$((B * 2))",
            "A=",
            "A=${B:+x}",
            "A=x${A:-y}",
            "A=${B%.*}",
        ],
    )
    def test_fixed(self, text: str) -> None:
        found = only(text)
        assert (found.kind, found.default, found.via) == (DefaultKind.FIXED, None, None)

    @pytest.mark.parametrize(
        ("text", "default"),
        [
            ("A=${A:-x}", "x"),
            ("A=${A-x}", "x"),
            ("A=${A:=x}", "x"),
            ('A="${A:-x y}"', "x y"),
            ('A=${A:-"x y"}', "x y"),
            ("A=${A:-'x y'}", "x y"),
            ("A=${A:-}", ""),
            ("A=${A:-$HOME/x}", "$HOME/x"),
            ("A=${A:-${B:-x}}", "${B:-x}"),
            ("A=${A:-['x','y']}", "['x','y']"),
            ("export A=${A:-x}", "x"),
            ("declare -x A=${A:-x}", "x"),
            ("readonly A=${A:-x}", "x"),
            ("typeset A=${A:-x}", "x"),
            ('export "A=${A:-x}"', None),
            (': "${A:=x}"', "x"),
            (": ${A=x}", "x"),
            ('[ -z "$A" ] && A=x', "x"),
            ("[ -z ${A} ] && A='x y'", "x y"),
            ('[[ -z "${A:-}" ]] && A=x', "x"),
            ('test -z "$A" && A=x', "x"),
            ('[[ -n "$A" ]] || A=x', "x"),
            ("[[ ! -v A ]] && A=x", "x"),
            ("[[ -v A ]] || A=x", "x"),
            ('[ "$A" = "" ] && A=x', "x"),
            ('[ "x$A" = x ] && A=x', "x"),
            ('if [ -z "$A" ]; then A=x; fi', "x"),
            ('if [[ -z "${A+x}" ]]; then\n  export A="x"\nfi', "x"),
            ('if [ -n "$A" ]; then echo $A; else A=x; fi', "x"),
            ('if [[ -z "$A" && -z "$B" ]]; then A=x; fi', "x"),
        ],
    )
    def test_overridable(self, text: str, default: str | None) -> None:
        found = only(text)
        if default is None:
            assert found.kind is DefaultKind.FIXED
            return
        assert (found.kind, found.default, found.via) == (DefaultKind.OVERRIDABLE, default, "A")

    def test_a_test_of_another_variable_makes_no_default(self) -> None:
        assert only('[ -z "$B" ] && A=x').kind is DefaultKind.FIXED
        assert only('if [ -z "$A" ] || [ -n "$B" ]; then A=x; fi').kind is DefaultKind.FIXED
        assert only('if [ -z "$A" ]; then echo no; else A=x; fi').kind is DefaultKind.FIXED

    def test_another_variable_overrides(self) -> None:
        found = only("A=${OTHER:-x}")
        assert (found.kind, found.default, found.via) == (DefaultKind.OVERRIDABLE, "x", "OTHER")
        assert only("A=${1:-x}").via == "1"

    def test_the_environment_is_followed_through_copies(self) -> None:
        assert only("size=${SIZE:-}\nA=${size:-3}").via == "SIZE"
        assert only('size="$SIZE"\nA=${size:-3}').via == "SIZE"

    @pytest.mark.parametrize(
        "before", ["A=", "A=y", "unset A", "A=$(date)", "B=1\nA=$B", "B=x; A=y", "A=y; A=$A", 'export A="y"']
    )
    def test_what_the_script_sets_before_cuts_the_environment_off(self, before: str) -> None:
        found = script(f"{before}\nA=${{A:-x}}").assignments[-1]
        assert found.kind is DefaultKind.FIXED

    @pytest.mark.parametrize(
        "before",
        [
            "A=y cmd",
            "if c; then A=y; fi",
            "f() { A=y; }",
            "c && A=y",
            "(A=y)",
            "A=x$A",
            "A=$B",
            "A+=y",
            "B=y",
        ],
    )
    def test_what_may_not_run_or_keeps_it_does_not(self, before: str) -> None:
        found = script(f"{before}\nA=${{A:-x}}").assignments[-1]
        assert found.kind is DefaultKind.OVERRIDABLE

    def test_required(self) -> None:
        for text in ("A=${A:?set A}", 'A="${A?}"', ': "${A:?set A}"', ": ${A?}"):
            assert only(text).kind is DefaultKind.REQUIRED
            assert only(text).via == "A"

    def test_a_check_of_an_assigned_name_is_no_assignment(self) -> None:
        assert [item.kind for item in script('A=${A:-}\n: "${A:?}"').assignments] == [DefaultKind.OVERRIDABLE]

    def test_a_required_name_is_not_assigned(self) -> None:
        assert script(': "${A:?}"').assigned == frozenset()

    @pytest.mark.parametrize(
        ("text", "conditional", "function"),
        [
            ("A=1", False, None),
            ("{ A=1; }", False, None),
            ("A=1 && true", False, None),
            ("if c; then A=1; fi", True, None),
            ("c || A=1", True, None),
            ("case $x in a) A=1 ;; esac", True, None),
            ("for i in 1; do A=1; done", True, None),
            ("while c; do A=1; done", True, None),
            ("(A=1)", True, None),
            ("x | { A=1; }", True, None),
            ("echo $(A=1)", True, None),
            ("f() { A=1; }", True, "f"),
            ("function f { local A=1; }", True, "f"),
        ],
    )
    def test_context(self, text: str, conditional: bool, function: str | None) -> None:
        found = only(text)
        assert (found.conditional, found.function) == (conditional, function)

    @pytest.mark.parametrize(
        ("text", "exported"),
        [
            ("A=1", False),
            ("export A=1", True),
            ("A=1; export A", True),
            ("export A; A=1", True),
            ("declare -x A=1", True),
            ("declare -rx A=1", True),
            ("declare A=1", False),
            ("A=1; export -n A", False),
            ("set -a; A=1; set +a", True),
            ("set -o allexport; A=1", True),
            ("set -a; set +a; A=1", False),
            ("set -eu; A=1", False),
        ],
    )
    def test_exported(self, text: str, exported: bool) -> None:
        assert only(text).exported is exported

    def test_array_and_append(self) -> None:
        first, second = script("A=(x)\nA+=(y $Z)").assignments
        assert (first.array, first.append, second.array, second.append) == (True, False, True, True)
        assert second.reads == ("Z",)
        assert only("A+=x").append

    def test_two_on_a_line_and_over_continued_lines(self) -> None:
        assert [item.name for item in script("A=1 B=2").assignments] == ["A", "B"]
        found = only('A="x"\\\n"y"')
        assert (found.value, found.conditional) == ('"x"\\\n"y"', False)

    @pytest.mark.parametrize("text", ["A=$B/$C/x", "export A=$B:$C/x", "A=$B/$C/$D/$E cmd; A=$B/$C/x"])
    def test_a_value_that_the_grammar_cuts_in_two(self, text: str) -> None:
        found = only(text)
        assert (found.value[:3], found.value[-2:]) == ("$B" + found.value[2], "/x")
        assert found.reads == ("B", "C")

    def test_a_default_that_is_assigned_on_the_way(self) -> None:
        parsed = script("XA=${A:=1} B=${B:=2}; cmd ${C:=3} ${D[0]:=4}")
        assert [(item.name, item.default) for item in parsed.assignments] == [
            ("XA", "1"),
            ("A", "1"),
            ("B", "2"),
            ("C", "3"),
            ("D", None),
        ]

    def test_a_command_s_own_environment_is_no_assignment(self) -> None:
        parsed = script("A=1 B=$C cmd x")
        assert parsed.assignments == ()
        assert reads("A=1 B=$C cmd x") == ["C"]

    def test_names_set_by_other_statements(self) -> None:
        text = """for i in 1; do :; done
for ((j = 0; j < 3; j++)); do :; done
select s in a; do :; done
read -r -p 'x' a b < f
IFS=, read -ra parts <<< "$x"
mapfile -t lines < f
readarray rows < f
while getopts ab: opt; do :; done
printf -v out %s x
let k=1 m+=2
(( n = 1, o++ ))
: $(( p += 1 ))
declare q
local r
"""
        expected = [
            "i",
            "j",
            "s",
            "a",
            "b",
            "parts",
            "lines",
            "rows",
            "opt",
            "OPTARG",
            "OPTIND",
            "out",
            "k",
            "m",
            "n",
            "o",
            "p",
            "q",
            "r",
        ]
        assert script(text).assigned == frozenset(expected)
        assert script(text).assignments == ()


class TestReads:
    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("echo '$A' \\$B", []),
            ("cat <<'EOF'\n$A\nEOF\n", []),
            ("# $A\n", []),
            ('echo $A ${B} "$C" "${D}/x"', ["A", "B", "C", "D"]),
            ("echo ${#A} ${B[@]} ${!C} ${D^^} ${E@Q} ${F[0]} ${#G[@]} ${!H[@]}", list("ABCDEFGH")),
            ("echo ${!A@} ${!B*}", []),
            ("echo ${A/$B/$C} ${D%.$E} ${F:$G:2} ${H:I} ${J: -1}", list("ABCDEFGHIJ")),
            ("echo ${A[B]} ${C[$D]}", list("ABCD")),
            ("declare -A A=([x]=1); echo ${A[x]}", ["A"]),
            ("echo $((A * ${B} + $C)) $((16#ff + 0x1f))", list("ABC")),
            ("(( A > B )) && (( C++ ))", list("ABC")),
            ("for ((i = A; i < B; i++)); do :; done", ["A", "i", "B", "i"]),
            ("cat <<EOF\n$A ${B:-x} $((C*D)) $(( (E+F) ))\nEOF\n", list("ABCDEF")),
            ('cat <<< "$A" > $B', list("AB")),
            ('X=($A "${B[@]}" k=${C})', list("ABC")),
            ("[[ $A == x && -n ${B:-} && -v C ]]", list("ABC")),
            ("echo \"${A:-'$B'}\"", list("AB")),
            ("echo ${A:-'$B'} ${C:-x-y}", list("AC")),
            ("trap 'rm $A' EXIT; eval '$B'; let 'c=D'", list("ABD")),
            ('echo "$1" ${2:-x} "$@" $* $# $? $$ $!', ["1", "2", "@", "*", "#"]),
            ('echo "$NAMEé" ${A}é $é', ["NAME", "A"]),
            ("echo $(cmd $A) `cmd $B` <(cmd $C)", list("ABC")),
            ("X=$A/$B/$C", list("ABC")),
            ("curl http://$A:$B/x $C/$D.log > $E/$F.log", list("ABCDEF")),
            ("export X=$A:$B/x:$C/y", list("ABC")),
            ('unset "$A"', ["A"]),
            ("X=([0]*$A+[1]*$B)", list("AB")),
        ],
    )
    def test_names(self, text: str, names: list[str]) -> None:
        assert reads(text) == names

    @pytest.mark.parametrize(
        ("text", "defaulted", "required"),
        [
            ("echo $A", False, False),
            ("echo ${A}", False, False),
            ("echo ${A:-x}", True, False),
            ("echo ${A-x}", True, False),
            ("echo ${A:=x}", True, False),
            ("echo ${A:+x}", True, False),
            ("echo ${A[0]:-x}", True, False),
            ("[[ -v A ]]", True, False),
            ("echo ${A:?x}", False, True),
            ("echo ${A?}", False, True),
            ("echo ${A:1}", False, False),
            ("echo ${A: -1}", False, False),
        ],
    )
    def test_operators(self, text: str, defaulted: bool, required: bool) -> None:
        (found,) = script(text).reads
        assert (found.defaulted, found.required) == (defaulted, required)

    def test_arithmetic_and_function(self) -> None:
        first, second = script("f() { echo $A; }; echo $((B))").reads
        assert (first.arithmetic, first.function, second.arithmetic, second.function) == (
            False,
            "f",
            True,
            None,
        )

    def test_a_read_of_its_own_name_lies_in_the_assignment(self) -> None:
        parsed = script("A=${A:-x}")
        (assignment,), (read,) = parsed.assignments, parsed.reads
        assert assignment.start <= read.start < assignment.end


class TestCommands:
    def words(self, text: str) -> list[list[str]]:
        return [[word.text for word in site.words] for site in script(text).commands]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("cmd a \\\n  b", [["cmd", "a", "b"]]),
            ("cmd a\\\nb", [["cmd", "a\\\nb"]]),
            ("cmd k=['x','y'] m={a:1} \"n\"'o'$p", [["cmd", "k=['x','y']", "m={a:1}", "\"n\"'o'$p"]]),
            ("cmd a >log b 2>&1 c", [["cmd", "a", "b", "c"]]),
            ("cmd - <<'EOF' x\nbody\nEOF\n", [["cmd", "-", "x"]]),
            ("cmd $A/$B/x >$C/$D.log y", [["cmd", "$A/$B/x", "y"]]),
            ("A=1 cmd x", [["cmd", "x"]]),
            ("a x | b y && c z &", [["a", "x"], ["b", "y"], ["c", "z"]]),
            ("X=$(a b)", [["a", "b"]]),
            ("cat <<EOF\n$((A*B))\nEOF\n", [["cat"]]),
            ("export X=1; [[ -n x ]]; unset Y", []),
        ],
    )
    def test_words(self, text: str, words: list[list[str]]) -> None:
        assert self.words(text) == words

    def test_names(self) -> None:
        sites = script('python3 x\n"py"thon y\n$PY z\n"${RUN[@]}" w\n\\ls\n').commands
        assert [site.name for site in sites] == ["python3", "python", None, None, "ls"]

    def test_reads_and_function_of_a_word(self) -> None:
        (site,) = script("f() { cmd k=${A}/$B; }").commands
        assert (site.function, site.words[1].reads) == ("f", ("A", "B"))
        assert script("f() { :; }; function g { :; }").functions == ("f", "g")

    def test_arrays(self) -> None:
        text = "A=(\n  k=['x','y']  # first\n  # second\n  \"${B[@]}\" l=${C}\\\nd\n)\nA+=(m)\n"
        first, second = script(text).arrays
        assert [word.text for word in first.words] == ["k=['x','y']", '"${B[@]}"', "l=${C}\\\nd"]
        assert [word.reads for word in first.words] == [(), ("B",), ("C",)]
        assert (first.name, first.append, second.append) == ("A", False, True)


class TestGuards:
    @pytest.mark.parametrize(
        "text",
        [
            "if [ $A ]; then exit 0; fi",
            "if [ $A ]; then exit 1; echo never; fi",
            "if [ $A ]; then echo $B; fi",
            "[ $A ] && exit",
            "exit 1",
            "f() { exit 1; }",
            "while [ $A ]; do exit 1; done",
        ],
    )
    def test_silent(self, text: str) -> None:
        assert script(text).guards == ()

    @pytest.mark.parametrize(
        ("text", "reads", "condition"),
        [
            ("if (( A % B != 0 )); then echo no >&2; exit 1; fi", ("A", "B"), "(( A % B != 0 ))"),
            ("if [ $A ]; then echo no; exit 1 # why\nfi", ("A",), "[ $A ]"),
            ("if [ $A ]; then { exit 1; }; fi", ("A",), "[ $A ]"),
            ("if [ $A ]; then echo no && exit 1; fi", ("A",), "[ $A ]"),
            ("if [ $A ]; then :; elif [ $B ]; then return 2; fi", ("B",), "[ $B ]"),
            ("if [ $A ]; then :; else exit 1; fi", ("A",), "! { [ $A ]; }"),
            ("[ $A ] && exit 1", ("A",), "[ $A ]"),
            ("[ $A ] || { echo no; exit 1; }", ("A",), "! { [ $A ]; }"),
            ("[ $A ] && [ $B ] && exit $C", ("A", "B"), "[ $A ] && [ $B ]"),
            ("case $A in x) ;; *) exit 1 ;; esac", ("A",), "case $A in *)"),
            ("case $A in x | y) exit 1 ;; esac", ("A",), "case $A in x | y)"),
            ("die() { echo $1; exit 1; }\n[ $A ] || die no", ("A",), "! { [ $A ]; }"),
            ("die() { exit 1; }\nusage() { die; }\nif [ $A ]; then usage; fi", ("A",), "[ $A ]"),
        ],
    )
    def test_found(self, text: str, reads: tuple[str, ...], condition: str) -> None:
        (guard,) = script(text).guards
        assert (guard.reads, guard.condition) == (reads, condition)

    def test_where_the_script_may_be_cut(self) -> None:
        text = "case $V in\n  a) (( A )) || exit 1 ;;\nesac\necho $A"
        (guard,) = script(text).guards
        assert text[guard.start : guard.end] == "(( A )) || exit 1"
        assert text[: guard.statement_end].endswith("esac")

    def test_function(self) -> None:
        (guard,) = script("check() { [ $A ] || return 1; }").guards
        assert guard.function == "check"


class TestAlternatives:
    @pytest.mark.parametrize(
        ("text", "name", "values", "default"),
        [
            ("case $A in x) ;; y | 'z') ;; *) ;; esac", "A", ("x", "y", "z"), None),
            ('case "${A,,}" in x*) ;; "y") ;; esac', "A", ("y",), None),
            ('case "${A:-x}" in x) ;; esac', "A", ("x",), "x"),
            ('[ "$A" = x ]', "A", ("x",), None),
            ('[[ $A == "x y" ]]', "A", ("x y",), None),
            ("[[ ${A:-0} != 1 ]]", "A", ("1",), "0"),
            ('test "$A" = x', "A", ("x",), None),
        ],
    )
    def test_found(self, text: str, name: str, values: tuple[str, ...], default: str | None) -> None:
        (found,) = script(text).alternatives
        assert (found.name, found.values, found.default) == (name, values, default)

    @pytest.mark.parametrize(
        "text",
        [
            "case $(cmd) in x) ;; esac",
            "case $A$B in x) ;; esac",
            "case $A in *) ;; x*) ;; $B) ;; esac",
            '[ "$A" = "$B" ]',
            '[ "$A" = "" ]',
            "[[ $A == x* ]]",
            "[[ $A =~ x ]]",
            "[[ $A -eq 1 ]]",
            '[ "x$A" = x ]',
            "[ a = b ]",
        ],
    )
    def test_silent(self, text: str) -> None:
        assert script(text).alternatives == ()

    def test_several_in_one_test(self) -> None:
        parsed = script('[[ ( "$A" == x || $A == y ) && ${B} != z ]]; [ "$C" = u -o "$D" = v ]')
        assert [(item.name, item.values) for item in parsed.alternatives] == [
            ("A", ("x",)),
            ("A", ("y",)),
            ("B", ("z",)),
            ("C", ("u",)),
            ("D", ("v",)),
        ]


class TestPositions:
    def test_columns_are_characters(self) -> None:
        (assignment,) = script('echo "é漢"; A=1').assignments
        assert assignment.span == Span(1, 12, 1, 15)
        (read,) = script('echo "漢 $A"').reads
        assert read.span == Span(1, 10, 1, 11)

    def test_lines_of_a_long_array(self) -> None:
        parsed = script("A=(\n  é\n  x=$B\n)\n")
        assert parsed.arrays[0].span == Span(1, 1, 4, 2)
        assert parsed.arrays[0].words[1].span == Span(3, 3, 3, 7)

    def test_everything_is_in_order(self) -> None:
        parsed = script("if a $X; then b $Y; elif c $Z; then d; else e; fi; f > $W $V\n")
        assert [site.name for site in parsed.commands] == list("abcdef")
        assert [item.name for item in parsed.reads] == list("XYZWV")


class TestBroken:
    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\n",
            b"\0\1\2\xff\xfe",
            b"A=1\r\nif [ -z $B ]; then\r\nexit 1\r\nfi\r\n",
            b"\xef\xbb\xbfA=1\n",
            b"{\xf3\xb0\x81\x85",
            b"A=${",
            b"if x; then",
            b"A=$\xe9",
            b"(" * 3000,
            b"$(" * 500,
            b"{ " * 3000,
            b"cat <<EOF\n$A",
            b"case x in",
        ],
    )
    def test_never_raises(self, data: bytes) -> None:
        assert parse("x.sh", data).data == data

    def test_errors_are_spans_and_the_rest_is_read(self) -> None:
        parsed = script("A=${A:-1}\nARGS=$(\nB=${B:-2}\n")
        assert parsed.errors
        assert {"A", "B"} <= {item.name for item in parsed.assignments}
        assert script("A=1\n").errors == ()
        assert script("if x; then y\n").errors

    @given(st.binary(max_size=60))
    @settings(max_examples=150, deadline=None)
    def test_any_bytes(self, data: bytes) -> None:
        check_spans(parse("x.sh", data))

    @given(st.text("A${}[]()'\"`;|&<>=:-!#\n \\é1ifthenfdcaseso", max_size=60))
    @settings(max_examples=300, deadline=None)
    def test_any_shell_like_text(self, text: str) -> None:
        check_spans(script(text))


def check_spans(parsed: Script) -> None:
    """The text at every span is what stands between the byte offsets."""
    for site in parsed.commands:
        for word in site.words:
            assert written(parsed, word.span) == word.text
            assert parsed.data[word.start : word.end].decode("utf-8", "surrogateescape") == word.text
    for read in parsed.reads:
        assert written(parsed, read.span) == read.name
    for item in parsed.assignments:
        assert written(parsed, item.span).count(item.name)
        assert item.start < item.end
    for guard in parsed.guards:
        assert guard.start < guard.end <= guard.statement_end


@given(
    st.lists(
        st.text("abé漢=.,/_-", min_size=1, max_size=8).filter(lambda word: word[0] not in "=-"),
        min_size=1,
        max_size=5,
    )
)
@settings(max_examples=100, deadline=None)
def test_words_stand_where_they_were_written(words: list[str]) -> None:
    parsed = script("# é\nX=(\n  " + "\n  ".join(words) + "\n)\ncmd é " + " ".join(words))
    check_spans(parsed)
    assert [word.text for word in parsed.arrays[0].words] == words
    assert [word.text for word in parsed.commands[-1].words[2:]] == words
