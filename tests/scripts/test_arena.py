"""The arena's command line: its table, its files, going on, refusals; its figures and its page."""

import json
import re

import numpy as np
import pytest

from dynamics.arena import bundle as module
from dynamics.arena import igsm, presets
from dynamics.arena.bundle import bundle_of, read_bundle, shipped_arena, shipped_names, shipped_speeds, write_bundle
from dynamics.arena.engine import Place
from dynamics.arena.league import lines, outcome, smallest
from dynamics.arena.ngram import ngram_loss
from dynamics.arena.presets import LATENTS, RATED, ablations, borrowed, latent, league, rates, settings
from dynamics.arena.solved import IGSM
from dynamics.arena.solved import lines as solved_lines
from dynamics.arena.solved import read_bundle as read_solved
from dynamics.arena.speed import ratios
from dynamics.arena.training import texts
from dynamics.arena.variants import BASELINE
from dynamics.files.hashed import read_hashed
from dynamics.tasks.corpus import standard_library
from proofs_check.ledger.registry import load
from scripts.figures.trained import fig_arena, fig_arena_central
from scripts.pages import arena_page
from tests.dynamics.arena.cases import made_up, pair
from tests.scripts.commands import contents, read, run_twice, text_of


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setitem(presets.PRESETS, "quick", lambda _: pair(2, 3))


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """A league of made-up losses, where a shift gains 4 % and nothing else does anything, as if it shipped."""
    folder, rng, plan = tmp_path_factory.mktemp("shipped"), np.random.default_rng(0), league("0" * 64)
    drawn = {}
    for name, one in plan.entries.items():
        size = -0.1 * np.log(one.config.width / 48)
        gain = -0.04 if one.config.shift == "kv" else 0.0
        drawn[name] = (2.1 * np.exp(size + gain + rng.normal(0, 2e-3, 24))).tolist()
    write_bundle(folder / "league.json", bundle_of(plan, made_up(plan, drawn), Place()))
    return folder


QUICK = ("--quick", "--jobs", "1", "--quiet")


def test_a_run_prints_its_table_and_writes_json_and_bundle(tmp_path, done, refused):
    said = run_twice(done, tmp_path, ["--quick", "--table"], "arena", *QUICK)
    assert said[0] == "Tiny"
    assert said[2].startswith("kv / vanilla")
    assert "independent and normal" in "\n".join(said)
    record, bundle = read(tmp_path / "t.json"), read_bundle(tmp_path / "b.json")
    assert len(record["variants"]) == 1 and record["plan_sha256"] == bundle.plan.sha256
    next((tmp_path / "a" / "results").iterdir()).unlink()
    refused(f"arena --table --out {tmp_path}/a --bundle {tmp_path}/c.json", "c.json: the arena is not finished")
    assert not (tmp_path / "c.json").exists()


def test_a_choice_of_stacks_is_said_kept_and_gone_on_with(tmp_path, done, refused):
    chosen = ["arena", *QUICK, "--choose", "--out", str(tmp_path / "a")]
    said = done(*chosen).splitlines()
    assert [line.split()[0] for line in said[:2]] == ["kv", "vanilla"]
    assert all(line.endswith("x the pool") for line in said[:2])
    before = contents(tmp_path / "a")
    assert {"place.json", "plan.json", "ways.json"} <= before.keys()
    assert done(*chosen).splitlines() == said
    assert contents(tmp_path / "a") == before
    refused(" ".join([*chosen, "--threads", "2"]), "one CPU thread")


@pytest.mark.parametrize(
    ("option", "words", "of"), [("--speeds", "tokens/s", "speeds"), ("--ways", "x the pool", "entries")]
)
def test_speeds_and_ways_are_measured_into_a_hashed_file(tmp_path, done, option, words, of):
    assert words in done("arena", *QUICK, option, tmp_path / "m.json")
    assert json.loads(read_hashed(tmp_path / "m.json"))[of].keys() == {"kv", "vanilla"}


def test_every_sentence_is_a_claim_that_no_outcome_here_rules_on():
    registry = load()
    plans = [make("0" * 64) for make in (league, latent, ablations, borrowed, settings, rates)]
    sentences = {s for plan in plans for one in plan.comparisons.values() for s in one.sentences}
    sentences |= set(igsm.PRESETS["igsm"]().sentences)
    assert len(sentences) > 16
    assert {registry[sentence].verdict.value for sentence in sentences} == {"unsettled"}


def test_figures_and_page_say_what_the_bundle_holds(shipped, monkeypatch):
    monkeypatch.setattr(module, "SHIPPED", shipped)
    data = fig_arena.compute()
    rows = dict(zip(data.names.tolist(), data.outcomes.tolist(), strict=True))
    assert rows["kv-shift"] == "better by at least 1 %"
    assert rows["resformer"] == "no difference larger than 1 %"
    assert (np.diff(data.ends[:, 1]) >= 0).all()
    central = fig_arena_central.compute()
    assert central.laws[:, 0] == pytest.approx([0.1 * np.log(2) / np.log(172608 / 45344)] * 4, abs=0.01)
    assert len(central.names) == 10
    text = arena_page.page(load())
    assert "| `kv-shift` | keys and values shifted, own coefficients | 20 | -3.9" in text
    assert "unrelated: carried / zero" in text
    for figure, found in ((fig_arena, data), (fig_arena_central, central)):
        assert figure.draw(found).get_size_inches()[0] == 5.5


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("resformer-lambda-0.5", "`resformer-lambda-0.5`"),
        ("cla-2.64", "`cla-2` of width 64"),
        ("svformer.half-rate", "`svformer` at half the rate"),
        ("kv-shift.zero.cut", "`kv-shift.zero.cut`"),
    ],
)
def test_a_decimal_point_parts_no_name(name, told):
    assert arena_page._entry(name) == told


def test_a_table_of_what_does_not_ship_is_refused(shipped, monkeypatch, refused):
    monkeypatch.setattr(module, "SHIPPED", shipped)
    refused("arena latent --table", "no shipped arena 'latent'; there are league")


BETTER, SIZES, OTHERS = "better by at least 1 %", (".32", "", ".64"), ("queries", "keys")
RESFORMER = "ResFormer undecided at two, better at one"
NEUTRENO = "NeuTRENO's factors and SVFormer's second anchor undecided"
# by arena, sentences of docs/experiments.md, what came of some comparisons, and these
OUTCOMES = {
    "league": [
        (
            "KV shift better by 1 % of the loss or more at three sizes",
            BETTER,
            *(f"kv-shift{size} / vanilla{size}" for size in SIZES),
        ),
        (RESFORMER, "undecided", "resformer.32 / vanilla.32", "resformer / vanilla"),
        (RESFORMER, "better", "resformer.64 / vanilla.64"),
        ("selective attention ahead of KV shift, differential behind vanilla", "worse", "kv-shift / selective"),
        ("differential behind vanilla", "worse by at least 1 %", "differential / vanilla"),
        ("changes the loss by less than 1 %", "no difference larger than 1 %", "kv-shift.carried.documents / kv-shift"),
    ],
    "latent": [("better by 1 % or more at each width", BETTER, *(f"mla-{n}+shift / mla-{n}" for n in LATENTS))],
    "ablations": [
        ("added with factor 2 are better than with .5", "better", "resformer-lambda-2 / resformer-lambda-0.5"),
        (NEUTRENO, "undecided", "neutreno-0.4 / neutreno-0.2", "neutreno-0.4 / neutreno-0.8"),
        (NEUTRENO, "undecided", "svformer-two-anchors / svformer"),
    ],
    "borrowed": [
        (
            "the first layer's values are better shared, or added, than its queries or keys",
            "better",
            *(f"{kind}-values / {kind}-{other}" for kind in ("shared", "residual") for other in OTHERS),
        ),
        ("added queries or keys are worse than nothing", "worse", *(f"residual-{other} / vanilla" for other in OTHERS)),
        ("", "undecided", *(f"residual-values / residual-to-{other}-below" for other in ("layer", "all"))),
    ],
    "settings": [
        (
            "SVFormer better at half the rate, all else by rate and length undecided",
            "better",
            "svformer.half-rate / vanilla.half-rate",
        )
    ],
    "rates": [
        ("KV shift behind selective attention at the league's rate", "worse", "kv-shift / selective"),
        ("undecided at twice", "undecided", "kv-shift.twice-rate / selective.twice-rate"),
        ("ahead at four times the rate", "better", "kv-shift.four-times-rate / selective.four-times-rate"),
        (
            "both stay ahead of vanilla at twice the rate",
            BETTER,
            "kv-shift.twice-rate / vanilla.twice-rate",
            "selective.twice-rate / vanilla.twice-rate",
        ),
    ],
}


def test_the_table_of_experiments_says_what_ships():
    """The outcomes that docs/experiments.md names, of all shipped arenas."""
    text = text_of("docs/experiments.md")
    plans = {name: shipped_arena(name) for name in shipped_names()}
    said = {name: {line.name: outcome(line, smallest(one.plan)) for line in lines(one)} for name, one in plans.items()}
    for name, rows in OUTCOMES.items():
        for words, found, *comparisons in rows:
            assert words in text and {said[name][one] for one in comparisons} == {found}, words
    assert sorted(set(said["settings"].values())) == ["better", "undecided"]
    assert list(said["settings"].values()).count("better") == 1


def test_a_gpu_trains_the_entries_of_the_league_to_its_losses():
    """Same plan of an entry, same seeds, other device: at the league's rate both bundles hold them."""
    cpu, gpu = shipped_arena("league"), shipped_arena("rates")
    assert (cpu.place.device, gpu.place.device) == ("cpu", "cuda")
    for name in ("vanilla", *RATED):
        assert cpu.plan.entries[name] == gpu.plan.entries[name]
        assert gpu.losses[name] == pytest.approx(cpu.losses[name][:8], rel=1e-3)


def test_counting_beats_every_model_of_the_league():
    bundle = shipped_arena("league")
    training = bundle.plan.run("vanilla", 0).training
    if training.corpus != standard_library().sha256:
        pytest.skip("the text is this Python's standard library, which is not the one that the league read")
    found = ngram_loss(training, texts(standard_library(), training.corpus), 4)
    assert found == pytest.approx(arena_page.COUNTED, abs=1e-4)
    assert found < min(min(losses) for losses in bundle.losses.values())


def test_every_shipped_plan_has_its_row_among_the_experiments():
    """A shipped plan's command stands there; Table 4's shares too."""
    text = text_of("docs/experiments.md")
    for name in shipped_names():
        assert f"| `python -m scripts arena{'' if name == 'league' else ' ' + name}` |" in text
    four = next(line for line in solved_lines(read_solved(IGSM)) if line.name == "answered, 4 operations")
    assert f"KV shift answers {100 * four.variant:.0f} % and vanilla {100 * four.baseline:.0f}, undecided" in text


def test_the_steps_that_are_dear_are_those_whose_mathematics_says_so():
    """As timed for the shipped league: Canon at six places, and selection that forms all logits first."""
    found = ratios(shipped_speeds(shipped_arena("league").plan), BASELINE)
    assert {name for name, ratio in found.items() if ratio > 1.5} <= {"canon-abcd", "selective"}


def test_the_page_says_what_carrying_does_at_a_documents_first_places_and_how_far_runs_spread():
    text = "\n".join([*arena_page._leak(shipped_arena("league")), *arena_page._power(shipped_arena("league"))])
    row = text.split("unrelated: carried / zero |")[2]
    first = [float(one) for one in re.findall(r"([+-]\d\.\d\d) % \[", row)[:2]]
    assert first == pytest.approx([-1.9, 1.2], abs=0.1)  # better at place 1, worse at 2 and 3
    assert "continued: carried / zero | -6.1" in text and "0.91 % in the median of 65 comparisons" in text
