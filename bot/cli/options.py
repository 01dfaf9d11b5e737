"""Command-line options from pydantic fields: name, meaning and default are declared once."""

from __future__ import annotations

import stat
import types
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import click
from pydantic import BaseModel, Field, ValidationError
from pydantic.fields import FieldInfo

from bot.base.text import visible
from bot.cli.say import say
from ci.model.amount import amount
from ci.model.errors import InputError, first_fault
from ci.model.folder_walk import is_text
from ci.model.frozen import Frozen


class OrdinaryPath(click.Path):
    """A path that a person gives: of a file, a folder, or nothing yet.

    A pipe or a device is refused: it would keep the command waiting, or never end. So is what lies
    at a path that is no UTF-8: no report could name it.
    """

    def __init__(self, *, exists: bool = False, file_okay: bool = True) -> None:
        super().__init__(exists=exists, file_okay=file_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; fails with a sentence for the person."""
        try:
            mode = Path(value).stat().st_mode
        except FileNotFoundError:
            mode = stat.S_IFREG
        except (OSError, ValueError) as problem:
            said = problem.strerror if isinstance(problem, OSError) else str(problem)
            self.fail(f"{visible(str(value))} cannot be used: {said}.", param, ctx)
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            self.fail(f"{visible(str(value))} is neither a file nor a folder.", param, ctx)
        if not is_text(str(Path(value).absolute())):
            self.fail(f"{visible(str(value))} lies at a path that is no UTF-8.", param, ctx)
        return super().convert(value, param, ctx)


Function = TypeVar("Function", bound=Callable[..., Any])
Model = TypeVar("Model", bound=BaseModel)


def _plain(annotation: Any) -> Any:
    """`X` of `X | None` and of an annotated X, anything else unchanged."""
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [a for a in get_args(annotation) if a is not type(None)]
        if len(rest) == 1:
            return _plain(rest[0])
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _parameter_type(annotation: Any) -> Any:
    """Return the click type that parses the value."""
    plain = _plain(annotation)
    if get_origin(plain) is Literal:
        return click.Choice([str(value) for value in get_args(plain)])
    if plain is Path:
        return OrdinaryPath()
    return plain if plain in (int, float, str) else str


def _option(name: str, field: FieldInfo) -> click.Option:
    flag = "--" + name.rstrip("_").replace("_", "-")
    default = field.default
    if field.is_required():  # without a default: click takes None for one
        kind = _parameter_type(field.annotation)
        return click.Option([flag, name], type=kind, required=True, help=_help(field))
    if _plain(field.annotation) is bool:
        declaration = f"{flag}/--no-{flag[2:]}" if default else flag
        return click.Option([declaration, name], is_flag=True, default=default, help=_help(field))
    return click.Option(
        [flag, name],
        type=_parameter_type(field.annotation),
        default=default,
        show_default=default not in (None, ""),
        help=_help(field),
    )


def _help(field: FieldInfo) -> str:
    return field.description or ""


def options(
    *models: type[BaseModel], everyday: Collection[str] = ()
) -> Callable[[click.Command], click.Command]:
    """Decorate a command with one option a field of each model, in the order of the fields.

    With `everyday`, `--help` shows only those fields; `--help-all` shows all of them.
    """

    def decorate(command: click.Command) -> click.Command:
        made = [_option(n, f) for model in models for n, f in model.model_fields.items()]
        if everyday:
            unknown = set(everyday) - {option.name for option in made}
            assert not unknown, f"no options: {unknown}"
            for option in made:
                option.hidden = option.name not in everyday
            made.append(_help_all(sum(option.hidden for option in made)))
        # Before --json, with which every command ends.
        position = next(
            (i for i, p in enumerate(command.params) if p.name == "as_json"), len(command.params)
        )
        command.params[position:position] = made
        return command

    return decorate


def _help_all(more: int) -> click.Option:
    """The option that shows the help with the `more` options that `--help` leaves out."""

    def show(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
        if not asked:
            return
        given = [p for p in ctx.command.params if isinstance(p, click.Option) and p.hidden]
        for option in given:
            option.hidden = False
        click.echo(ctx.get_help())
        for option in given:
            option.hidden = True
        ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help=f"Show the other {amount(more, 'option')} too.",
    )


def build(model: type[Model], values: dict[str, Any]) -> Model:
    """`model` from the options' values that are its fields; bad values become an `InputError`."""
    own = {name: value for name, value in values.items() if name in model.model_fields}
    try:
        return model(**own)
    except ValidationError as problem:
        place, said = first_fault(problem)
        name = "--" + place.partition(".")[0].replace("_", "-") if place else "the options"
        given = own.get(place.partition(".")[0], own)
        shown = given if isinstance(given, Path) else repr(given)
        raise InputError(f"{name} cannot be {shown}: {said.lower()}") from problem


json_option: Callable[[Function], Function] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else."
)


class PageOptions(Frozen):
    """Where the page of a suite of `bench` is."""

    markdown: Path | None = Field(
        default=None, description="Page of docs/ whose measured part is replaced."
    )


def show_suite(found: BaseModel, text: str, as_json: bool) -> None:
    """Print the result of a `bench` suite as JSON, or its `text` as Markdown."""
    if as_json:
        say(found.model_dump_json(indent=2))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
