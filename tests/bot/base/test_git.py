from __future__ import annotations

import base64
import os
import shutil
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from bot.base.git import Git, GitError, login
from bot.repository.mirror import clone
from ci.model.errors import EnvironmentProblem
from ci.model.git_environment import git_environment
from tests.bot.make import OPERATOR_PATH, SOURCES, TILING, repository
from tests.bot.make import git as plain_git


def test_the_top_of_a_checkout_is_found_from_below(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    assert Git(checkout / OPERATOR_PATH).top() == checkout
    assert Git(tmp_path).top() is None


def test_a_missing_git_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="apt-get install"):
        Git(tmp_path).run("status")


def test_content_comes_byte_for_byte(tmp_path: Path) -> None:
    git = Git(repository(tmp_path))
    assert git.show("HEAD", f"{OPERATOR_PATH}/{TILING}") == SOURCES[TILING].encode()
    assert git.show("HEAD", "none") is None


def test_of_many_objects_only_those_that_are_files_are_read(tmp_path: Path) -> None:
    git = Git(repository(tmp_path))
    blob = git.run("rev-parse", f"HEAD:{OPERATOR_PATH}/{TILING}").strip()
    folder = git.run("rev-parse", f"HEAD:{OPERATOR_PATH}").strip()
    found = git.blobs(["0" * 40, folder, blob])
    assert found == {blob: SOURCES[TILING].encode()}


def test_hooks_of_a_repository_do_not_run(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    hook = checkout / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    identity = {f"GIT_{r}_{p}": "x" for r in ("AUTHOR", "COMMITTER") for p in ("NAME", "EMAIL")}
    Git(checkout).run("commit", "--allow-empty", "-q", "-m", "x", env=identity)
    assert not (tmp_path / "ran").exists()


def test_an_option_in_place_of_a_revision_is_no_commit(tmp_path: Path) -> None:
    git = Git(repository(tmp_path))
    assert git.commit("--all") is None
    assert git.commit("HEAD") == git.run("rev-parse", "HEAD").strip()


def answers(git: Git, *arguments: str, env: dict[str, str]) -> bool:
    try:
        return bool(git.run(*arguments, env=env).strip())
    except GitError:
        return False


def test_a_login_is_for_its_own_server_only(tmp_path: Path) -> None:
    env = login("https://forge.example.org/team/ops.git", "bot", "s3cret")
    git = Git(tmp_path)
    asked = ("config", "--get-urlmatch", "http.extraHeader")
    basic = base64.b64encode(b"bot:s3cret").decode()
    found = git.run(*asked, "https://forge.example.org/other", env=env)
    assert found.strip() == f"Authorization: Basic {basic}"
    for other in (
        "https://example.org/",
        "http://forge.example.org/",
        "https://forge.example.org:1/",
    ):
        assert not answers(git, *asked, other, env=env)


class _Recorder(BaseHTTPRequestHandler):
    """Refuses everything and keeps how the client said who it is."""

    seen: ClassVar[list[list[str]]] = []

    def do_GET(self) -> None:
        self.seen.append(self.headers.get_all("Authorization") or [])
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_login_is_sent_in_place_of_what_a_checkout_sends(tmp_path: Path) -> None:
    _Recorder.seen.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Recorder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        checkout = repository(tmp_path)
        plain_git(checkout, "config", f"http.{url}.extraHeader", "Authorization: basic of-the-ci")
        with pytest.raises(GitError, match="not found"):
            Git(checkout).run("ls-remote", f"{url}ops.git", env=login(url, "bot", "s3cret"))
        server.shutdown()
    assert _Recorder.seen == [["Basic " + base64.b64encode(b"bot:s3cret").decode()]]


MACHINE = """
[user]\n name = Somebody\n signingKey = 1
[core]\n autocrlf = true\n pager = false\n sshCommand = touch {ran}\n abbrev = 4\n commentChar = x
[commit]\n gpgSign = true\n template = {ran}
[diff]\n noprefix = true\n context = 0\n external = touch {ran}\n colorMoved = yes
[diff "c"]\n textconv = touch {ran}; echo
[color]\n ui = always
[filter "lfs"]\n smudge = touch {ran}; echo smudged\n clean = touch {ran}; echo\n required = true
[credential]\n helper = !touch {ran}
[http]\n extraHeader = X-Of: me\n sslVerify = false\n proxy = http://proxy.example:3128
[http "https://forge.example"]\n sslCAInfo = ~/ca.pem\n cookieFile = {ran}
[url "https://mirror.example/a \\"b\\" "]\n insteadOf = https://forge.example/
[url "ssh://git@forge.example/"]\n pushInsteadOf = https://other.example/
[safe]\n directory = *\n bareRepository = explicit
[alias]\n fetch = !touch {ran}
[include]\n path = more
"""


@pytest.fixture(params=["home", "xdg", "named", "system", "counted", "of an alias"])
def machine(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The home of a person whose git is set up in an odd way, in each place that git looks at.

    What is set runs a program that makes the file `ran` in it.
    """
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    text = MACHINE.replace("{ran}", str(home / "ran"))
    (home / "more").write_text("[http]\nproxyAuthMethod = basic\n")
    text = text.replace("path = more", f"path = {home / 'more'}")
    for name in [n for n in os.environ if n.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    file = home / ".gitconfig"
    if request.param == "home":
        file.write_text(text)
    elif request.param == "xdg":
        (home / ".config" / "git" / "config").write_text(text)
        (home / ".config" / "git" / "attributes").write_text("* filter=lfs text eol=crlf diff=c\n")
    elif request.param in ("named", "system"):
        (home / "named").write_text(text)
        where = {"named": "GIT_CONFIG_GLOBAL", "system": "GIT_CONFIG_SYSTEM"}[request.param]
        monkeypatch.setenv(where, str(home / "named"))
    elif request.param == "counted":
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "include.path")
        (home / "named").write_text(text)
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(home / "named"))
    else:
        (home / "named").write_text(text)
        monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'include.path'='{home / 'named'}'")
    return home


WAYS = {
    "http.proxy": "http://proxy.example:3128",
    "http.proxyauthmethod": "basic",
    "http.https://forge.example.sslcainfo": "{home}/ca.pem",
    'url.https://mirror.example/a "b" .insteadof': "https://forge.example/",
    "url.ssh://git@forge.example/.pushinsteadof": "https://other.example/",
    "safe.directory": "*",
}


def test_of_a_machines_settings_git_gets_the_ways_to_servers_alone(
    machine: Path, tmp_path: Path
) -> None:
    listed = Git(tmp_path).run("config", "--list", "--show-scope", "-z").split("\0")[:-1]
    found = zip(listed[::2], (one.partition("\n") for one in listed[1::2]), strict=True)
    given = {key: value for scope, (key, _, value) in found if scope != "command"}
    assert given == {key: value.replace("{home}", str(machine)) for key, value in WAYS.items()}


def test_a_setting_that_was_tidied_away_is_there_again(machine: Path, tmp_path: Path) -> None:
    file = Path(git_environment()["GIT_CONFIG_GLOBAL"])
    shutil.rmtree(file.parent)
    assert Git(tmp_path).run("config", "http.proxy").strip() == WAYS["http.proxy"]
    assert file.stat().st_mode & 0o77 == 0


ODD = b"one\r\n$Id$\n\xff\xfe" + "zwei\n".encode("utf-16-le")
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5000\n"


@pytest.fixture
def strangers(tmp_path: Path) -> Git:
    """A checkout whose attributes ask for everything that git can do to a file."""
    checkout = repository(tmp_path)
    asked = "* filter=lfs text eol=crlf ident working-tree-encoding=UTF-16LE diff=c merge=c\n"
    (checkout / ".lfsconfig").write_text("[lfs]\n\turl = http://127.0.0.1:9/\n")
    for name, content in (("odd.bin", ODD), ("weights.bin", POINTER)):
        (checkout / name).write_bytes(content)
    for name in ("", "below/"):
        (checkout / name).mkdir(exist_ok=True)
        (checkout / name / ".gitattributes").write_text(asked)
    (checkout / "below" / "weights.bin").write_bytes(POINTER)
    exact = checkout / ".git" / "info" / "attributes"
    exact.parent.mkdir(exist_ok=True)
    exact.write_text("* -text -filter -ident -working-tree-encoding\n")
    for words in (("add", "-A"), ("commit", "-qm", "Hostile attributes")):
        plain_git(checkout, *words)
    exact.unlink()
    return Git(checkout)


def test_a_checkout_of_a_strangers_tree_runs_nothing_and_changes_no_byte(
    strangers: Git, machine: Path, tmp_path: Path
) -> None:
    checkout = strangers.folder
    plain_git(checkout, "config", "filter.lfs.smudge", f"touch {machine / 'ran'}; echo smudged")
    plain_git(checkout, "config", "core.autocrlf", "true")
    into = tmp_path / "laid"
    clone(strangers, "HEAD", into)
    assert (into / "odd.bin").read_bytes() == ODD
    assert (into / "weights.bin").read_bytes() == POINTER
    assert (into / "below" / "weights.bin").read_bytes() == POINTER
    assert not (machine / "ran").exists()


OWN_SETTINGS = (
    "diff.noprefix=true",
    "diff.mnemonicPrefix=true",
    "diff.context=0",
    "diff.interHunkContext=99",
    "diff.suppressBlankEmpty=true",
    "diff.external=touch {ran}",
    "diff.c.textconv=touch {ran}; echo",
    "diff.c.command=touch {ran}; echo",
    "diff.c.binary=true",
    "diff.algorithm=patience",
    "diff.renames=copies",
    "diff.orderFile={order}",
    "diff.wordRegex=.",
    "diff.relative=true",
    "diff.colorMoved=plain",
    "diff.submodule=log",
    "color.ui=always",
    "core.pager=touch {ran}",
    "core.bigFileThreshold=1",
    "core.quotePath=true",
    "core.whitespace=cr-at-eol",
    "core.fsmonitor=touch {ran}",
    "i18n.logOutputEncoding=latin1",
)
BEFORE = "".join(f"{line}\n\n" for line in range(40))
AFTER = BEFORE.replace("4\n", "four\n").replace("19\n", "nineteen ö\n")


def two_commits(folder: Path) -> Git:
    checkout = repository(folder)
    for text in (BEFORE, AFTER):
        for name in ("a.cpp", "z ö.cpp"):
            (checkout / name).write_text(text)
        (checkout / ".gitattributes").write_text("*.cpp diff=c -diff\n" if text == AFTER else "")
        plain_git(checkout, "add", "-A")
        plain_git(checkout, "commit", "-qm", "x")
    return Git(checkout)


@pytest.mark.parametrize("setting", [*OWN_SETTINGS, "all"])
def test_a_diff_is_the_same_whatever_is_set(tmp_path: Path, setting: str) -> None:
    git = two_commits(tmp_path)
    asked = ("--text", "HEAD~1..HEAD", "--", "*.cpp")
    wanted = git.diff(*asked)
    (tmp_path / "order").write_text("z*\na*\n")
    for one in OWN_SETTINGS if setting == "all" else (setting,):
        key, _, value = one.partition("=")
        value = value.replace("{ran}", str(tmp_path / "ran"))
        plain_git(git.folder, "config", key, value.replace("{order}", str(tmp_path / "order")))
    assert git.diff(*asked) == wanted
    assert wanted.count("+nineteen ö\n") == 2 and "--- a/a.cpp\n+++ b/a.cpp\n@@ -6,7" in wanted
    assert not (tmp_path / "ran").exists()


VARIABLES = {
    "GIT_DIR": "{other}/.git",
    "GIT_WORK_TREE": "{other}",
    "GIT_COMMON_DIR": "{other}/.git",
    "GIT_INDEX_FILE": "{other}/.git/index",
    "GIT_OBJECT_DIRECTORY": "{other}/.git/objects",
    "GIT_NAMESPACE": "odd",
    "GIT_CEILING_DIRECTORIES": "{here}",
    "GIT_PREFIX": "below/",
    "GIT_EXTERNAL_DIFF": "touch {ran}",
    "GIT_DIFF_OPTS": "-u0",
    "GIT_PAGER": "touch {ran}",
    "GIT_EXEC_PATH": "{other}",
    "GIT_TRACE": "{ran}",
    "GIT_TRACE2_EVENT": "{ran}",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_DEFAULT_HASH": "sha256",
    "GIT_CONFIG": "{other}/.git/config",
    "GIT_SSH_COMMAND": "touch {ran}",
    "GIT_ASKPASS": "{ran}",
}


@pytest.mark.parametrize("name", [*VARIABLES, "all"])
def test_no_variable_decides_what_git_does(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
    git = two_commits(tmp_path / "one")
    other = repository(tmp_path / "other")
    before = plain_git(other, "show-ref", "--head")
    head, wanted = git.commit("HEAD"), git.diff("HEAD~1..HEAD", "--", "*.cpp")
    for one in VARIABLES if name == "all" else (name,):
        value = VARIABLES[one].replace("{other}", str(other)).replace("{here}", str(git.folder))
        monkeypatch.setenv(one, value.replace("{ran}", str(tmp_path / "ran")))
    assert git.commit("HEAD") == head and git.top() == git.folder
    assert git.diff("HEAD~1..HEAD", "--", "*.cpp") == wanted
    clone(git, "HEAD", tmp_path / "laid")
    assert Git(tmp_path / "laid").commit("HEAD") == head
    monkeypatch.undo()
    assert plain_git(other, "show-ref", "--head") == before
    assert not (tmp_path / "ran").exists()


def test_a_replaced_commit_is_read_as_it_is(tmp_path: Path) -> None:
    git = two_commits(tmp_path)
    plain_git(git.folder, "replace", "HEAD", "HEAD~1")
    assert git.show("HEAD", "a.cpp") == AFTER.encode()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("checkout", "none"), "error: pathspec 'none' did not match any file"),
        (("fetch", "/none/such.git"), "Could not read from remote repository|does not appear"),
        (("merge-base", "HEAD", "{empty}"), "it ended with code 1 and said nothing"),
    ],
)
def test_a_failure_is_told_by_the_line_that_says_why(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    checkout = repository(tmp_path)
    empty = plain_git(checkout, "commit-tree", "-m", "x", plain_git(checkout, "mktree"))
    with pytest.raises(GitError, match=f"^git {arguments[0]} failed: .*({words})"):
        Git(checkout).run(*(word.replace("{empty}", empty) for word in arguments))


def test_a_push_that_is_refused_is_told_in_the_servers_words(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    hook = tmp_path / "origin.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'GL: You may not push here.' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(GitError) as told:
        Git(checkout).run("push", "--", str(tmp_path / "origin.git"), "HEAD:refs/heads/new")
    line = "git push failed: ! [remote rejected] HEAD -> new (pre-receive hook declined)"
    assert str(told.value) == f"{line} (GL: You may not push here.)"


@pytest.mark.parametrize("read", [lambda g: g.run("log"), lambda g: g.show("HEAD", "x")])
def test_what_does_not_end_is_given_up(
    read: Callable[[Git], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.base.git.TIMEOUT_S", 1e-9)
    with pytest.raises(GitError, match="did not end within"):
        read(Git(tmp_path))
