"""Notebooks from scripts: the same bytes each time, what they name exists, what is shown is escaped; they run."""

import re

import pytest
import torch
from nbformat import v4, writes
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from proofs_check.ledger.registry import load
from scripts.commands import docs
from scripts.pages.site import notebooks
from tests.dynamics.hf import models

SOURCES = {path.stem: path for path in notebooks.sources()}
SHOWN = {
    "one_layer_induction_head": (
        "at the induction head: 2.3842", "inner : largest error 0\n", "induction head\n", "confirmed - proved",
        "[0.0, 1.0, 0.0]: definition 1.000, Appendix B's head under the causal mask 0.333",
    ),
    "how_far_does_your_model_see": (
        "26 of 32 heads are proved local at a context of 16384", "even attention gives the first token 0.013",
    ),
    "rule_on_your_own_claim": (
        "refuted at {'n': '1', 's': ['0'], 'm': '1'}", "proved - proved",
        "two.right proved", "two.wrong refuted", "error - empty", "razor.thm1: false, proved, confirmed",
    ),
}  # fmt: skip


def printed(node):
    return "".join(output.get("text", "") for cell in node.cells for output in cell.get("outputs", ()))


@pytest.mark.parametrize("name", SOURCES)
def test_a_script_becomes_the_same_notebook_each_time_and_its_cells_compile(name):
    one, two = (writes(notebooks.notebook(SOURCES[name])) for _ in range(2))
    assert one == two and '"outputs": []' in one
    for cell in notebooks.notebook(SOURCES[name]).cells:
        if cell.cell_type == "code":
            compile(cell.source, cell.id, "exec")
        elif re.match(r"#+ ", cell.source):
            assert len(cell.source.split("\n")) > 2, cell.source  # a heading alone teaches nothing


@pytest.mark.parametrize("name", SOURCES)
def test_claims_that_are_named_exist_and_no_place_of_a_checkout_is(name):
    text = SOURCES[name].read_text("utf-8")
    registry = load()
    named = set(re.findall(r"[`'\"]((?:kv|razor|resformer|waiver)\.[\w.]+)[`'\"]", text))
    assert named <= set(registry), named - set(registry)
    assert not re.search(r"\bscripts\b|docs/|dynamics/|/work|home/", text)


def test_formulas_are_drawn_and_what_is_shown_is_escaped():
    says = v4.new_output("stream", name="stdout", text="<i>")
    cells = [v4.new_markdown_cell("# A\n\n$\\alpha_1 < 2$ <b>", id="a"),
             v4.new_code_cell("1 < 2", id="b", outputs=[says])]  # fmt: skip
    page = notebooks.body(v4.new_notebook(cells=cells))
    assert "<math" in page and "&lt;b&gt;" in page and "&lt;i&gt;" in page and "$" not in page
    assert notebooks.heading(v4.new_notebook(cells=cells)) == ("A", "$\\alpha_1 < 2$ <b>")


@pytest.mark.parametrize(
    ("output", "words"),
    [(v4.new_output("stream", name="stderr", text="careful"), "stderr"),
     (v4.new_output("display_data", data={"text/html": "<b>"}), "HTML"),
     (v4.new_output("display_data", data={"image/png": "iVBORw0KGgo="}), "needs its words"),
     (v4.new_output("error", ename="E", evalue="", traceback=[]), "error")],
)  # fmt: skip
def test_warnings_html_errors_and_images_without_words_are_refused(output, words):
    cell = v4.new_code_cell("1", id="b", outputs=[output])
    with pytest.raises(ValueError, match=words):
        notebooks.body(v4.new_notebook(cells=[cell]))


def test_a_script_in_another_format_is_refused(tmp_path):
    (tmp_path / "plain.py").write_text("print(1)\n")
    with pytest.raises(ValueError, match="percent format"):
        notebooks.notebook(tmp_path / "plain.py")


def test_what_is_stored_was_run_with_the_text_that_is_there(tmp_path):
    assert docs._old_notebooks() == []
    script = tmp_path / "tiny.py"
    script.write_text("# %% [markdown]\n# # Tiny\n#\n# It adds.\n\n# %%\nprint(1 + 1)\n")
    assert notebooks.stored(script) is None
    notebooks.store(script)
    assert printed(notebooks.stored(script)) == "2\n"
    script.write_text(script.read_text() + "print(3)\n")
    assert notebooks.stored(script) is None


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_the_notebook_about_your_model_runs_on_models_without_slopes_and_says_what_it_does_not_find(
    family, tmp_path, monkeypatch, capsys
):
    models.model(family, dtype=torch.float32, vocab_size=256).save_pretrained(tmp_path)
    tokenizer = Tokenizer(BPE({symbol: number for number, symbol in enumerate(ByteLevel.alphabet())}, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    script = SOURCES["how_far_does_your_model_see"].read_text("utf-8")
    exec(script.replace('MODEL = SHIPPED / "alibi-text"', f"MODEL = {str(tmp_path)!r}"), {})
    shown = capsys.readouterr().out
    assert "> context" in shown and "the weights say nothing about 8 of 8 heads at 16384 tokens" in shown
    assert "0 of 8 heads are proved local at a context of 16384: the weights let nothing be forgotten" in shown
    assert "this model: no induction heads found; the model does not copy" in shown
    assert "of 8 heads give the first token 0.1 more" in shown


# Those that print what claims say are run here too: their words change with the claims.
PRINTS = ("one_layer_induction_head", "rule_on_your_own_claim")
RUNS = [name if name in PRINTS else pytest.param(name, marks=pytest.mark.deep) for name in SOURCES]


@pytest.mark.parametrize("name", RUNS)
def test_a_notebook_runs_within_three_minutes_and_finds_what_it_says(name):
    node = notebooks.executed(SOURCES[name])  # raises where it fails, or runs on for longer
    shown = printed(node)
    assert [words for words in SHOWN[name] if words not in shown] == []
    assert shown == printed(notebooks.stored(SOURCES[name]))
