"""A token goes to the host that it belongs to, over TLS, and to no other."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bot.base.secret import renewed, take
from bot.forge import ForgeSettings, forge_of_checkout, open_forge
from bot.forge.base import Forge, ForgeError
from bot.forge.kinds import FORGES
from bot.forge.settings import token_of
from bot.repository.settings import checkout_settings
from ci.model.errors import InputError
from tests.bot.forge import test_gitcode, test_github, test_gitlab
from tests.bot.forge.server.base import Answer, ForgeServer
from tests.bot.make import git

MODULES = {"github": test_github, "gitlab": test_gitlab, "gitcode": test_gitcode}
ELSEWHERE = [
    "https://github.com.evil.example",
    "https://github-mirror.example",
    "https://github.example.com",
    "https://github.com:8443",
    "http://github.com",
    "https://evilgithub.com",
    "https://github.com-work",
    "https://evil.example\\@github.com",
    "https://evil.example\\\\@github.com",
]


@pytest.fixture(params=MODULES)
def module(request: pytest.FixtureRequest) -> ModuleType:
    return MODULES[request.param]


@pytest.fixture
def served(module: ModuleType, checkout: Path, tmp_path: Path) -> Iterator[ForgeServer]:
    made: ForgeServer = module.SERVER(tmp_path / "origin.git", module.TOKENS)
    yield made
    made.stop()


@pytest.fixture
def connected(module: ModuleType, served: ForgeServer) -> Forge:
    made: Forge = module.connected(served, next(iter(module.TOKENS)))
    return made


# Whose token it is


@pytest.mark.parametrize("server", ELSEWHERE)
@pytest.mark.parametrize("variable", FORGES["github"].tokens)
def test_a_token_of_the_environment_goes_to_the_public_server_alone(
    variable: str, server: str
) -> None:
    environ = {variable: "t"}
    assert token_of("github", environ, "https://github.com") == "t"
    assert token_of("github", environ, "https://GitHub.com:443/") == "t"
    said = f"so it is not sent there.*ASCENDOPT_FORGE_URL={re.escape(server)}"
    with pytest.raises(InputError, match=said):
        token_of("github", environ, server)


@pytest.mark.parametrize(
    ("forge", "environ"),
    [
        ("github", {"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://ghe.example.com"}),
        ("gitlab", {"GITLAB_CI": "true", "CI_SERVER_URL": "https://ghe.example.com"}),
    ],
)
def test_a_ci_sets_tokens_of_its_own_server(forge: str, environ: dict[str, str]) -> None:
    given = environ | {FORGES[forge].tokens[-1]: "t"}
    assert token_of(forge, given, "https://ghe.example.com") == "t"
    outside = {name: value for name, value in given.items() if value != "true"}
    with pytest.raises(InputError, match="not sent there"):
        token_of(forge, outside, "https://ghe.example.com")


def test_the_bots_own_token_belongs_where_the_person_says_and_others_do_not() -> None:
    own = {"ASCENDOPT_FORGE_URL": "https://ghe.example.com", "ASCENDOPT_TOKEN": "own"}
    assert token_of("github", own, "https://ghe.example.com") == "own"
    with pytest.raises(InputError, match="not sent there"):
        token_of("github", own, "https://github.com")
    other = {"ASCENDOPT_FORGE_URL": "https://ghe.example.com", "GITHUB_TOKEN": "hub"}
    with pytest.raises(InputError, match="not sent there"):
        token_of("github", other, "https://ghe.example.com")


def test_a_forge_of_two_names_gets_its_token_under_both_and_no_look_alike_does() -> None:
    for server in ("https://gitcode.com", "https://atomgit.com"):
        assert token_of("gitcode", {"GITCODE_TOKEN": "t"}, server) == "t"
    for server in ("https://evilatomgit.com", "https://x.atomgit.com", "http://atomgit.com"):
        with pytest.raises(InputError, match="not sent there"):
            token_of("gitcode", {"GITCODE_TOKEN": "t"}, server)


@pytest.mark.parametrize("server", ELSEWHERE)
def test_a_checkout_of_a_look_alike_gets_no_token(
    checkout: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ASCENDOPT_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "t")
    git(checkout, "remote", "set-url", "origin", f"{server}/team/ops.git")
    for connect in (
        lambda: forge_of_checkout("github", checkout, "origin"),
        lambda: checkout_settings(checkout, checkout.parent / "bot"),
    ):
        with pytest.raises(InputError):
            connect()


@pytest.mark.parametrize(
    "changes", [{"url": "http://ghe.example.com"}, {"api": "http://api.example.com"}]
)
def test_no_token_goes_over_a_network_in_the_clear(changes: dict[str, str]) -> None:
    given = {"forge": "github", "repository": "a/b", "url": "https://ghe.example.com"}
    with pytest.raises(InputError, match="is not https: a token would go there in the clear"):
        open_forge(ForgeSettings.model_validate(given | changes), "t")


# Where the forge leads


class Other:
    """Another server, which writes down what it is sent."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        other = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def _any(self) -> None:
                other.seen.append(str(self.headers))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            do_GET = do_POST = do_PUT = do_PATCH = _any  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True, args=(0.05,)).start()


@pytest.fixture
def other() -> Iterator[Other]:
    made = Other()
    yield made
    made.http.shutdown()
    made.http.server_close()


ASKED: dict[str, Callable[[Forge], object]] = {
    "reads": lambda forge: forge.branches(),
    "writes": lambda forge: forge.open("t", "b", "work", "main"),
}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("asked", ASKED)
def test_a_redirection_to_another_server_gets_no_token_and_is_told(
    connected: Forge, served: ForgeServer, other: Other, status: int, asked: str
) -> None:
    connected.repository()
    served.fail(status, {"Location": f"{other.url}/api"}, times=9)
    with pytest.raises(ForgeError) as refused:
        ASKED[asked](connected)
    assert not other.seen
    assert "lead" in str(refused.value)


def test_a_write_to_a_former_name_is_a_sentence(connected: Forge, served: ForgeServer) -> None:
    """GitHub answers 307 to a write under a former name; taken for success, fields are missing."""
    connected.repository()
    served.fail(307, {"Location": f"{served.url}/repositories/7/pulls"})
    with pytest.raises(ForgeError, match="leads to .*repositories/7.*the name that the repository"):
        connected.open("t", "b", "work", "main")


@pytest.mark.parametrize("push", ["http://git.example.com/ops.git", "https://127.0.0.1/ops.git"])
def test_git_gets_the_token_for_the_server_of_the_settings_alone(
    served: ForgeServer, connected: Forge, push: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = connected.repository()
    monkeypatch.setattr(connected, "_home", home.model_copy(update={"push_url": push}))
    with pytest.raises(ForgeError, match="is not sent there"):
        connected.credentials()


@pytest.mark.few(12)
@pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 404, 422, 500])
def test_a_server_that_repeats_what_it_was_sent_makes_no_message_hold_the_token(
    module: ModuleType, served: ForgeServer, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """A debugging proxy does; wherever the token stands in its answer, also where it is cut."""
    monkeypatch.setattr("bot.forge.retry.ATTEMPTS", 1)
    token, before = "glpat-0123456789abcdefghij", [0]

    def repeats(method: str, target: str, headers: Any, raw: bytes) -> Answer:
        sent = f"{headers.get('Authorization')} {headers.get('PRIVATE-TOKEN')}"
        where = {"Location": f"/login?then={token}"} if status == 302 else {}
        return Answer(f"{'x' * before[-1]}{sent}", status, where)

    monkeypatch.setattr(served, "answer", repeats)
    for room in (0, 55, 180) if status == 400 else (55,):
        before.append(room)
        for question in ("branches", "merge_request", "open", "viewer"):
            forge: Forge = module.connected(served, token)
            with pytest.raises(ForgeError) as refused:
                QUESTIONS[question](forge)
            assert "glpat-" not in str(refused.value)


def test_a_netrc_of_the_machine_takes_the_tokens_place_nowhere(
    connected: Forge, served: ForgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not behind a redirection either, as a renamed repository gives one."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login mallory password stolen\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    served.former = "old-team/old"
    assert connected.was_named("old-team/old")


@pytest.mark.parametrize("given", ["\ufefftoken", "tok\nen", "tok en\u20ac", "\u5bc6\u7801"])
def test_a_token_that_no_header_can_hold_is_a_sentence_without_it(
    module: ModuleType, served: ForgeServer, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.forge.retry.ATTEMPTS", 1)
    forge: Forge = module.connected(served, given)
    with pytest.raises(ForgeError, match="the token holds a character") as refused:
        forge.branches()
    assert given not in str(refused.value) and "Error" not in str(refused.value)
    assert forge.token_refused()


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy"])
def test_a_token_for_this_machine_goes_through_no_proxy(
    connected: Forge,
    served: ForgeServer,
    other: Other,
    variable: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The proxy of a company's network for all hosts, and an address that may be without TLS."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, other.url)
    assert connected.branches()
    assert git_reads(served, connected.credentials())
    assert not other.seen


# Renewed and refused


def test_a_renewed_token_is_read_again_by_every_forge(
    module: ModuleType, served: ForgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, first = tmp_path / "token", next(iter(module.TOKENS))
    file.write_text(f"{first}\n")
    monkeypatch.setenv("BOT_TOKEN_FILE", str(file))
    forge: Forge = module.connected(served, renewed("BOT_TOKEN", take(["BOT_TOKEN"])["BOT_TOKEN"]))
    assert forge.branches()
    served.tokens = {"renewed": "ascendopt"}
    with pytest.raises(ForgeError, match="HTTP 401") as refused:
        forge.branches()
    assert refused.value.token_refused and forge.token_refused()
    file.write_text("renewed\n")
    assert forge.branches() and not forge.token_refused()
    env = forge.credentials()
    assert git_reads(served, env)


def git_reads(served: ForgeServer, env: dict[str, str]) -> bool:
    from bot.base.git import Git

    url = f"{served.url}/team/ops.git"
    return bool(Git(served.bare).run("ls-remote", "--", url, env=env))


def test_a_token_of_the_variable_is_not_replaced_by_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("of the file")
    monkeypatch.setenv("BOT_TOKEN", "of the variable")
    monkeypatch.setenv("BOT_TOKEN_FILE", str(tmp_path / "token"))
    assert renewed("BOT_TOKEN", take(["BOT_TOKEN"])["BOT_TOKEN"])() == "of the variable"


def test_a_file_that_is_being_replaced_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("t")
    monkeypatch.setenv("BOT_TOKEN_FILE", str(file))
    now = renewed("BOT_TOKEN", "t")
    file.unlink()
    assert now() == "t"
    file.write_text("")
    assert now() == "t"
    file.write_text("u")
    assert now() == "u"


# Odd answers

QUESTIONS: dict[str, Callable[[Forge], object]] = {
    "repository": lambda f: f.repository(),
    "viewer": lambda f: f.viewer(),
    "branches": lambda f: f.branches(),
    "branch_head": lambda f: f.branch_head("main"),
    "file": lambda f: f.file("README.md", "main"),
    "merge_requests": lambda f: f.merge_requests(),
    "merge_request": lambda f: f.merge_request(1),
    "open": lambda f: f.open("t", "b", "work", "main"),
    "update": lambda f: f.update(1, "t"),
    "close": lambda f: f.close(1),
    "comments": lambda f: f.comments(1),
    "comment": lambda f: f.comment(1, "x"),
    "permission": lambda f: f.permission("alice"),
    "issue": lambda f: f.issue(1),
    "write_issue": lambda f: f.write_issue("t", "b"),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("body", [{}, [], None, "text", [{}], [None], {"message": "x"}, 7])
def test_an_answer_of_another_form_is_a_sentence_and_no_keyerror(
    connected: Forge, served: ForgeServer, body: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "answer", lambda *_: Answer(body))
    for question in QUESTIONS.values():
        try:
            question(connected)
        except ForgeError as problem:
            assert "Error" not in str(problem)
