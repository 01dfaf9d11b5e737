from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from bot.base.git import Git, GitError, login
from bot.repository.mirror import Commit, clone
from ci.model.errors import EnvironmentProblem, InputError
from ci.model.folder_walk import MOST_DEPTH
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
    size = len(SOURCES[TILING])
    assert git.sizes(["0" * 40, folder, blob]) == {blob: size}
    assert git.blobs([folder, blob], largest=size) == found
    assert git.blobs([blob], largest=size - 1) == git.blobs([]) == git.sizes([]) == {}


def lying_graph(file: Path, commit: str, parent: str, tree: str) -> None:
    """Change a graph of commits so that it names `parent` and `tree` as those of `commit`."""
    raw = bytearray(file.read_bytes())
    chunks = {
        bytes(raw[at : at + 4]): int.from_bytes(raw[at + 4 : at + 12], "big")
        for at in range(8, 8 + 12 * raw[6], 12)
    }
    names = [raw[at : at + 20].hex() for at in range(chunks[b"OIDL"], chunks[b"CDAT"], 20)]
    at = chunks[b"CDAT"] + 36 * names.index(commit)
    raw[at : at + 24] = bytes.fromhex(tree) + names.index(parent).to_bytes(4, "big")
    raw[-20:] = hashlib.sha1(raw[:-20], usedforsecurity=False).digest()
    file.chmod(0o600)
    file.write_bytes(raw)


def test_a_graph_of_commits_that_lies_is_not_believed(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    first = plain_git(checkout, "rev-parse", "HEAD")
    plain_git(checkout, "commit", "-q", "--allow-empty", "-m", "Second")
    second = plain_git(checkout, "rev-parse", "HEAD")
    plain_git(checkout, "checkout", "-q", "--orphan", "other")
    (checkout / "README.md").write_text("Another\n")
    plain_git(checkout, "commit", "-qam", "Another beginning")
    other, tree = plain_git(checkout, "rev-parse", "HEAD", "HEAD^{tree}").split()
    plain_git(checkout, "commit-graph", "write", "--reachable")
    lying_graph(checkout / ".git" / "objects" / "info" / "commit-graph", second, other, tree)
    assert plain_git(checkout, "rev-list", second).split() == [second, other]
    assert Git(checkout).run("rev-list", second).split() == [second, first]
    assert not Git(checkout).succeeds("merge-base", "--is-ancestor", other, second)
    Git(checkout).lay_out(second, tmp_path / "laid")
    assert (tmp_path / "laid" / "README.md").read_text() == "operators\n"


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


@pytest.mark.parametrize("rule", ["insteadOf", "pushInsteadOf"])
@pytest.mark.parametrize("whose", ["person", "checkout"])
def test_no_rewritten_address_gets_the_token_of_the_one_that_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, whose: str
) -> None:
    _Recorder.seen.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Recorder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        mirror = f"http://127.0.0.1:{server.server_port}/"
        forge = "http://localhost:1/"
        checkout = repository(tmp_path)
        setting = f'[url "{mirror}"]\n {rule} = {forge}\n'
        if whose == "person":
            monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
            (tmp_path / "gitconfig").write_text(setting)
        else:
            with (checkout / ".git" / "config").open("a") as config:
                config.write(setting)
        git = Git(checkout, login=login(forge, "bot", "s3cret"))
        words = ("push", f"{forge}ops.git", "main") if "push" in rule else ("ls-remote", forge)
        with pytest.raises(GitError, match="not found" if whose == "person" else "onnect"):
            git.run(*words)
        server.shutdown()
    assert not any(_Recorder.seen), "without what says who the bot is"
    assert bool(_Recorder.seen) == (whose == "person")


def test_what_a_partial_clone_cannot_fetch_is_not_taken_for_a_file_that_is_not_there(
    tmp_path: Path,
) -> None:
    checkout = repository(tmp_path)
    origin = tmp_path / "origin.git"
    plain_git(origin, "config", "uploadpack.allowFilter", "true")
    words = ("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{origin}", "part")
    plain_git(tmp_path, *words)
    git = Git(tmp_path / "part")
    assert git.show("HEAD", "README.md") == (checkout / "README.md").read_bytes()
    assert git.show("HEAD", "other") is None
    origin.rename(tmp_path / "away.git")
    with pytest.raises(GitError, match=f"{TILING} is not in this partial clone"):
        git.show("HEAD", f"{OPERATOR_PATH}/{TILING}")


def test_a_partial_clone_fetches_with_the_login(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    _Recorder.seen.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Recorder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        for setting in (("url", f"{url}ops.git"), ("promisor", "true")):
            plain_git(checkout, "config", f"remote.origin.{setting[0]}", setting[1])
        plain_git(checkout, "config", "core.repositoryFormatVersion", "1")
        plain_git(checkout, "config", "extensions.partialClone", "origin")
        blob = plain_git(checkout, "rev-parse", "HEAD:README.md")
        (checkout / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        with pytest.raises(GitError, match="partial clone"):
            Git(checkout, login=login(url, "bot", "s3cret")).show("HEAD", "README.md")
        server.shutdown()
    basic = "Basic " + base64.b64encode(b"bot:s3cret").decode()
    assert _Recorder.seen and all(one == [basic] for one in _Recorder.seen)


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


HARMLESS = {
    *("core.bare", "core.filemode", "core.ignorecase", "core.logallrefupdates"),
    *("core.precomposeunicode", "core.repositoryformatversion", "core.sparsecheckout"),
    *("core.sparsecheckoutcone", "core.symlinks"),
    *("remote.some.fetch", "remote.some.partialclonefilter", "remote.some.promisor"),
    *("remote.some.pushurl", "remote.some.url", "branch.some.merge", "branch.some.remote"),
}


def test_of_all_settings_that_git_knows_a_checkouts_harmless_ones_count(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    known = plain_git(checkout, "help", "--config").split("\n")
    known = [key for key in known if "." in key and not set(key) & set("*_")]
    keys = [re.sub(r"<[^>]*>", "some", key) for key in known]
    keys += ["remote.https://forge.example/a.git.url", "remote./srv/a.git.uploadpack", "new.key"]
    assert len(keys) > 500
    hostile = {key.lower() for key in keys if key.lower() not in HARMLESS}
    with (checkout / ".git" / "config").open("a") as config:
        for key in keys:
            head, _, name = key.rpartition(".")
            section, _, middle = head.partition(".")
            quoted = f' "{middle}"' if middle else ""
            if not key.startswith(("extensions.", "core.repositoryformat", "include")):
                config.write(f"[{section}{quoted}]\n\t{name} = 1\n")
    (tmp_path / "more").write_text("[alias]\n\tx = !touch ran\n")
    for where in ("include", f'includeIf "gitdir:{tmp_path}/"'):
        with (checkout / ".git" / "config").open("a") as config:
            config.write(f"[{where}]\n\tpath = {tmp_path}/more\n")
    listed = Git(checkout).run("config", "--list", "--show-scope", "--name-only", "-z")
    words = listed.split("\0")[:-1]
    found = {key for scope, key in zip(words[::2], words[1::2], strict=True) if scope == "local"}
    assert {key for key in found if not key.startswith("remote.origin.")} <= HARMLESS
    assert not found & hostile


def test_nothing_in_a_checkouts_own_folder_runs_or_decides_anything(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "sub").mkdir()
    git, ran = two_commits(tmp_path / "inner"), tmp_path / "ran"
    hidden, run = git.folder / ".git", f"touch {ran}; true"
    inner = repository(tmp_path / "sub")
    plain_git(git.folder, "-c", "protocol.file.allow=always", "submodule", "add", str(inner), "sub")
    plain_git(git.folder, "commit", "-qm", "sub")
    (git.folder / "z ö.cpp").write_text("changed\n")
    wanted = git.diff("--text", "HEAD~1", "--")
    for place in (git.folder, git.folder / "sub"):
        plain_git(place, "config", "core.fsmonitor", run)
    plain_git(git.folder, "config", "core.worktree", str(tmp_path))
    (hidden / "info").mkdir(exist_ok=True)
    (hidden / "info" / "attributes").write_text("* filter=x diff=x merge=x\n")
    (hidden / "info" / "grafts").write_text(f"{git.commit('HEAD')}\n")
    config = f"""
[filter "x"]\n clean = "{run}"\n smudge = "{run}"\n process = "{run}"\n required = true
[diff]\n external = "{run}"\n noprefix = true
[diff "x"]\n command = "{run}"\n textconv = "{run}"
[merge "x"]\n driver = "{run}"
[remote "origin"]\n uploadpack = "{run}"\n receivepack = "{run}"\n vcs = x\n proxy = x://
[remote "{tmp_path}/inner/origin.git"]\n url = {tmp_path}/elsewhere\n uploadpack = "{run}"
[url "{tmp_path}/elsewhere/"]\n insteadOf = {tmp_path}/
[core]\n sshCommand = "{run}"\n alternateRefsCommand = "{run}"\n gitProxy = "{run}"
[gpg]\n program = "{run}"\n[alias]\n diff = "!{run}"\n[pager]\n diff = "{run}"
[credential]\n helper = "!{run}"\n[uploadpack]\n packObjectsHook = "{run}"
[http]\n sslCAInfo = {tmp_path}/ca.pem\n proxy = http://127.0.0.1:9\n[gc]\n auto = 1
"""
    with (hidden / "config").open("a") as opened:
        opened.write(config)
    hooks = hidden / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "pre-push", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\n{run}\n")
        (hooks / name).chmod(0o755)
    assert git.diff("--text", "HEAD~1", "--") == wanted and "+changed\n" in wanted
    assert git.top() == git.folder and git.commit("HEAD~2") is not None
    git.run("fetch", "-q", "--", str(tmp_path / "inner" / "origin.git"), "main")
    git.run("push", "-q", "--", str(tmp_path / "inner" / "origin.git"), "HEAD:refs/heads/new")
    git.run("ls-remote", "--symref", "--", "origin", "HEAD")
    clone(git, "HEAD", tmp_path / "laid")
    assert (tmp_path / "laid" / "z ö.cpp").read_text() == AFTER
    assert not ran.exists()


@pytest.mark.parametrize(
    "setting",
    [
        "fetch.recurseSubmodules=true",
        "submodule.recurse=true",
        "submodule.sub.fetchRecurseSubmodules=true",
        "push.recurseSubmodules=on-demand",
    ],
)
def test_a_fetch_or_push_does_not_go_on_in_submodules(tmp_path: Path, setting: str) -> None:
    """Not even in one that moved: its own settings and its address are a stranger's."""
    for name in ("outer", "inner"):
        (tmp_path / name).mkdir()
    outer, inner = repository(tmp_path / "outer"), repository(tmp_path / "inner")
    local = ("-c", "protocol.file.allow=always")
    plain_git(outer, *local, "submodule", "add", str(inner / "../origin.git"), "sub")
    plain_git(outer, "commit", "-qm", "sub")
    plain_git(outer, "push", "-q", "origin", "HEAD:main")
    plain_git(inner, "commit", "-q", "--allow-empty", "-m", "moved")
    plain_git(inner, "push", "-q", "origin", "HEAD:main")
    moved = plain_git(inner, "rev-parse", "HEAD")
    plain_git(tmp_path, "clone", "-q", str(outer / "../origin.git"), "elsewhere")
    elsewhere = tmp_path / "elsewhere"
    plain_git(elsewhere, "update-index", "--cacheinfo", f"160000,{moved},sub")
    plain_git(elsewhere, "commit", "-qm", "move")
    plain_git(elsewhere, "push", "-q", "origin", "HEAD:main")
    sub, ran = outer / "sub", tmp_path / "ran"
    for key in ("core.fsmonitor", "remote.origin.uploadpack", "remote.origin.receivepack"):
        plain_git(sub, "config", key, f"touch {ran}; true")
    key, _, value = setting.partition("=")
    plain_git(outer, "config", key, value)
    git, url = Git(outer), str(outer / "../origin.git")
    git.run("fetch", "-q", "--", url, "refs/heads/main")
    git.run("push", "-q", "--", url, f"{git.commit('FETCH_HEAD')}:refs/heads/new")
    assert not ran.exists() and git.commit("FETCH_HEAD~1") == git.commit("HEAD")


def test_commits_that_a_checkout_borrows_are_read_and_nothing_else_is(tmp_path: Path) -> None:
    lender = repository(tmp_path)
    plain_git(tmp_path, "clone", "-q", "--shared", str(lender), "borrower")
    borrower = tmp_path / "borrower"
    clone(Git(borrower), "HEAD", tmp_path / "laid")
    assert (tmp_path / "laid" / OPERATOR_PATH / TILING).read_text() == SOURCES[TILING]
    named = borrower / ".git" / "objects" / "info" / "alternates"
    ends = ("/dev/zero\n", "../../../borrower/.git/objects\n", '"\\', "\0\n", "/none\n" * 9)
    for text in ends:
        named.write_text(text)
        with pytest.raises(GitError, match="^git rev-parse failed: "):
            clone(Git(borrower), "HEAD", tmp_path / "again")


def test_a_configuration_that_git_cannot_read_is_named(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    (checkout / ".git" / "config").write_text("[core\n")
    with pytest.raises(InputError, match=r"bad config line 1 in .*/ops/\.git/config"):
        Git(checkout).commit("HEAD")


@pytest.mark.parametrize(
    "name", ["index", "sharedindex.1", "info/sparse-checkout", "refs/heads/other", "objects/aa/b"]
)
def test_a_pipe_or_a_device_in_a_repository_is_refused_at_once(tmp_path: Path, name: str) -> None:
    place = repository(tmp_path) / ".git" / name
    place.parent.mkdir(exist_ok=True)
    for make in (lambda: os.mkfifo(place), lambda: place.symlink_to("/dev/zero")):
        place.unlink(missing_ok=True)
        make()
        with pytest.raises(InputError, match=f"{name} is a pipe or a device"):
            Git(tmp_path / "ops").run("status")


def test_a_pipe_among_borrowed_commits_is_refused_at_once(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    pipe = tmp_path / "other" / "objects" / "aa" / "b"
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    listed = checkout / ".git" / "objects" / "info" / "alternates"
    listed.parent.mkdir(exist_ok=True)
    listed.write_text("../../../other/objects\n")
    with pytest.raises(InputError, match="is a pipe or a device"):
        Git(checkout).run("status")


def test_a_second_work_tree_and_a_submodule_are_their_own_checkouts(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    checkout, inner = repository(tmp_path), repository(tmp_path / "sub")
    first = plain_git(checkout, "rev-parse", "HEAD")
    plain_git(checkout, "worktree", "add", "-q", "-b", "second", str(tmp_path / "second"))
    plain_git(checkout, "-c", "protocol.file.allow=always", "submodule", "add", str(inner), "sub")
    plain_git(checkout, "commit", "-qm", "sub")
    second = Git(tmp_path / "second" / OPERATOR_PATH)
    assert second.top() == tmp_path / "second" and second.commit("HEAD") == first
    assert Git(checkout).commit("HEAD") == plain_git(checkout, "rev-parse", "HEAD") != first
    assert Git(checkout / "sub").top() == checkout / "sub"
    assert Git(checkout / "sub").commit("HEAD") == plain_git(inner, "rev-parse", "HEAD")
    clone(second, "HEAD", tmp_path / "laid")
    assert (tmp_path / "laid" / OPERATOR_PATH / TILING).read_text() == SOURCES[TILING]


def test_what_a_person_does_meanwhile_is_seen(tmp_path: Path) -> None:
    git = two_commits(tmp_path)
    before = git.commit("HEAD")
    plain_git(git.folder, "checkout", "-q", "-b", "work")
    plain_git(git.folder, "commit", "-q", "--allow-empty", "-m", "x")
    plain_git(git.folder, "pack-refs", "--all")
    plain_git(git.folder, "gc", "--quiet")
    plain_git(git.folder, "remote", "add", "mine", "https://forge.example/a.git")
    assert git.commit("HEAD~1") == git.commit("main") == before != git.commit("work")
    assert git.run("remote", "get-url", "mine").strip() == "https://forge.example/a.git"


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


def bomb(git: Git, levels: int) -> str:
    """A commit of ten times as many files for each level, in a few hundred bytes each."""
    blob = git.run("hash-object", "-w", "--stdin", stdin="x" * 1000).strip()
    tree = git.run("mktree", stdin="".join(f"100644 blob {blob}\tf{i}.h\n" for i in range(10)))
    for _ in range(levels - 1):
        listed = "".join(f"040000 tree {tree.strip()}\tfolder{i}\n" for i in range(10))
        tree = git.run("mktree", stdin=listed)
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    return git.run(*who, "commit-tree", "-m", "bomb", tree.strip()).strip()


def test_a_tree_that_holds_one_other_many_times_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.base.git._MOST_BYTES", 100_000)
    git = Git.made(tmp_path, bare=True)
    few, many = bomb(git, 2), bomb(git, 4)
    assert len(Commit(git, few).files) == 100
    for read in (lambda: Commit(git, many).files, lambda: git.diff("--name-only", few, many)):
        with pytest.raises(GitError, match="printed more than 0 MB: too many or too large files"):
            read()


def test_a_commit_that_would_fill_the_disk_is_not_checked_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file counts, though all of them are one blob."""
    git = Git.made(tmp_path, bare=True)
    commit = bomb(git, 2)
    monkeypatch.setattr("bot.base.git._MOST_LAID_OUT", 100_000)
    clone(git, commit, tmp_path / "whole")
    monkeypatch.setattr("bot.base.git._MOST_LAID_OUT", 99_999)
    with pytest.raises(GitError, match="is not checked out: its files have more than 0 GB"):
        clone(git, commit, tmp_path / "none")
    assert not [*(tmp_path / "none").rglob("*.h")]


def test_a_commit_that_nobody_could_walk_through_is_not_checked_out(tmp_path: Path) -> None:
    git = Git.made(tmp_path, bare=True)
    blob = git.run("hash-object", "-w", "--stdin", stdin="x").strip()
    tree = git.run("mktree", stdin=f"100644 blob {blob}\tf.h\n").strip()
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    for _ in range(MOST_DEPTH):
        tree = git.run("mktree", stdin=f"040000 tree {tree}\td\n").strip()
    deep = git.run(*who, "commit-tree", "-m", "deep", tree).strip()
    clone(git, deep, tmp_path / "whole")
    tree = git.run("mktree", stdin=f"040000 tree {tree}\td\n").strip()
    deeper = git.run(*who, "commit-tree", "-m", "deeper", tree).strip()
    with pytest.raises(GitError, match="a file of it lies more than 100 folders deep"):
        clone(git, deeper, tmp_path / "none")


ODD_PATHS = {"a link to itself": "l/x", "a zero byte": "a\0b", "a long path": "a/" * 4000}


@pytest.mark.parametrize("path", ODD_PATHS.values(), ids=ODD_PATHS)
@pytest.mark.parametrize("what", [".git", "commondir", "alternates"])
def test_a_path_that_a_repository_spells_and_that_leads_nowhere_is_no_defect(
    tmp_path: Path, what: str, path: str
) -> None:
    checkout, own = repository(tmp_path), tmp_path / "own"
    (tmp_path / "l").symlink_to("l")
    if what == ".git":
        (checkout / ".git").rename(own)
        (checkout / ".git").write_text(f"gitdir: ../{path}")
    elif what == "commondir":
        (checkout / ".git" / what).write_text(f"../../{path}")
    else:
        (checkout / ".git" / "objects" / "info" / what).write_text(f"{tmp_path}/{path}\n")
    known = Git(checkout).commit("HEAD")
    assert known is None or what == "alternates"
