"""The real bash of the tests is shut in."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from example_sanity.launch import realbash
from example_sanity.launch.command import Launch
from example_sanity.launch.evaluator import evaluate
from example_sanity.launch.scenario import Answer, Scenario
from example_sanity.launch.syntax import parse
from helpers import Write

pytestmark = pytest.mark.real_bash


def launch(text: str, root: Path | None = None, **circumstances: object) -> Launch:
    scenario = Scenario(**circumstances)  # type: ignore[arg-type]
    return evaluate(parse("run.sh", text.encode()), scenario, root, engine="bash")


def test_it_records_what_the_sandbox_records() -> None:
    result = launch(
        'A=1 python x "$1" "$B"\nD=$(npu-smi info)\npython "$D"\nDP=4\n',
        arguments=("a b",),
        environment={"B": "2"},
        probes={"npu-smi": Answer("NPU\n")},
    )
    assert [c.argv for c in result.commands][::2] == [("python", "x", "a b", "2"), ("python", "NPU")]
    assert result.commands[0].environment == {"A": "1", "B": "2"}
    assert result.variables == {"D": "NPU", "DP": "4"}
    assert result.failure is None


def test_nothing_of_the_host_is_reached(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_OF_HOST", "SECRET")
    outside = tmp_path.parent / f"{tmp_path.name}-secret"
    outside.write_text("SECRET")
    root = write({"keep": "1"})
    (root / "link").symlink_to(outside)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        result = launch(
            f"cat {outside} link ../..{outside} /proc/1/root{outside} /proc/self/root{outside}\n"
            f"env; echo $UID; ls /root /home /work /var /sys 2>/dev/null; ls -d /proc/{os.getpid()}\n"
            f"echo x > /dev/tcp/127.0.0.1/{server.getsockname()[1]}\n"
            f"kill -9 {os.getpid()} 1; rm -rf /* ~ keep; echo x > keep; echo x > {outside}\n"
            "cat /native/../etc/shadow /etc/shadow; chroot /; mount -t tmpfs none /tmp; unshare -r true\n",
            root,
        )
        with pytest.raises(TimeoutError):
            server.accept()
    assert "SECRET" not in result.stdout + result.stderr
    assert f"/proc/{os.getpid()}\n" not in result.stdout
    assert "1000" in result.stdout.split()
    assert outside.read_text() == "SECRET"
    assert sorted(path.name for path in root.iterdir()) == ["keep", "link"]
    assert (root / "keep").read_text() == "1"
    assert launch("python x").commands, "the next run has its tools again"


def test_the_hosts_folders_are_read_only() -> None:
    result = launch(
        "for d in /native /bin /usr/bin /usr/local/bin /usr/lib /lib /lib64; do echo x > $d/x && echo $d; done"
    )
    assert result.stdout == ""
    assert result.stderr.count("Read-only file system") == 7


def test_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(realbash, "SECONDS", 1)
    for text in (
        "while :; do :; done",
        ":(){ :|:& };:",
        "exec sleep 1000 < <(while :; do :; done)\nwait\nread x < /es/requests",
    ):
        result = launch(text)
        assert result.failure is None or result.limit


def test_lies_in_the_mailbox_are_only_data(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"/x\0{0}\0SECRET=1\0")
    result = launch(
        f"ln -s {secret} /es/77.question; mkfifo /es/77.reply; echo 77 > /es/requests\n"
        "echo ../../x > /es/requests; printf 'python\\0x\\0' > /es/78.question; echo 78 > /es/requests\n"
        "ln -s /native/cat /es/79.answer; rm -rf /es/* /native/* /usr/local/bin/* /usr/lib/*; python real\n"
    )
    assert [c.argv for c in result.commands] == [("python", "real")]


def test_it_refuses_where_it_cannot_be_shut_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(realbash, "refusal", lambda: "no namespaces")
    result = launch("python x")
    assert result.failure == "real bash is not available here: no namespaces"
    assert result.commands == ()
