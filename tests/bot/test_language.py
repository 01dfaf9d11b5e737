"""The catalogue of each language has every message, with the same values."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import get_args

import pytest

from bot.base.language import Language, catalogue, language, sentence_catalogue, translated
from bot.report.html import html
from bot.report.markdown import markdown
from bot.report.sentences import local
from bot.report.view import VERDICT_WORDS, page_in
from bot.repository.job import State
from bot.repository.language import checkout_language, readme_language
from bot.server.merge_request import body
from bot.server.refused import Kind
from ci.judge.causes import SCOPE_OF_EACH, cause
from ci.model.finding import Severity
from ci.model.trial import Candidate, Measurement, Outcome, PipeTime
from ci.tiling.knob_words import NEUTRAL, WORDS
from rules.constants import constant_words
from rules.findings import load_findings
from rules.guards import source_rules
from rules.load import load_motifs, load_taxonomy
from tests.bot.make import result
from tests.ci.judge.test_diagnose import measured
from tests.places import TOP

CHINESE = re.compile("[\u4e00-\u9fff]")
SENTENCE = re.compile(r"(?<=\.) ")
ENDS_ONLY = re.compile(r"x\d (?:be |The event|Give )|`x\d|x\d is not known\.x")
"""A sentence whose beginning is a value."""
VALUE = re.compile(r"(?<!\{)\{(\w+)(?::[^{}]*)?\}(?!\})")
TEMPLATES = [("**/templates/**.j2", "jinja2.ext:babel_extract")]


def literal_messages(tree: ast.AST) -> Iterator[str]:
    """First arguments of `_` and `translated`; also in f-strings."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name("_" | "translated"), args=[ast.Constant(str(message)), *_]):
                yield message


def messages() -> set[str]:
    """Every literal message of the code and the templates, and the words that they are given."""
    from babel.messages.extract import extract_from_dir

    found = extract_from_dir(TOP / "bot", method_map=TEMPLATES, keywords={"_": None})
    literal = {str(message) for _, _, message, _, _ in found}
    for file in (TOP / "bot").rglob("*.py"):
        literal |= set(literal_messages(ast.parse(file.read_text())))
    stages = get_args(Candidate.model_fields["stage"].annotation)
    outcomes = {word for one in Outcome for word in (one.value, one.value.replace("_", " "))}
    grave = {one.value for one in Severity}
    states = {*get_args(State), *get_args(Kind), "open", "closed", "merged"}
    return literal | {*stages, *VERDICT_WORDS.values()} | outcomes | states | grave


def reasons(folder: Path) -> Iterator[str]:
    """Every reason that the code gives a knob; {name} for a value in it."""
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.keyword(arg="why", value=ast.Constant(str(text))):
                    yield text
                case ast.keyword(arg="why", value=ast.JoinedStr(parts)):
                    yield "".join(
                        p.value if isinstance(p, ast.Constant) else "{name}" for p in parts
                    )


def sample(node: ast.AST) -> str:
    """A literal text with `x1`, `x2` … for its values; '' for anything else."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(value(part, at) for at, part in enumerate(parts))
    return ""


def value(part: ast.AST, at: int) -> str:
    """A part of an f-string, in which a value is `x` and its place; with its word if it is a
    number of things: in the singular where the place is odd."""
    match part:
        case ast.Constant(str(text)):
            return text
        case ast.FormattedValue(
            ast.Call(ast.Name("amount" | "worded_amount"), [_, ast.Constant(one), *rest])
        ):
            many = rest[0].value if rest and isinstance(rest[0], ast.Constant) else f"{one}s"
            return f"x{at} {one if at % 2 else many}"
    return f"x{at}"


def refusals() -> Iterator[str]:
    """Every sentence by which a gate, the guard or a step refuses a candidate."""
    judge, search = TOP / "ci" / "judge", TOP / "ci" / "search"
    for file in (*(judge / "gates").glob("*.py"), judge / "guard.py", search / "steps.py"):
        nodes = list(ast.walk(ast.parse(file.read_text())))
        variables = set()
        for node in nodes:
            match node:
                case ast.Call(func=ast.Attribute(attr="refuse"), args=[_, ast.Name(name), *_]):
                    variables.add(name)
        for node in nodes:
            match node:
                case ast.Call(func=ast.Attribute(attr="refuse"), args=[_, said, *_]):
                    yield sample(said)
                case ast.Assign(targets=[ast.Name(name)], value=said) if name in variables:
                    text = sample(said)
                    yield text if text.endswith(".") else ""  # a part of a sentence has no stop
                case ast.keyword(arg="sentence", value=said):
                    yield sample(said)
    for rule in source_rules():
        yield f"The candidate {' '.join(rule.message.split()).replace('{name}', 'x1')}."


def failures() -> Iterator[str]:
    """Every sentence by which building or running a candidate fails."""
    for file in (TOP / "ci").rglob("*.py"):
        if "testing" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Call(func=ast.Name("Refusal"), keywords=words):
                    yield from (sample(one.value) for one in words if one.arg == "sentence")


def test_a_refusal_has_a_translation() -> None:
    found = [one for one in (*refusals(), *failures()) if one.count(" ") > 2]
    assert len(found) > 80
    with language("zh"):
        assert not [one for one in found if not CHINESE.search(local(one))]


def faults() -> Iterator[str]:
    """What the machine says of memories, races, flags and queues, with values in it."""
    simulator = TOP / "ci" / "simulator"
    names = ("memory", "hazard", "flags", "gm", "kernel_words")
    files = [simulator / "machine" / f"{name}.cpp" for name in names]
    for file in (*files, *simulator.glob("ascendc/**/queue.h")):
        for whole in re.findall(r'"[^"\n]*"(?:\s*"[^"\n]*")*', file.read_text()):
            text = "".join(re.findall(r'"([^"]*)"', whole))
            if not text.endswith(".") or text.count(" ") < 3:
                continue
            text = re.sub("^%s %s ", "x reads ", text)
            yield re.sub(r"%(?:\w*?[sudxp]|\.0f)", "x1", text)


def test_what_the_machine_finds_has_a_translation() -> None:
    found = [one for one in faults() if "No memory" not in one and not one.startswith("The ")]
    assert len(found) > 40
    with language("zh"):
        assert not [one for one in found if not CHINESE.search(local(one))]
        room = local(
            "case a, seed 1: Buffer VECOUT asks for 8 bytes of UB from 0x3 on, beyond the 4 there"
            " are."
        )
        race = local(
            "vadds on VECTOR overwrites what copy_ubuf_to_gm on MTE3 reads at UB bytes 0x0..0x1f,"
            " and no flag or barrier orders the two on core 0; it needs a set_flag/wait_flag pair"
            " from MTE3 to VECTOR."
        )
    assert room == "用例 a，种子 1：缓冲区 VECOUT 从 0x3 起申请 UB 的 8 字节，超出现有的 4 字节。"
    assert race.startswith(
        "VECTOR 上的 vadds 覆盖 MTE3 上的 copy_ubuf_to_gm 在 UB bytes 0x0..0x1f 读取"
    )


def api_texts() -> Iterator[str]:
    """What our AscendC headers say of a call, at a run or when they are compiled."""
    for file in (TOP / "ci/simulator/ascendc").rglob("*.h"):
        text = re.sub(r"//.*|^#include.*", "", file.read_text(), flags=re.MULTILINE)
        text = re.sub(r"\\\n|(?<!\w)ASC_REAL_HEADERS", " ", text)
        for whole in re.findall(r'(?:#\w+\s*)?"[^"\n]*"(?:\s*(?:#\w+\s*)?"[^"\n]*")*', text):
            yield "".join(re.findall(r'"([^"]*)"', re.sub(r'#\w+\s*"', '"x1', whole)))


def test_what_the_headers_say_of_a_call_has_a_translation() -> None:
    found = [one for one in api_texts() if " " in one]
    assert len(found) > 120
    with language("zh"):
        assert not [one for one in found if not CHINESE.search(local(one))]
        real = "Our Matmul calls nothing back; compile it against the real headers (--asc-headers)."
        said = local(f"The kernel does not compile: static assertion failed: {real}")
        parts = local("Our Matmul takes no L0cT of the kernel's own"), local("Mul was given 8")
    assert said == (
        "核函数无法编译：仿真机的 Matmul 不支持回调；请用真实头文件编译（--asc-headers）。"
    )
    assert parts == ("仿真机的 Matmul 不支持核函数自定义的 L0cT", "Mul was given 8")


def without(found: Iterable[str], known: Collection[str]) -> list[str]:
    """The messages that are not known, short enough that pytest shows them."""
    return sorted(set(found) - set(known))


def test_no_message_is_missing() -> None:
    assert without(messages(), catalogue("zh")) == []


def test_no_message_is_left_that_nothing_writes() -> None:
    assert without(catalogue("zh"), messages() | {"cold", "warm"}) == []


def test_motifs_bottlenecks_and_constants_have_a_translation() -> None:
    known = sentence_catalogue("zh").keys()
    assert without([motif.title for motif in load_motifs()], known) == []
    assert without([one.words for one in load_taxonomy().values()], known) == []
    assert without([motif.why for motif in load_motifs()], known) == []
    assert without([w.replace("{}", "{value}") for w in constant_words().values()], known) == []


def test_what_a_check_finds_has_a_translation() -> None:
    rules = load_findings().values()
    texts = {text for rule in rules for text in (rule.title, *SENTENCE.split(rule.advice)) if text}
    assert len(texts) > 90
    assert without(texts, sentence_catalogue("zh").keys()) == []
    told = [
        re.sub(r"\.x\d$", ".", one) for one in found_in(TOP / "ci/judge/check", "told", "together")
    ]
    with language("zh"):
        assert not [one for one in told if not CHINESE.search(local(one))]


def found_in(place: Path, *calls: str) -> Iterator[str]:
    """Every sentence of several words that a call of one of the names is given."""
    for file in place.glob("*.py") if place.is_dir() else (place,):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and called(node) in calls:
                yield from (text for arg in node.args if (text := sample(arg)).count(" ") > 2)


def called(node: ast.Call) -> str:
    """The last part of what a call calls."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def test_why_a_tuple_was_retrieved_has_a_translation() -> None:
    found = [*found_in(TOP / "experience" / "bank" / "retrieve.py", "append")]
    assert len(found) > 3
    with language("zh"):
        assert not [one for one in found if not CHINESE.search(local(one))]


def test_why_no_operator_is_created_has_a_translation() -> None:
    """The answer to `/create` says it; benchmarks and recorded models are the terminal's."""
    elsewhere = ("benchmark.py", "create.py", "model_writer.py", "program_files.py", "base.py")
    files = [f for f in (TOP / "ci" / "create").rglob("*.py") if f.name not in elsewhere]
    errors = ("InputError", "TrialFailure", "Unsupported", "refuse", "Refused")
    found = [text for file in files for text in found_in(file, *errors)]
    assert len(found) > 50
    with language("zh"):
        assert not [one for one in found if not CHINESE.search(local(one))]


def test_an_error_of_the_bot_has_a_translation() -> None:
    """The bot answers with them: what a command, a result or a patch lacks."""
    found = []
    for folder in ("repository", "server"):
        found += found_in(TOP / "bot" / folder, "InputError", "_mistake", "Mistake")
    known = [one for one in found if not ENDS_ONLY.match(one)]
    assert len(known) > 60
    with language("zh"):
        assert not [one for one in known if not CHINESE.search(local(one))]


def errors_in(file: Path) -> Iterator[str]:
    """Every sentence or clause that an error of a file is made of."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    given = [
        arg
        for node in nodes
        if isinstance(node, ast.Call) and called(node) in ("InputError", "ValueError", "wrong")
        for arg in node.args
    ]
    names = {arg.id for arg in given if isinstance(arg, ast.Name)}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(name)]) if name in names:
                given.append(node.value)
    for one in given:
        for said in (one.body, one.orelse) if isinstance(one, ast.IfExp) else (one,):
            yield sample(said).strip()


def test_an_error_of_a_workload_or_of_reading_an_operator_has_a_translation() -> None:
    """The bot answers with them where it finds no operator or cannot read one."""
    files = [f for part in ("source", "model") for f in (TOP / "ci" / part).rglob("*.py")]
    made = [one for file in files for one in errors_in(file)]
    found = [one for one in made if re.search("[a-z]{2} |[a-z] [a-z]", re.sub(r"x\d", "", one))]
    assert len(found) > 120
    with language("zh"):
        assert not [one for one in found if not CHINESE.search(local(one))]
        said = local("w.yaml line 3: cases[0].dtype: is 'f', no dtype; known: float16, int8.")
    assert said == "w.yaml 第 3 行：cases[0].dtype：是 'f'，不是 dtype；可用：float16, int8。"


def test_what_a_tiling_step_does_and_why_has_a_translation() -> None:
    known = sentence_catalogue("zh").keys()
    steps = (*WORDS.values(), *NEUTRAL.values())
    assert without([f"{words} ({{place}})." for words in steps], known) == []
    assert without(filter(None, reasons(TOP / "ci" / "tiling")), known) == []


def test_what_a_number_of_the_tiling_changed_has_a_translation() -> None:
    def pipes(dims: tuple[int, ...], cycles: int, copies: int = 0) -> Measurement:
        return measured(
            *(
                PipeTime(
                    total_cycles=cycles,
                    block_dim=dim,
                    busy_cycles={"MTE2": cycles / 2 if copies else 1},
                    wait_cycles={"MTE3<-VECTOR": 0 if copies else cycles / 2},
                    instructions={"copy_gm_to_ubuf": copies},
                    gm_read_bytes=16384,
                )
                for dim in dims
            )
        )

    found = [
        cause(pipes(old, 9000, copies), pipes(new, 5000, copies // 2))
        for old, new in [((8,), (8,)), ((9, 9), (4, 8)), ((4, 8), (2, 2)), ((4, 8), (2, 4))]
        for copies in (0, 16)
    ]
    assert len(set(found)) == len(found)
    with language("zh"):
        spoken = [local(one) for one in [*found, SCOPE_OF_EACH]]
    assert not [one for one in spoken if re.search("[a-z]{2}", one)]
    over = "以上为全部用例之和，仅含此项改动。"
    assert spoken[0] == f"每核 MTE3 等待 VECTOR 由 4,500 个周期变为 2,500 个周期。{over}"
    assert spoken[1] == (
        "搬运由 16 次（平均 1 KiB）变为 8 次（平均 2 KiB）；"
        f"每核 MTE2 忙碌由 4,500 个周期变为 2,500 个周期。{over}"
    )


@pytest.mark.parametrize("texts", [catalogue, sentence_catalogue])
def test_a_translation_has_the_values_of_its_message(
    texts: Callable[[Language], Mapping[str, str]],
) -> None:
    for message, translation in texts("zh").items():
        assert set(VALUE.findall(message)) == set(VALUE.findall(translation)), message


def test_a_rationale_is_translated_by_its_pattern_and_keeps_its_values() -> None:
    text = "With trial 5: Free a buffer right after its last use at line 57 (xLocal)."
    with language("zh"):
        assert (
            local(text) == "在试验 5 的基础上：最后一次使用后立即释放缓冲区（第 57 行：xLocal）。"
        )
        both = local("TILE is 8 instead of 4. The number of cores that share the work.")
        assert both == "TILE 由 4 改为 8。分担任务的核数。"
        assert local("TILE is 8 instead of 4") == "TILE 由 4 改为 8"
        assert local("More buffers in a queue: BUFFER_NUM 2 → 3") == (
            "为队列增加缓冲区：BUFFER_NUM 2 → 3"
        )
        assert local("Nobody wrote this before.") == "Nobody wrote this before."
        assert local("The vector unit is busy most of the time. Busy on 8 cores: MTE2 9%.") == (
            "矢量单元大部分时间忙碌。8 个核上的忙碌占比：MTE2 9%。"
        )
    assert local(text) == text


def test_what_nobody_knows_keeps_its_own_marks() -> None:
    with language("zh"):
        assert local("a.cpp:41: error: 'x' is unknown here") == (
            "a.cpp:41: error: 'x' is unknown here"
        )


def test_chinese_has_its_own_commas(tmp_path: Path) -> None:
    (tmp_path / "some.md.j2").write_text("运行, `a`, `b`, 核 1, 2\n")
    with language("zh"):
        assert page_in(tmp_path, "some.md.j2", {}) == "运行，`a`, `b`，核 1, 2\n"


def chinese_texts() -> list[str]:
    pages = [TOP / "README.zh-CN.md", *(TOP / "docs" / "zh").glob("*.md")]
    texts = [*catalogue("zh").values(), *sentence_catalogue("zh").values()]
    return texts + [page.read_text() for page in pages]


def test_chinese_has_one_word_for_a_kernel() -> None:
    """核函数, as in the toolkit's pages; `kernel` is left to names that a person types."""
    code = re.compile(r"```.*?```|`[^`\n]*`|\{\w+\}", re.DOTALL)
    bare = re.compile(r".*(?<![\w./#-])kernel(?![\w/=-]).*", re.IGNORECASE)
    found = [bare.search(code.sub("", text)) for text in chinese_texts()]
    assert not [one.group() for one in found if one]


def test_chinese_has_one_word_for_a_golden_function() -> None:
    """golden 函数, for `golden` is what a person types in a workload."""
    other = re.compile(r".*(?:标准|参考|基准|黄金|金标准)[（(]?\s*(?:golden[）)]?\s*)?函数.*")
    found = [other.search(text) for text in chinese_texts()]
    found += [re.search(r".*[\u4e00-\u9fff]golden.*", text) for text in chinese_texts()]
    assert not [one.group() for one in found if one]


def test_a_text_made_to_be_slow_is_not() -> None:
    with language("zh"):
        assert local(" at line " * 60)


@pytest.mark.parametrize("render", [markdown, html, body])
def test_a_report_in_chinese_keeps_figures_commands_and_code(render: object) -> None:
    assert callable(render)
    english = render(result())
    with language("zh"):
        chinese = render(result())
    assert "检查了什么" in chinese
    assert "What was checked" not in chinese
    for kept in ("2.00×", "18,432", "ascendopt evaluate", "op\\_kernel", "910B4"):
        assert (kept in english) == (kept in chinese)
    assert translated("case") == "case"


def test_the_readme_decides_where_the_configuration_does_not(tmp_path: object) -> None:
    from pathlib import Path

    top = Path(str(tmp_path))
    assert checkout_language(top) == "en"
    (top / "README.md").write_text(
        "# ops-math\n\n本仓库提供数学类算子。\n\n```sh\nbash build.sh all\n```\n"
    )
    assert checkout_language(top) == "zh"
    (top / ".ascendopt.yml").write_text("language: en\n")
    assert checkout_language(top) == "en"
    (top / ".ascendopt.yml").write_text("language: xx\n")
    assert checkout_language(top) == "en"
    assert readme_language("Operators for 昇腾 in English words that outnumber them.") == "en"
