"""The dissection's command line, its figures and its page, and what ships: the league's losses, what the page says."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from dynamics.arena import dissect as module
from dynamics.arena.bundle import shipped_arena
from dynamics.arena.dissect import DISSECTED, SCHEMES
from dynamics.arena.dissected import FILE, Looks, read_dissection, scores, strays
from dynamics.arena.training import heldout_rows, places, texts
from dynamics.tasks.corpus import standard_library
from scripts.figures.trained import fig_dissected, fig_dissected_sinks
from scripts.pages import dissect_page
from tests.scripts.commands import contents

QUICK = module.quick


def tiny(corpus):
    plan = QUICK(corpus)
    one = plan.entries["kv-shift"]
    training = one.training.model_copy(update={"steps": 2, "scores": 1, "heldout_rows": 1, "warmup": 1})
    looks = Looks(moments=2, windows=1, changed=1, targets=4, prompts=1)
    entries = {"kv-shift": one.model_copy(update={"training": training})}
    return plan.model_copy(update={"title": "Tiny", "entries": entries, "looks": looks, "seeds": 1})


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(module, "quick", tiny)


@pytest.fixture(scope="module")
def shipped():
    return read_dissection()


def test_a_run_prints_its_table_and_writes_one_file(tmp_path, done):
    arguments = ["--out", tmp_path / "a", "--quiet", "--jobs", "1"]
    said = done("dissect", "--quick", *arguments, "--bundle", tmp_path / "d.json").splitlines()
    assert said[0] == "Tiny" and said[2].startswith("kv-shift ") and len(said) == 5
    assert said[3] == "no run of the shipped league is among these"
    found = read_dissection(tmp_path / "d.json")
    assert f"{np.mean(found.curves['kv-shift'].loss):.3f}" in said[2]
    before = contents(tmp_path / "a")
    assert done("dissect", "--table", *arguments).splitlines() == said[:4]
    assert contents(tmp_path / "a") == before


def test_what_ships_is_the_plan_and_has_the_leagues_losses(shipped, done):
    league = shipped_arena("league")
    assert shipped.plan == module.dissection(league.plan.entries["vanilla"].training.corpus)
    assert strays(shipped, league) == [] and FILE.stat().st_size < 300_000
    last = done("dissect", "--table").splitlines()[-1]
    assert last == "16 of 16 runs of the shipped league have its losses to the last digit"


def test_figures_hold_what_ships(shipped):
    data, end = fig_dissected.compute(), fig_dissected_sinks.compute()
    assert data.previous.shape == (4, 4, 10)
    for name, of in (("kv-shift", data.previous[1]), ("resformer", data.previous[2])):
        assert_array_equal(of, scores(shipped, name, "previous").max((2, 3)))
    masks = [one.mask for one in shipped.seen[SCHEMES["alibi"]]]
    assert end.schemes[1] == "alibi"
    assert_allclose(end.lost[1], [one.later_after / one.later_before - 1 for one in masks])
    assert_allclose(end.waiver[1, :, 1], [np.mean(one.waiver_after) for one in masks])
    given = np.tril(np.ones((128, 128)) / np.arange(1, 129)[:, None]).mean(0)
    assert end.even == pytest.approx([given[0], -(given * np.log(given)).sum()])
    assert fig_dissected.compute(2).previous.shape == (4, 2, 10)


def test_no_text_of_a_figure_is_small_or_outside():
    for figure in (fig_dissected, fig_dissected_sinks):
        drawn = figure.draw(figure.compute())
        assert drawn.get_size_inches()[0] == 5.5
        drawn.draw_without_rendering()
        texts = [text for text in drawn.findobj(lambda one: hasattr(one, "get_fontsize")) if text.get_text()]
        assert min(text.get_fontsize() for text in texts) >= 7
        heads = [text for axes in drawn.axes for text in (axes.title, axes.xaxis.label, axes.yaxis.label)]
        for text in heads + drawn.legends[0].get_texts():
            box = text.get_window_extent()
            assert box.x0 >= 0 and box.x1 <= drawn.bbox.x1 and box.y0 >= 0 and box.y1 <= drawn.bbox.y1, text


def best(found, name):
    """(entry, seed, moment): of all heads the largest score."""
    return np.array([scores(found, entry, name).max((2, 3)) for entry in DISSECTED])


def test_what_the_page_says_of_heads_holds(shipped):
    before, *copies = (best(shipped, name) for name in ("previous", "induction", "echo"))
    steps = [one.step for one in shipped.seen["vanilla"][0].moments]
    assert steps[4] == 17 and steps[7] == 95
    assert before[:, :, 4].max() < 0.05 and before[:, :, 7].min() > 2 * 0.03
    assert before[[1, 3], :, 6].mean() > before[[0, 2], :, 6].mean()  # sooner, at 53
    assert min(before[[0, 2], :, -1].mean(1)) > max(before[[1, 3], :, -1].mean(1))
    assert max(of[:, :, -1].max() for of in copies) < 0.1
    for entry in ("no-positions", "learnt-positions"):
        assert scores(shipped, entry, "previous").max() < 0.06
        assert max(scores(shipped, entry, name)[:, -1].max() for name in ("induction", "echo")) < 0.1
    losses = np.array([scores(shipped, entry, "copy_loss")[:, -1] for entry in DISSECTED])
    assert (losses[..., 0] - losses[..., -1]).max() < 0.2 and losses[..., 0].min() > 5


def test_what_the_page_says_of_sinks_holds(shipped):
    level = fig_dissected_sinks.even(shipped)
    for entry in DISSECTED:
        sink, entropy = scores(shipped, entry, "sink"), scores(shipped, entry, "entropy")
        assert (sink[:, -1].mean(-1) < level[0]).all() and sink.max() < 0.08
        assert (entropy[:, -1].mean(-1) > level[1]).all() and entropy.mean((0, 2, 3))[[0, 4, 7, 9]].argsort()[-1] == 3
        peak = scores(shipped, entry, "peak")[:, -1]
        assert peak.min() > 0.7 and peak.max() < 1.5
    drain = scores(shipped, "kv-shift", "drain").mean((0, 2))
    assert max(drain[[0, -1]]) < 0.7 and scores(shipped, "vanilla", "drain")[:, 0].mean() > 0.9


def test_what_the_page_says_of_waivers_holds(shipped):
    for entry in SCHEMES.values():
        masks = [one.mask for one in shipped.seen[entry]]
        later = np.array([one.later_after / one.later_before - 1 for one in masks])
        assert later.min() > 0 and later.max() < 1e-3
        whole = np.array([127 * (one.loss_after - one.loss_before) for one in masks])
        rest = np.array([110 * (one.later_after - one.later_before) for one in masks])
        assert (rest / whole < 0.5).all()  # most of the change is the byte that the waiver foretells
        kept = [np.mean(one.first_after) / np.mean(one.first_before) for one in masks]
        assert min(kept) > 0.98 and max(kept) < 1
        given = [np.mean([getattr(one, f"waiver_{when}") for one in masks]) for when in ("before", "after")]
        assert abs(given[1] / given[0] - 1) < 0.01 if entry == SCHEMES["learned"] else given[1] < given[0]


def test_what_the_page_says_of_contexts_holds(shipped):
    of = np.exp([[one.contexts for one in shipped.seen[entry]] for entry in DISSECTED])
    mean = of.mean(1)
    assert ((mean[:, 0] - mean[:, 2]) / (mean[:, 0] - mean[:, 6]) > 0.85).all()
    assert ((mean[:, 4] - mean[:, 6]) < 0.25).all() and (of[..., 7] > of[..., 6]).all()
    alibi, none = (np.exp([one.contexts for one in shipped.seen[name]]) for name in ("alibi", "no-positions"))
    assert (abs(alibi[:, 7] - alibi[:, 6]) < 0.03).all() and (of[..., 7] - of[..., 6]).min() > 0.1
    assert (np.diff(none[:, 4:]) > 0).all()
    lead = mean[[0, 2], 3:7] - mean[[1, 3], 3:7]
    assert lead.min() > 0.3 and lead.max() < 0.5


def test_what_the_page_says_of_the_texts_bytes_holds(shipped):
    corpus, training = standard_library(), shipped.plan.entries["vanilla"].training
    if corpus.sha256 != training.corpus:
        pytest.skip("another Python's standard library")
    source = texts(corpus, corpus.sha256)
    rows = heldout_rows(training, source)
    place = places(rows)[rows.scored]
    assert (place >= 120).mean() == pytest.approx(0.02, abs=0.005)
    assert (place >= 128).mean() == pytest.approx(0.002, abs=5e-4)
    starts = source.heldout.starts
    spaces = [(source.heldout.text[starts + at] == ord(" ")).mean() for at in range(4)]
    assert np.mean(spaces) == pytest.approx(0.8, abs=0.05)


def test_the_page_has_every_model_and_scheme(shipped):
    text = dissect_page.page()
    for entry in DISSECTED:
        assert text.count(f"| `{entry}` |") == 7
    loss = [one[-1] for one in shipped.curves["alibi"].loss]
    assert f"| ALiBi | {np.mean(loss):.3f} [{min(loss):.3f}, {max(loss):.3f}] |" in text
    assert "all their losses are the shipped league's" in text
    assert not re.search(r"nan|None|TO WRITE", text)
