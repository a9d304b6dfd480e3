"""The report of a run of all claims, one of them contradicted: what it takes up, what is visible, what is found."""

import json
from dataclasses import replace

import pytest
from PIL import Image

from proofs_check.ledger.claim import Effort
from proofs_check.ledger.registry import load
from proofs_check.ledger.rows import document
from scripts.commands import docs, report
from scripts.pages.site import run
from scripts.pages.site.view import views
from tests.scripts.commands import told
from tests.scripts.site.browser import faults, look, open_browser

WRONG = "razor.eq7"
SHOWN = "return [...document.querySelectorAll('.claims > li')].map(e => e.querySelector('code').textContent);"


@pytest.fixture(scope="module")
def rows():
    states = {"read": "not_checked"}
    found = [replace(row, status=states.get(row.strength, "confirmed")) for row in docs.records(load())]
    return [replace(row, status="contradicted", message="planted") if row.id == WRONG else row for row in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, rows):
    """What `make` leaves before the report, and pictures that are none of its own."""
    found = tmp_path_factory.mktemp("run")
    (found / "verify.json").write_text(json.dumps(document(rows, Effort.QUICK)), "utf-8")
    for name in ("fig_landscape", "fig_training", "fig_of_another", "below/fig_landscape"):
        (found / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (8, 8), "white").save(found / f"{name}.png")
    measured = {"loss": 0.01161, "accuracy": 0.99853515625, "correct": 4090, "rows": 4096}
    model = {"seed": 7, "metrics": {f"heldout_{name}": value for name, value in measured.items()}}
    (found / "train" / "kv-shift").mkdir(parents=True)
    (found / "train" / "kv-shift" / "manifest.json").write_text(json.dumps(model), "utf-8")
    told("construct", "thm3.3", "--inputs", 10, "--json", found / "construct.json")
    return found


def write(folder, **other):
    given = {"from": folder / "verify.json", "figures": folder, "training": folder / "train"}
    given |= {"construction": folder / "construct.json", "out": folder / "r.html"} | other
    told("report", *(word for name, value in given.items() for word in (f"--{name}", value)))
    return given["out"]


@pytest.fixture(scope="module")
def written(folder):
    return write(folder)


@pytest.fixture(scope="module")
def browser():
    with open_browser(1280, 900) as page:
        yield page


def visible(browser, page, javascript=True):
    look(browser, 1280, 900, javascript=javascript)
    browser.get("about:blank")
    browser.get(page.as_uri())
    return browser.find_element("css selector", "main").text


def choose(browser, name, value):
    script = """const e = document.querySelector(arguments[0]); e.value = arguments[1];
      for (const type of ["input", "change"]) e.dispatchEvent(new Event(type));"""
    browser.execute_script(script, name, value)
    return browser.execute_script(SHOWN)


def test_it_opens_with_the_run_and_is_short(browser, written):
    text = visible(browser, written)
    parts = ["This run checked", "contradicted 1,", "planted", "The landscape", "The trained model", "99.85 % (4090 of"]
    parts += ["The construction", "2..L-1, holds here.", "What was found", "By paper", "All claims"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert 1000 < len(text.split()) <= 6000 and written.stat().st_size < 1_200_000  # and 0.4 MB of pictures
    assert "Since the run before" not in text


def test_without_scripts_a_failure_is_visible_and_a_line_says_how_to_see_the_rest(browser, written):
    text = visible(browser, written, javascript=False)
    assert f"{WRONG} " in text and "planted" in text and "contradicted" in text
    assert "verify --all" in text and "verify --id" in text and "razor.eq8" not in text
    assert not browser.find_element("css selector", ".filters").is_displayed()


def test_words_and_facets_narrow_the_rows_and_fifty_are_drawn_at_most(browser, written, rows):
    visible(browser, written)
    first = browser.execute_script(SHOWN)
    assert len(first) == 50
    false = choose(browser, "[data-key=verdict]", "false")
    assert set(false) == {row.id for row in rows if row.verdict == "false"}
    fewer = choose(browser, "[data-key=paper]", "Razor")
    assert set(fewer) == {name for name in false if name.startswith("razor.")} != set(false)
    assert choose(browser, "[data-key=status]", "contradicted") == [WRONG]
    assert choose(browser, "#words", "no such word") == []
    browser.refresh()
    assert browser.execute_script(SHOWN) == []  # the address keeps the search
    visible(browser, written)
    assert choose(browser, "#words", "kv.thm3.3")[0] == choose(browser, "#words", "theorem 3.3")[0] == "kv.thm3.3"
    choose(browser, "#words", "")
    browser.find_element("css selector", "#more").click()
    assert len(browser.execute_script(SHOWN)) == len(rows)


def test_a_link_to_a_claim_opens_its_row(browser, written):
    visible(browser, written)
    name = "kv.thm3.3.impossible"
    assert name not in browser.execute_script(SHOWN)
    browser.find_element("css selector", f"a[href='#{name}']").click()
    opened = browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => setTimeout(() =>"
        "done([...document.querySelectorAll('.claims details[open]')].map(e => e.textContent))));"
    )
    assert len(opened) == 1 and opened[0].startswith(name) and "As the core reads it" in opened[0]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_fits_and_can_be_read_and_reached(browser, written, width, dark):
    look(browser, width, 900, dark)
    browser.get(written.as_uri())
    browser.execute_script("document.querySelectorAll('.claims details').forEach((e, k) => e.open = k < 20);")
    assert faults(browser) == []
    labels = "return [...document.querySelectorAll('.filters label')].map(e => e.firstChild.data.trim());"
    assert browser.execute_script(labels) == ["Search", "Paper", "Verdict", "Severity", "Strength", "Status"]


def test_what_is_visible_is_printed_but_for_the_search(browser, written):
    visible(browser, written)
    count = "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).length;"
    kinds = "main p, main li, main tr, main h2, main h3, main figure, main article"
    seen = browser.execute_script(count, kinds)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.execute_script(count, kinds) == seen - 1  # the line with the button
    assert browser.execute_script(count, "button, input, select") == 0 < browser.execute_script(count, "figure img")


def test_two_pictures_are_taken_and_no_others_and_what_is_missing_is_said(folder, written, tmp_path):
    assert written.read_text("utf-8").count("<img") == 2
    assert set(report.pictures(folder)) == {"fig_landscape", "fig_training"} and report.pictures(tmp_path) == {}
    nothing = {name: tmp_path / "none" for name in ("figures", "training", "construction")}
    page = write(folder, out=tmp_path / "r.html", **nothing).read_text("utf-8")
    assert page.count("The picture is missing.") == 2 and "No model was trained." in page
    assert "No construction was checked." in page and "<img" not in page


def test_what_changed_is_told_claim_by_claim(rows):
    now = [vars(row) for row in rows]
    before = [{**row, "status": "confirmed"} for row in now[1:]]
    changed = dict(run.changes(before, now))
    assert set(changed) == {rows[0].id, WRONG} | {row.id for row in rows[1:] if row.status == "not_checked"}
    assert changed[rows[0].id].startswith("new: ") and changed[WRONG].endswith("contradicted")
    assert run.changes(now, now) == [] and dict(run.changes(now, now[1:])).keys() == {rows[0].id}


def test_only_what_the_core_proved_is_called_proved(rows):
    row = next(row for row in rows if row.case is not None and row.verdict == "holds")
    for core, told_of in ((row.core, "Proved as printed."), ({**row.core, "outcome": "refuted"}, ""), (None, "")):
        ((_, (view,)),) = views([replace(row, core=core)], {})
        assert view.ruling == told_of
