"""The referee's reports: every point once and in its place, wordings of the ledger, LaTeX that is well formed."""

import re
import shutil
import subprocess
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_check.core.printing import sentence
from proofs_check.ledger.registry import host, load, statements
from scripts.commands import audit, docs
from scripts.pages import docket
from scripts.pages.markdown import markdown_text
from tests.scripts.commands import contents

REGISTRY = load()
NAMES = host()
SENTENCES = {sentence(one) for one in statements(REGISTRY.values()).values()}
report = cache(audit.report)


@pytest.fixture(scope="module", autouse=True)
def _once():
    """The rows of the whole ledger are worked out once for all papers."""
    rows = docs.records(REGISTRY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(docs, "records", lambda _: rows)
        yield


@pytest.fixture(scope="module", params=NAMES)
def paper(request):
    return request.param, report(request.param)


def test_every_point_of_the_paper_stands_there_once_and_no_others(paper):
    name, found = paper
    wanted = {id_ for id_, claim in REGISTRY.items()
              if claim.paper == name and not claim.is_correction and claim.verdict.value in audit.FOUND}  # fmt: skip
    told = [one.id for _, findings in found.groups for one in findings]
    assert sorted(told) == sorted(wanted) and len(set(told)) == len(told)
    ruled = {view.id for view in (*found.right, *found.unsettled)}
    assert ruled.isdisjoint(told) and {REGISTRY[id_].paper for id_ in ruled} <= {name}
    assert sum(count for _, count in found.counts) == len(told) + len(ruled)


def test_the_weightiest_come_first_and_a_correction_is_a_wording(paper):
    _, found = paper
    order = [group.key for group in docket.GROUPS]
    assert [group.key for group, _ in found.groups] == sorted((group.key for group, _ in found.groups), key=order.index)
    for one in (one for _, findings in found.groups for one in findings):
        assert one.where and one.printed and one.parts and one.command.endswith(one.id)
        correction = REGISTRY[one.id].correction
        if correction:
            wording = dict(one.parts).get("Suggested wording") or dict(one.parts)["What holds"]
            assert wording.startswith(f"{REGISTRY[correction].statement.removesuffix('.')} ({correction}, ")


def test_what_is_known_of_two_theorems_is_told():
    told = {one.id: (group.key, one) for group, findings in report("kv").groups for one in findings}
    assert told["kv.thm3.3"][0] == told["kv.thm3.2"][0] == "missing"
    key, one = told["kv.sec2.2.initial_state"]
    assert key == "repairable"
    assert dict(one.parts)["Smallest example"] == "At own = 1/2, cosine = 0: printed 1, true 1/2."
    assert "(kv.sec2.2.initial_state.corrected, " in dict(one.parts)["Suggested wording"]
    text = audit.markdown(report("razor"))
    assert "RazorAttention, Section 3.1, Theorem 1" in text and "`razor.eq8.corrected`" in text
    assert text.index("Breaks a theorem (") < text.index("Misprints (") < text.index("What holds as printed (")


def test_two_places_that_disagree_are_not_called_printed_and_true_and_what_shows_nothing_is_left_out():
    told = {one.id: dict(one.parts) for _, findings in report("resformer").groups for one in findings}
    assert told["resformer.tab4.warmup"]["Smallest example"] == "It fails: left side 1200, right side 120"
    assert "Smallest example" not in told["resformer.sec4.3.label"]


def test_what_is_called_proved_has_its_sentence_beside_it(paper):
    _, found = paper
    told = audit.markdown(found), audit.latex(found)
    proved = [(view.row.statement, view.beside) for view in found.right if view.row.strength == "proved"]
    for words, beside in proved:
        assert beside or words in SENTENCES
        for text in (words, beside):
            assert markdown_text(text) in told[0] and audit.tex(text) in told[1]
    for one in (one for _, findings in found.groups for one in findings):
        assert all(f"`{line}`" in told[0] and audit.tex(line) in told[1] for line in one.definitions)
        said, holds = " ".join(dict(one.parts).values()), REGISTRY[one.id].correction
        wanted = [one.printed] if "It fails" in said else []
        wanted += [REGISTRY[holds].statement] if f"({holds}, proved)" in said else []
        as_data = any(line.startswith("As data: ") for line in one.definitions)
        assert as_data or SENTENCES.issuperset(wanted), one.id


def test_only_a_correction_is_offered_as_a_wording():
    told = {one.id: dict(one.parts) for _, findings in report("razor").groups for one in findings}
    assert "Suggested wording" in told["razor.thm1"] and "What holds" in told["razor.appA.positive"]


def test_latex_is_balanced(paper):
    text = audit.latex(paper[1])
    bare = re.sub(r"\\[{}]|\\\\", "", text)
    assert bare.count("{") == bare.count("}") and text.isascii()
    for kind in set(re.findall(r"\\begin\{(\w+)\}", text)):
        assert text.count(rf"\begin{{{kind}}}") == text.count(rf"\end{{{kind}}}")
    assert text.startswith(r"\documentclass") and text.endswith("\\end{document}\n")


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_survives_its_escape(text):
    shown = audit.tex(text)
    back = {form: letter for letter, form in audit.PLAIN.items()}
    longest = sorted(back, key=len, reverse=True)
    found = re.sub("|".join(map(re.escape, longest)), lambda match: back[match[0]], shown)
    assert found == text
    assert not re.search(r"(?<!\\)[%#$&_^~]", shown)


def test_a_letter_without_a_form_is_an_error():
    with pytest.raises(ValueError, match="no form here for '\u03b1'"):
        audit.tex("\u03b1")


def test_it_writes_both_files(tmp_path, done):
    written = done("audit", "kv1", "--out", tmp_path).split()
    assert written == [str(tmp_path / name) for name in sorted(contents(tmp_path))] and len(written) == 2


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
@pytest.mark.deep
def test_latex_compiles(paper, tmp_path):
    (tmp_path / "report.tex").write_text(audit.latex(paper[1]), "utf-8")
    told = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"], cwd=tmp_path,
                          capture_output=True, text=True)  # fmt: skip
    assert told.returncode == 0, told.stdout[-800:]
