"""Nothing of the host is reachable from a script, and hostile scripts end in an outcome."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from example_sanity.launch.command import Launch
from example_sanity.launch.evaluator import evaluate
from example_sanity.launch.sandbox import Sandbox, unknown_commands
from example_sanity.launch.scenario import Scenario
from example_sanity.launch.syntax import parse
from helpers import Write


def launch(text: str | bytes, root: Path | None = None) -> Launch:
    data = text if isinstance(text, bytes) else text.encode()
    return evaluate(parse("run.sh", data), Scenario(), root)


def snapshot(folder: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = str(path.readlink())
        elif path.is_file():
            found[str(path)] = path.read_bytes()
    return found


@pytest.fixture
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("outside") / "secret.txt"
    path.write_text("SECRET-OF-THE-HOST")
    return path


READERS = [
    "cat {0}",
    "head -c 99 {0}",
    "cat < {0}",
    'echo "$(<{0})"',
    "source {0}",
    "cp {0} here && cat here",
    "ln -s {0} l && cat l",
    "mapfile -t x < {0}; echo ${{x[@]}}",
    "grep -r SECRET {1}",
    "find {1} -type f -exec cat {{}} +",
    "cat ../../../../../../../..{0}",
    "cat /proc/self/root{0} /proc/1/root{0}",
    "cd {1} && cat secret.txt",
    "tar cf - {1} | cat",
    "awk '{{print}}' {0}",
    "while read -r line; do echo $line; done < {0}",
    "cat file:{0}; curl file://{0}; wget -O - file://{0}",
    "exec 3< {0}; cat <&3",
    "tee x < {0}",
    "bash {0}",
    "cat /dev/fd/* /proc/self/fd/*",
]


@pytest.mark.parametrize("command", READERS)
def test_no_file_of_the_host_can_be_read(command: str, secret: Path, write: Write) -> None:
    root = write({"keep": "1"})
    result = launch(command.format(secret, secret.parent), root)
    assert "SECRET-OF" not in result.stdout + result.stderr + str(result.commands)


def test_a_link_out_of_the_project_leads_nowhere(secret: Path, write: Write) -> None:
    root = write({"a/keep": "1"})
    (root / "absolute").symlink_to(secret)
    (root / "folder").symlink_to(secret.parent)
    (root / "a" / "relative").symlink_to(os.path.relpath(secret, root / "a"))
    result = launch(
        "cat absolute folder/secret.txt a/relative; cp -rL . /tmp/copy; grep -r SECRET /tmp/copy .; echo x > absolute",
        root,
    )
    assert "SECRET-OF" not in result.stdout + result.stderr
    assert secret.read_text() == "SECRET-OF-THE-HOST"


WRITERS = [
    "echo x > {0}; echo x >> {0}; cp keep {0}; mv keep {0}; rm -f {0}; tee {0} < keep; truncate -s 0 {0}",
    "rm -rf {1}; rm -rf /; rm -rf ~ .; rm -rf * ../* ../../*",
    "chmod 777 {0}; chmod -R 000 .; ln -sf keep {0}; touch {1}/new; mkdir -p {1}/d",
    "dd if=/dev/zero of={0} bs=1 count=1; sed -i s/S/x/ {0} keep; find . -delete",
    "cd {1}; echo x > secret.txt; echo y > new",
]


@pytest.mark.parametrize("command", WRITERS)
def test_nothing_on_the_host_changes(command: str, secret: Path, write: Write) -> None:
    root = write({"keep": "1", "sub/keep": "2"})
    before = snapshot(root), snapshot(secret.parent)
    launch(command.format(secret, secret.parent), root)
    assert (snapshot(root), snapshot(secret.parent)) == before


@pytest.mark.parametrize(
    "command",
    [
        "env",
        "printenv",
        "export -p",
        "declare -p",
        "set",
        "cat /proc/self/environ",
        "echo $TOKEN_OF_HOST ${!TOKEN*}",
    ],
)
def test_no_environment_variable_of_the_host_is_seen(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_HOST", "SECRET-OF-THE-HOST")
    result = launch(f"{command}\npython x\nbash -c '{command}'\n")
    assert "SECRET-OF" not in result.stdout + result.stderr
    assert "TOKEN_OF_HOST=" not in result.stdout
    assert [command.environment for command in result.commands] == [{}]


def test_no_process_of_the_host_is_seen_or_killed() -> None:
    own = os.getpid()
    result = launch(
        f"ls -d /proc/{own}; kill -0 {own} && echo ALIVE; kill -9 {own} $PPID 1 -1; ps aux; pgrep -f py"
    )
    assert f"/proc/{own}\n" not in result.stdout
    assert "ALIVE" not in result.stdout
    assert "pytest" not in result.stdout


@pytest.mark.parametrize(
    "command",
    [
        "echo hi > /dev/tcp/127.0.0.1/{0}",
        "exec 3<>/dev/tcp/127.0.0.1/{0}; echo hi >&3",
        "curl -s http://127.0.0.1:{0}/; wget -q http://127.0.0.1:{0}/; http http://127.0.0.1:{0}",
        "nc 127.0.0.1 {0} < /dev/null; telnet 127.0.0.1 {0}; ssh -p {0} 127.0.0.1",
        "cat < /dev/udp/127.0.0.1/{0}",
    ],
)
def test_no_socket_of_the_host_is_reached(command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        launch(command.format(server.getsockname()[1]))
        with pytest.raises(TimeoutError):
            server.accept()


def test_no_program_of_the_host_runs(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    launch(
        f"/bin/sh -c 'touch {mark}'; /usr/bin/touch {mark}; python3 -c 'open(\"{mark}\", \"w\")'; exec /bin/touch {mark}"
    )
    assert not mark.exists()


HOSTILE: dict[str, str | bytes] = {
    "fork bomb": ":(){ :|:& };:",
    "slow fork bomb": "f() { f | f & }; f; wait",
    "endless loop": "while :; do :; done",
    "endless loop of commands": "while python x; do :; done",
    "endless recursion": "f() { f; }; f",
    "scripts that run themselves": 'bash "$0"',
    "scripts that source themselves": 'source "${BASH_SOURCE[0]}"',
    "sleep": "sleep 1000000; read -t 100000; wait; python x",
    "doubling": "x=a; while :; do x=$x$x; done",
    "huge output": "for i in {1..9999}; do printf '%09999d\\n' 0; done",
    "much output": "yes | head -c 100000000",
    "huge file": "head -c 100000000 /dev/zero > big; cat big big big",
    "endless file": "while :; do cat f f > g; cat g g > f; echo xxxxxxxxxxxx >> f; done",
    "huge range": "echo {1..100000000}",
    "many arrays": 'for i in {1..9000}; do a+=($i $i $i); done; python "${a[@]}"',
    "huge argument": "python " + "a" * 3_000_000,
    "huge line": "x='" + "a" * 3_000_000 + "'",
    "deep nesting": "$(" * 3000 + ")" * 3000,
    "deep braces": "{ " * 5000 + "}" * 5000,
    "deep parentheses": "(" * 5000,
    "many quotes": "\"'" * 5000,
    "deep operands": "${x:-" * 2000 + "}" * 2000,
    "deep quoted operands": 'echo "${x:-' * 400 + '}"' * 400,
    "slow pattern": f"[[ {'a' * 60} =~ (a+)+$b ]]; case {'a' * 60} in *a*a*a*a*a*a*b) ;; esac",
    "endless tools": "awk 'BEGIN{while(1);}'; sed ':a;ba' <<< x; yes; seq 1 99999999",
    "device": "cat /dev/zero | tr '\\0' a; cat /dev/random",
    "binary": bytes(range(256)) * 10,
    "invalid utf-8": b"python \xff\xfe\n",
    "code point that crashes a scanner": "{\U000f0045",
    "only carriage returns": b"python a\r\npython b\r\nif true; then\r\n  python c\r\nfi\r\n",
    "empty": b"",
    "one byte": b"\\",
    "null bytes": b"a\0b\n",
    "here-document without an end": "cat <<EOF\npython\n",
    "marks of the tool": "__es_end a b; __es_prepare /etc/passwd; __es_at=9:9 python x; __es_limit; unset __es_at",
    "private code points": "python '\ue000\ue001'",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_scripts_end_in_an_outcome(text: str | bytes, write: Write) -> None:
    root = write({"keep": "1", "run.sh": text})
    before = snapshot(root)
    result = launch(text, root)
    assert result.failure is None or result.failure.strip()
    assert snapshot(root) == before


@pytest.mark.parametrize(
    "name", ["fork bomb", "endless loop", "doubling", "device", "huge range", "huge file"]
)
def test_a_script_that_uses_up_a_limit_says_so(name: str) -> None:
    result = launch(HOSTILE[name])
    assert result.limit
    assert result.failure


def test_an_evaluation_leaves_nothing_open() -> None:
    launch("python x")
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(20):
        launch("python x")
    assert len(list(Path("/dev/fd").iterdir())) <= before + 2


def test_loops_of_links_are_no_trap(write: Write) -> None:
    root = write({"keep": "1"})
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "self").symlink_to(".")
    result = launch("cat a b; source a; ls self/self/self; find . | wc -l; bash a; python x", root)
    assert result.commands[-1].argv == ("python", "x")


def test_a_word_that_the_sandbox_misread_is_a_failure() -> None:
    result = launch("python '\ue000\ue001'")
    assert result.failure == "the sandbox misread a word of python"


def test_an_error_in_a_callback_is_not_lost() -> None:
    box = Sandbox(None, {}, {}, ["python"])

    def broken(words: list[str]) -> None:
        raise RuntimeError("broken")

    box.add_callback("broken", broken)
    assert box.run("broken || true").problems == ["broken: RuntimeError: broken"]


def test_a_root_that_is_gone_is_a_failure(tmp_path: Path) -> None:
    result = launch("python x", tmp_path / "gone")
    assert result.failure
    assert result.commands == ()


def test_names_that_bash_did_not_find() -> None:
    text = (
        "run.sh: line 3: foo-bar: command not found\n"
        "bash: line 1: nosuch: command not found. Did you mean: touch?\n"
        "run.sh: line 9: ./build/x: No such file or directory\n"
        "cat: lo/f: No such file or directory\n"
        "+ echo foo: command not found\n"
    )
    assert unknown_commands(text)[:2] == ("foo-bar", "nosuch")
    assert "./build/x" in unknown_commands(text)
