"""What a person has still to do on the forge: settings, secrets and runners, by the names that the
forge's own pages give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from bot.repository.config import FILE, MergeRequests, RepositoryConfig
from bot.setup.files import GITLAB_CI, SetupFile, ci_place, included, includes
from bot.setup.source import FORM, NAME
from ci.model import layout
from ci.model.amount import amount

# Operators named in one sentence; a repository has hundreds.
_NAMED: Final = 5


def left_to_do(
    forge: str,
    repository: str,
    branch: str,
    source: str,
    files: Sequence[SetupFile],
    without_workload: Sequence[str],
    config: RepositoryConfig,
) -> tuple[str, ...]:
    """One sentence for each thing that is left to do, in the order in which to do it."""
    place = ci_place(forge)
    found: list[str] = []
    for file in files:
        if file.state == "differs":
            found.append(
                f"{file.path} differs from the template of this version and was left alone:"
                " `ascendopt init --force --dry-run` shows how, `--force` replaces it."
            )
        if file.path == GITLAB_CI and not includes(file.text, place):
            found.append(
                f"{GITLAB_CI} includes files in a form that is not edited here: add"
                f" `{included('', place).splitlines()[-1].strip()}` to its `include`."
            )
    if place and not source:
        found.append(
            f"Name what the jobs install in {place}: {NAME}: {FORM}, or give it with --source."
        )
    if without_workload:
        some = ", ".join(map(layout.called, without_workload[:_NAMED]))
        more = len(without_workload) - _NAMED
        rest = f" and {more} more" if more > 0 else ""
        found.append(
            f"{amount(len(without_workload), 'operator has', 'operators have')} no workload:"
            f" {some}{rest}. The bot derives one for each run; `ascendopt init --workloads PATTERN`"
            " writes them next to the operators, for you to put in the shapes that you care about."
        )
    author = config.merge_requests.author
    if author == MergeRequests().author:
        found.append(
            f"Name the author of the bot's commits in {FILE}, such as `merge_requests: {{author:"
            " Operator Bot <bot@example.org>}`, an account that the forge knows. Now it is"
            f" {author}."
        )
    named = " ".join(f.path for f in files if f.state != "differs")
    found.append(
        f"Commit and push to {branch}, from which alone the bot reads: git add {named} && git"
        f' commit -m "Set up ascendopt" && git push origin HEAD:{branch}'
    )
    found += _ON_THE_FORGE.get(forge, _nothing)(repository, branch)
    found.append(_TRY[bool(place)])
    return tuple(found)


_TRY: Final = {
    where: "Then try it: `/optimize` under a merge request that changes an operator. For one that"
    f" does not exist yet, write `/create` {words}, with a golden function and its shapes in two"
    " code blocks."
    for where, words in ((True, "there or in an issue"), (False, "there, too"))
}
"""Try by whether the forge has issues: only the local one, which has no CI, has none."""


def _nothing(repository: str, branch: str) -> list[str]:
    return [
        "The local forge has no CI: keep `ascendopt watch .` running here; it answers what is"
        " pushed and commented from then on."
    ]


def _github(repository: str, branch: str) -> list[str]:
    return [
        'Settings, Actions, General, "Workflow permissions": tick "Allow GitHub Actions to create'
        ' and approve pull requests"; in an organization its own settings may have to allow it'
        " first. Pull requests that this token opens start no other workflows.",
        "Settings, Environments, New environment `ascendopt`: Deployment branches and tags,"
        f" Selected branches and tags, {branch}.",
        "So that its pull requests start them: there, Add environment secret ASCENDOPT_TOKEN: a"
        " fine-grained personal access token of an account of the bot's own with Contents, Issues,"
        " Pull requests and Commit statuses: Read and write.",
        'In a fork: the tab Actions, "I understand my workflows, go ahead and enable them", and'
        " there enable the workflow `ascendopt`: schedules are off in forks.",
        "Runner: the jobs ask for the label ubuntu-22.04; for an NPU write the labels of your own"
        " (such as [self-hosted, ascend]) at the job `optimize`.",
        "If a ruleset or branch protection covers every branch: let the bot push to optimize/**,"
        " create/** and ascendopt-state.",
    ]


def _gitlab(repository: str, branch: str) -> list[str]:
    return [
        "Settings, Access tokens, Add new token: role Developer, scopes api and write_repository.",
        "Settings, CI/CD, Variables, Add variable ASCENDOPT_TOKEN with that token: Masked, Protect"
        " variable, environment scope `ascendopt`.",
        f"After the first push to {branch} made the branch ascendopt-state: Settings, Repository,"
        " Protected branches: protect ascendopt-state, Allowed to push and merge: Developers.",
        "Build, Pipeline schedules, New schedule: interval */15 * * * *, target branch"
        " ascendopt-state, variable ASCENDOPT = follow-up. It reads comments, so that one which is"
        " no command costs nothing, and runs none of your jobs.",
        "Runner: Settings, CI/CD, Runners needs one that takes untagged jobs and runs containers;"
        " for an NPU add `ascendopt-optimize: {tags: [ascend]}` to your own file.",
    ]


def _gitcode(repository: str, branch: str) -> list[str]:
    return [
        "The project's settings, secrets of Actions: ASCENDOPT_TOKEN, a personal access token of an"
        " account of the bot's own that may write to the repository, its merge requests and notes.",
        "Switch Actions on in the project's settings, if it is off.",
        "Runner: the jobs ask for [ubuntu-latest, x64, small]; for an NPU write the labels of your"
        " own at the job `optimize`.",
    ]


_ON_THE_FORGE: Final[dict[str, Callable[[str, str], list[str]]]] = {
    "github": _github,
    "gitlab": _gitlab,
    "gitcode": _gitcode,
}
