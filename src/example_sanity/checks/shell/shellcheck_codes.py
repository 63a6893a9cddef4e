"""The codes of shellcheck that are passed through: defects that everybody wants to know of, and advice on request.

Each has a script that shows it and one that does not; the tests run shellcheck over both. The words are ours, the numbers
shellcheck's (https://www.shellcheck.net/wiki).
"""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """One code: its number with ``SC``, our name for it, its level, what is wrong, and a script with and without it."""

    code: str
    name: str
    level: str
    summary: str
    bad: str
    good: str


_IF = "if {}; then echo a; fi\n"

# Commands that fail or do something else than they say, whatever the input. Parse errors are SYS003.
DEFECTS: tuple[Code, ...] = (
    Code(
        "SC1007",
        "space-after-assignment",
        "warning",
        "a space behind = leaves the variable empty",
        "x= 'a b'\n",
        "x='a b'\n",
    ),
    Code(
        "SC1020",
        "no-space-before-bracket",
        "error",
        "the ] of a test is glued to its last word",
        _IF.format('[ -z "$1"]'),
        _IF.format('[ -z "$1" ]'),
    ),
    Code(
        "SC1035",
        "no-space-after-bracket",
        "error",
        "a test or ! is glued to its first word",
        _IF.format("!true"),
        _IF.format("! true"),
    ),
    Code("SC1097", "double-equals-assignment", "error", "a double = assigns nothing", "x==1\n", "x=1\n"),
    Code(
        "SC1113",
        "broken-shebang",
        "error",
        "the first line lacks the ! of #!",
        "#/bin/bash\necho a\n",
        "#!/bin/bash\necho a\n",
    ),
    Code(
        "SC1128",
        "shebang-below-first-line",
        "warning",
        "the #! line stands below the first, where it is a comment",
        "# a\n#!/bin/bash\necho a\n",
        "#!/bin/bash\n# a\necho a\n",
    ),
    Code(
        "SC2050",
        "constant-comparison",
        "warning",
        "a comparison of constants; a $ is missing",
        _IF.format('[ "x" = "y" ]'),
        _IF.format('[ "$x" = "y" ]'),
    ),
    Code(
        "SC2055",
        "always-true-or",
        "warning",
        "two != joined by or: always true",
        _IF.format('[ "$1" != a -o "$1" != b ]'),
        _IF.format('[ "$1" != a -a "$1" != b ]'),
    ),
    Code(
        "SC2071",
        "text-comparison",
        "error",
        "a < or > in [[ ]] compares text, not numbers",
        _IF.format("[[ $1 > 3 ]]"),
        _IF.format("[[ $1 -gt 3 ]]"),
    ),
    Code(
        "SC2072",
        "decimal-comparison",
        "error",
        "the shell has no decimal numbers",
        _IF.format("[[ $1 -gt 1.5 ]]"),
        _IF.format("[[ $1 -gt 1 ]]"),
    ),
    Code(
        "SC2074",
        "regex-in-single-bracket",
        "error",
        "the operator =~ does not exist in [ ]",
        _IF.format('[ "$1" =~ a ]'),
        _IF.format('[[ "$1" =~ a ]]'),
    ),
    Code(
        "SC2077",
        "no-space-around-operator",
        "error",
        "a test without spaces around its operator is always true",
        _IF.format('[ "$1"=1 ]'),
        _IF.format('[ "$1" = 1 ]'),
    ),
    Code(
        "SC2078",
        "constant-test",
        "error",
        "a test of a constant; a $ is missing",
        _IF.format("[ x ]"),
        _IF.format('[ "$x" ]'),
    ),
    Code(
        "SC2081",
        "glob-in-single-bracket",
        "error",
        "a test in single brackets does not match patterns",
        _IF.format('[ "$1" = *.sh ]'),
        _IF.format('[[ "$1" = *.sh ]]'),
    ),
    Code(
        "SC2114",
        "removes-system-folder",
        "warning",
        "removes a folder of the system",
        "rm -rf /usr\n",
        "rm -rf ./usr\n",
    ),
    Code(
        "SC2157",
        "constant-length-test",
        "error",
        "a test -n or -z of a constant; a $ is missing",
        _IF.format('[ -n "x" ]'),
        _IF.format('[ -n "$x" ]'),
    ),
    Code(
        "SC2158",
        "false-is-true",
        "error",
        "a test of the word false is true",
        _IF.format("[ false ]"),
        _IF.format("false"),
    ),
    Code(
        "SC2171",
        "stray-bracket",
        "warning",
        "a ] without its [",
        'if "$1" = a ]; then echo a; fi\n',
        'if [ "$1" = a ]; then echo a; fi\n',
    ),
    Code(
        "SC2216",
        "pipe-into-no-reader",
        "warning",
        "a pipe into a command that does not read",
        "ls | rm\n",
        "ls | xargs rm\n",
    ),
    Code(
        "SC2242", "bad-exit-status", "error", "exit takes a number from 0 to 255", "exit failed\n", "exit 1\n"
    ),
    Code(
        "SC2252",
        "always-true-double-or",
        "warning",
        "two != joined by ||: always true",
        _IF.format('[ "$1" != a ] || [ "$1" != b ]'),
        _IF.format('[ "$1" != a ] && [ "$1" != b ]'),
    ),
    Code(
        "SC2276",
        "assignment-as-command",
        "error",
        "a word with = that is no assignment runs as a command",
        "model.path=x\n",
        "echo model.path=x\n",
    ),
    Code("SC2281", "dollar-in-assignment", "error", "the name on the left of = has a $", "$x=1\n", "x=1\n"),
    Code(
        "SC2283",
        "spaces-in-assignment",
        "error",
        "spaces around the = of an assignment",
        'x = "$1"\n',
        'x="$1"\n',
    ),
    Code(
        "SC2290",
        "spaces-in-declaration",
        "error",
        "spaces around = in declare or export",
        "export x =1\n",
        "export x=1\n",
    ),
)

# Good advice that working launchers do not follow by the hundred.
ADVICE: tuple[Code, ...] = (
    Code(
        "SC2006",
        "backticks",
        "style",
        "backticks where $( ) nests",
        "x=`date`\necho $x\n",
        "x=$(date)\necho $x\n",
    ),
    Code(
        "SC2016",
        "single-quoted-expansion",
        "info",
        "an expansion in single quotes stays text",
        "echo '$HOME'\n",
        'echo "$HOME"\n',
    ),
    Code("SC2034", "unused-variable", "warning", "a variable that is not used", "x=1\n", "x=1\necho $x\n"),
    Code(
        "SC2046",
        "unquoted-substitution",
        "warning",
        "an unquoted $( ) is split into words",
        "echo $(date)\n",
        'echo "$(date)"\n',
    ),
    Code(
        "SC2048",
        "unquoted-star",
        "warning",
        "an unquoted $* splits the arguments again",
        "echo $*\n",
        'echo "$@"\n',
    ),
    Code(
        "SC2059",
        "variable-as-format",
        "info",
        "printf with a variable as its format",
        'printf "a $x"\n',
        "printf 'a %s' \"$x\"\n",
    ),
    Code(
        "SC2068",
        "unquoted-array",
        "error",
        "an unquoted array or $@ is split into words",
        "a=(1)\necho ${a[@]}\n",
        'a=(1)\necho "${a[@]}"\n',
    ),
    Code(
        "SC2086",
        "unquoted-variable",
        "info",
        "an unquoted variable is split into words",
        "echo $1\n",
        'echo "$1"\n',
    ),
    Code(
        "SC2089",
        "quotes-in-variable",
        "warning",
        "quotes in a variable are passed on as they stand",
        "x='-a \"b\"'\necho $x\n",
        'x=(-a b)\necho "${x[@]}"\n',
    ),
    Code(
        "SC2115",
        "removal-from-empty",
        "warning",
        "rm -rf of a variable and a slash: the root if it is empty",
        'rm -rf "$x/"*\n',
        'rm -rf "${x:?}/"*\n',
    ),
    Code(
        "SC2124",
        "array-to-string",
        "warning",
        "an array is assigned to a string",
        'x="$@"\necho "$x"\n',
        'x="$*"\necho "$x"\n',
    ),
    Code(
        "SC2125",
        "glob-in-assignment",
        "warning",
        "a pattern in an assignment stays text",
        "x=a[0]\necho $x\n",
        "x='a[0]'\necho $x\n",
    ),
    Code(
        "SC2129",
        "many-redirections",
        "style",
        "several redirections to one file",
        "echo a >> f\necho b >> f\necho c >> f\n",
        "{ echo a; echo b; echo c; } >> f\n",
    ),
    Code(
        "SC2140",
        "quotes-that-end",
        "warning",
        "quotes inside quotes end them",
        'x="a"b"c"\necho "$x"\n',
        'x=\'a"b"c\'\necho "$x"\n',
    ),
    Code("SC2145", "array-in-string", "error", "an array inside a string", 'echo "a $@"\n', 'echo "a $*"\n'),
    Code(
        "SC2155",
        "masked-status",
        "warning",
        "a declaration hides the status of its command",
        "export x=$(date)\n",
        "x=$(date)\nexport x\n",
    ),
    Code(
        "SC2162",
        "read-without-r",
        "info",
        "read without -r eats backslashes",
        "read x\necho $x\n",
        "read -r x\necho $x\n",
    ),
    Code(
        "SC2164",
        "unchecked-cd",
        "warning",
        "cd may fail, and the script goes on elsewhere",
        "cd /x\nls\n",
        "cd /x || exit\nls\n",
    ),
    Code(
        "SC2206",
        "split-into-array",
        "warning",
        "an unquoted variable in an array is split into words",
        "x=($1)\necho ${x[0]}\n",
        'x=("$1")\necho ${x[0]}\n',
    ),
    Code(
        "SC2207",
        "output-into-array",
        "warning",
        "the output of a command is split into an array",
        "x=($(ls))\necho ${x[0]}\n",
        "mapfile -t x < <(ls)\necho ${x[0]}\n",
    ),
    Code(
        "SC2223",
        "unquoted-default",
        "info",
        "an unquoted : ${x:=default} expands patterns",
        ": ${x:=a*}\n",
        ': "${x:=a*}"\n',
    ),
)
