"""Whether everybody can read the pages: contrast in both schemes, and what axe-core finds."""

from __future__ import annotations

import html as markup
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from bot.report.html import html
from tests.bot.forge.definitions import npm_file
from tests.bot.make import job, result
from tests.bot.report.test_uncertainty import MADE
from tests.bot.web.running import Server, running, short
from tests.bot.web.test_app import Bench, finished_run

LEAST_CONTRAST: Final = 4.5
"""WCAG 2.2, level AA, for text of ordinary size."""

PAGES: Final = ("/", "/trends", "/bank", "/runs/{key}")
DARK: Final = "--blink-settings=preferredColorScheme=0"
LONG: Final = "Output y (float16) is wrong in 12 of 524288 elements; worst at [3, 17]. " * 4
PAIRS: Final = [
    *((text, back) for text in ("ink", "soft", "muted", "blue") for back in ("paper", "ground")),
    ("good", "paper"),
    ("good", "good-soft"),
    ("bad", "bad-soft"),
    ("ink", "good-soft"),
    ("ink", "bad-soft"),
]


def schemes(page: str) -> list[dict[str, str]]:
    """Colours by name in the light scheme, then in the dark one."""
    roots = re.findall(r":root \{(.*?)\}", page, flags=re.DOTALL)
    found = [dict(re.findall(r"--([\w-]+):(#\w+)", root)) for root in roots]
    assert len(found) == 2
    return [found[0], found[0] | found[1]]


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = digits if len(digits) == 6 else "".join(d * 2 for d in digits)
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_text_has_enough_contrast_in_both_schemes(bench: Bench) -> None:
    with running(bench.app) as server:
        dashboard = server.ask("/").body
    for page in (html(result()), dashboard):
        for colours in schemes(page):
            for text, back in PAIRS:
                assert contrast(colours[text], colours[back]) >= LEAST_CONTRAST, (text, back)
            for back in ("head", "flat", "button"):
                if back in colours:
                    assert contrast("#fff", colours[back]) >= LEAST_CONTRAST, back


def test_every_column_has_a_scope_and_every_picture_words() -> None:
    page = html(MADE)
    assert "<th>" not in page and '<th class="n">' not in page
    assert page.count("<svg") == len(re.findall(r'<figure role="img" aria-label="[^"]+">', page))
    assert "#" not in "".join(re.findall(r"fill: (#\w+)", page))


def answered(page: str, folder: Path, script: str, *flags: str) -> str:
    """What a script says of a page in Chromium, by `say`."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("looks at pages in a browser: apt-get install -y chromium")
    say = "const say = what => document.getElementById('found').textContent = JSON.stringify(what)"
    probe = f"<pre id='found' hidden></pre><script>{say};{script}</script>"
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    file = folder / "page.html"
    file.write_text(text.replace("</body>", f"{probe}</body>"), encoding="utf-8")
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *flags]
    more = [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=30000", "--dump-dom"]
    done = subprocess.run(
        [program, *arguments, *more, file.as_uri()],
        env=short(),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    found = re.search(r'<pre id="found"[^>]*>(.*?)</pre>', done.stdout, flags=re.DOTALL)
    assert found and found.group(1), "the script did not end"
    return markup.unescape(found.group(1))


def findings(page: str, folder: Path, *flags: str) -> list[str]:
    """What axe-core finds serious on a page in Chromium, each with the place."""
    axe = npm_file("axe-core", "axe.min.js").read_text().replace("</script", "<\\/script")
    serious = (
        "r.violations.filter(v => ['serious', 'critical'].includes(v.impact))"
        ".map(v => `${v.id}: ${v.nodes[0].html}`)"
    )
    script = f"{axe};axe.run().then(r => say({serious}))"
    return list(json.loads(answered(page, folder, script, *flags)))


@pytest.mark.more_programs
@pytest.mark.parametrize("flags", [(), (DARK,), (DARK, "--window-size=390,900")])
def test_axe_finds_nothing_serious_in_a_report(flags: tuple[str, ...], tmp_path: Path) -> None:
    assert findings(html(MADE), tmp_path, *flags) == []


@pytest.mark.more_programs
def test_a_narrow_page_shows_tables_whole_and_pictures_large(tmp_path: Path) -> None:
    wider = "[...document.querySelectorAll('.scroll')].filter(t => t.scrollWidth > t.clientWidth)"
    script = f"say({wider}.map(t => [!!t.querySelector('svg'), t.getAttribute('aria-label')]))"
    found = json.loads(answered(html(MADE), tmp_path, script, "--window-size=390,900"))
    assert [label for picture, label in found if not picture] == []
    assert [picture for picture, _ in found].count(True) == 2


@pytest.mark.more_programs
@pytest.mark.parametrize("flags", [(), (DARK, "--window-size=390,900")])
@pytest.mark.parametrize("place", PAGES)
def test_axe_finds_nothing_serious_in_the_dashboard(
    place: str, flags: tuple[str, ...], bench: Bench, tmp_path: Path
) -> None:
    key = finished_run(bench)
    with running(bench.app) as server:
        page = shown(server, place.format(key=key))
    assert findings(page, tmp_path, *flags) == []


@pytest.mark.more_programs
@pytest.mark.parametrize("width", [390, 820, 1101, 1280])
def test_long_names_are_cut_nowhere(width: int, bench: Bench, tmp_path: Path) -> None:
    key = finished_run(bench)
    name = "norm/apply_rotary_pos_emb_with_interleaved_half_quantized"
    repository = "ascend-community/ops-math-contributions"
    failed = job("f" * 16, operator=name, repository=repository)
    bench.queue.add(failed, 1)
    bench.queue.claim("w", 2)
    bench.queue.finish(failed.key, "w", 3, state="failed", note=LONG)
    script = (
        "say([...document.querySelectorAll('.scroll, section, html')]"
        ".map(t => t.scrollWidth - t.clientWidth))"
    )
    for place in ("/", "/bank", f"/runs/{key}", f"/runs/{failed.key}"):
        with running(bench.app) as server:
            page = shown(server, place)
        said = answered(page, tmp_path, script, f"--window-size={width},900")
        assert not any(json.loads(said)), place


def shown(server: Server, place: str) -> str:
    answer = server.ask(place)
    assert answer.status == 200
    return re.sub(r"<iframe.*?</iframe>", "", answer.body, flags=re.DOTALL)


@pytest.mark.more_programs
def test_a_page_that_cannot_be_read_is_found_out(tmp_path: Path) -> None:
    pale = html(result()).replace("--muted:#56636f", "--muted:#c8ccd0")
    assert any("color-contrast" in one for one in findings(pale, tmp_path))
