"""The comparison: budgets that are equal, policies that keep what they say, results that survive a kill."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from dynamics.comparison import plan
from dynamics.comparison import policies as module
from dynamics.comparison.heads import chosen_heads, rank_heads, ranking
from dynamics.comparison.plan import FULL, POLICIES, RANDOM, cells, sizes
from dynamics.comparison.policies import attention_of, compare_seed, evaluate, held_out, mean_queries
from dynamics.comparison.record import Comparison, Settings, read_comparison, write_comparison
from dynamics.comparison.statistics import accuracy_of, bits_of, lines, share_estimate
from dynamics.heads.scores import head_scores
from dynamics.model.attention_function import full_attention
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.statistics.estimate import student
from dynamics.tasks.corpus import Corpus
from dynamics.tasks.needles import VOCAB
from dynamics.training.text import text_losses
from dynamics.training.text_settings import TextTraining
from tests.dynamics.interruption import interrupt
from tests.dynamics.refusal import refused

TEXT = (np.arange(3000) * 31 % 90 + 32).astype(np.uint8)
CORPUS = Corpus(TEXT, TEXT[:900], "c" * 64, 2)
CONFIG = ModelConfig(vocab=VOCAB, width=8, n_heads=4, n_layers=2, mlp_width=8, shift="none", position="alibi")
SETTINGS = Settings(
    config=CONFIG, training=TextTraining(corpus=CORPUS.sha256, lengths=((16, 2),), tokens=64, warmup=1), seeds=2,
    context=48, budgets=("1/2",), sinks=2, text_rows=3, needle_rows=3, pairs=2, draws=2, score_k=8, centre_rows=2,
)  # fmt: skip


def drawn():
    return InductionModel(CONFIG, torch.Generator().manual_seed(0)).eval()


@given(st.sampled_from(POLICIES[1:]), st.fractions(Fraction(1, 10), Fraction(9, 10)), st.integers(8, 64),
       st.integers(64, 600), st.integers(0, 4), st.integers(1, 8))  # fmt: skip
def test_no_policy_exceeds_its_budget_and_one_token_more_would(policy, budget, heads, context, sinks, protected):
    assume(context >= 16 * (sinks + 3))
    size = sizes(policy, budget, heads, context, sinks, protected)
    allowed = budget * heads * context
    assert size.entries(heads, context) <= allowed
    larger = size._replace(window=size.window + 1)
    assert larger.entries(heads, context) > allowed or size.window + size.sinks >= context


def test_entries_of_the_paper_s_own_setting():
    # 15 of 100 heads whole, N/5 = 4000 tokens elsewhere at N = 20000: 32 %, as theory.cache.size has it
    size = sizes(plan.DROPPING, Fraction(8, 25), 100, 20_000, 0, 15)
    assert size == plan.Sizes(15, 0, 4000, 0, 0) and size.entries(100, 20_000) == 640_000


def test_impossible_budgets_and_policies_are_refused():
    refused("leaves no window", sizes, plan.STREAMING, Fraction(1, 16), 8, 64, 4, 2)
    refused("policy must be one of", sizes, "snapkv", Fraction(1, 2), 8, 64, 4, 2)
    wrong = {**SETTINGS.model_dump(), "config": CONFIG, "training": SETTINGS.training, "budgets": ("2",)}
    refused("budgets must lie in", Settings.checked, wrong)


@pytest.mark.parametrize("policy", POLICIES[1:])
def test_each_head_reads_as_many_tokens_as_its_sizes_say(policy, n=48):
    """Values are one-hot by position, so that an output names the tokens it was read from."""
    heads = rank_heads(drawn(), 8, 0)
    size = sizes(policy, Fraction(1, 2), 8, n, 2, heads.protected)
    protected = chosen_heads(heads, size.protected, None)
    rng = torch.Generator().manual_seed(1)
    query, key = (torch.randn(1, 4, n, 2, generator=rng) for _ in range(2))
    value, centres = torch.eye(n).expand(1, 4, n, n), {layer: torch.zeros(4, 2) for layer in range(2)}
    function = attention_of(policy, size, protected, SETTINGS, centres)
    for layer in range(2):
        out = function(layer, query, key, value, scale=0.5, slopes=torch.full((4,), 0.01))
        for head, weights in enumerate(out[0, :, -1]):
            assert weights.sum() == pytest.approx(1, abs=1e-5)
            # the compensation token is read as one value, spread over all that it stands for
            whole = (layer, head) in protected or size.token
            assert (weights > 0).sum() == (n if whole else size.sinks + size.window + size.heavy)
            assert (weights[: size.sinks] > 0).all() and (weights[n - size.window :] > 0).all()


def test_full_policy_is_the_model_itself():
    model = drawn()
    text, needles = held_out(SETTINGS, CORPUS)
    found = evaluate(model, lambda: attention_of(FULL, sizes(FULL, Fraction(1), 8, 48, 2, 3), [], SETTINGS, {}),
                     text, needles)  # fmt: skip
    with torch.no_grad():
        plain = text_losses(model, text)[0]
    assert found.bits == pytest.approx((plain[:, 24:].mean(1) / np.log(2)).tolist(), abs=1e-5)
    assert len(found.hits) == 3 and all(0 <= hits <= 2 for hits in found.hits)


def test_centres_are_mean_scaled_queries(monkeypatch):
    model = drawn()
    found = mean_queries(model, SETTINGS, CORPUS)
    assert sorted(found) == [0, 1] and found[0].shape == (4, 2)
    seen = []

    def watching(layer, query, key, value, *, scale, slopes):
        seen.append(scale * query)
        return full_attention(layer, query, key, value, scale=scale, slopes=slopes)

    monkeypatch.setattr(module, "full_attention", watching)
    mean_queries(model, SETTINGS, CORPUS)
    for layer in range(2):
        torch.testing.assert_close(found[layer], seen[layer].mean((0, 2)))


def test_ranking_takes_the_shares_of_the_paper_then_the_rest():
    induction = np.arange(32.0).reshape(4, 8)[::-1]
    echo = np.zeros((4, 8))
    echo[3, 0] = 1.0
    order = list(ranking(induction, echo))
    assert order[:6] == [(0, 7), (0, 6), (0, 5), (0, 4), (0, 3), (3, 0)] and order[6] == (0, 2)
    assert len(set(order)) == 32
    echo[3, 0], echo[0, 7] = 0.0, 1.0  # already protected: the next best echo head takes the place
    assert list(ranking(induction, echo))[:5] == order[:5] and len(set(ranking(induction, echo))) == 32


def test_heads_are_ranked_on_printable_bytes():
    excluded = [*range(32), *range(127, VOCAB)]
    scores = head_scores(drawn(), k=8, repeats=4, prompts=4, seed=0, excluded=excluded)
    np.testing.assert_allclose(rank_heads(drawn(), 8, 0).induction, scores.induction, atol=1e-5)


def test_random_heads_differ_from_draw_to_draw_and_come_back():
    heads = rank_heads(drawn(), 8, 0)
    draws = [tuple(chosen_heads(heads, 3, draw)) for draw in range(5)]
    assert len(set(draws)) > 2 and draws == [tuple(chosen_heads(heads, 3, draw)) for draw in range(5)]
    assert all(len(set(draw)) == 3 for draw in draws)


def study(folder, settings=SETTINGS):
    """Both seeds."""
    return [compare_seed(settings, seed, CORPUS, folder / str(seed), "cpu", lambda _: None, False) for seed in (0, 1)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="module")
def parts(folder):
    return study(folder)


@pytest.fixture(scope="module")
def comparison(parts):
    return Comparison(version="0", torch_version="0", device="cpu", settings=SETTINGS,
                      heads=tuple(p.heads for p in parts), cells=tuple(c for p in parts for c in p.cells))  # fmt: skip


def test_killed_and_resumed_equals_uninterrupted(tmp_path, monkeypatch, parts):
    calls = interrupt(monkeypatch, module, "measure", 4)
    with pytest.raises(KeyboardInterrupt):
        study(tmp_path)
    assert study(tmp_path) == parts
    assert len(calls) == 2 * len(list(cells((Fraction(1, 2),)))) + 1


def test_other_settings_in_the_folder_are_refused(folder, parts):
    refused("other settings", study, folder, SETTINGS.but(sinks=1))


def test_table_compares_each_seed_with_its_own_full_cache(comparison):
    settings, table = comparison.settings, lines(comparison)
    assert [(line.policy, line.budget) for line in table] == [(p, str(b)) for p, b in cells((Fraction(1, 2),))]
    assert table[0].extra == (0, 0, 0) and table[0].share == 1
    line = next(one for one in table if one.policy == plan.WINDOW)
    per_seed = {seed: {c.policy: c for c in comparison.cells if c.seed == seed} for seed in (0, 1)}
    extra = [bits_of(cells_[plan.WINDOW]) - bits_of(cells_[FULL]) for cells_ in per_seed.values()]
    assert line.extra.value == pytest.approx(np.mean(extra)) and line.share == 0.5
    assert line.accuracy.value == pytest.approx(
        np.mean([accuracy_of(cells_[plan.WINDOW], settings.pairs) for cells_ in per_seed.values()])
    )
    assert len(per_seed[0][RANDOM].bits) == settings.draws * settings.text_rows


def test_interval_is_student_s():
    # t_{0.975, 2} = 4.302653
    found = student([1.0, 2.0, 3.0])
    assert found.value == 2 and found.high - 2 == pytest.approx(4.302653 / np.sqrt(3), rel=1e-6)
    assert np.isnan(student([1.0]).low) and np.isnan(share_estimate([1.0]).high)
    # three shares of which one is far off: the interval of the mean, cut where there is nothing
    assert share_estimate([1.0, 1.0, 0.1]) == (pytest.approx(0.7), 0.0, 1.0)


def test_a_written_comparison_is_read_back_and_a_changed_one_refused(tmp_path, comparison):
    path = tmp_path / "compare.json"
    write_comparison(path, comparison)
    assert read_comparison(path) == comparison
    path.write_text(path.read_text().replace('"seeds":2', '"seeds":3'))
    refused("not the bytes whose sha256", read_comparison, path)


@pytest.mark.gpu
def test_policies_on_the_gpu_equal_the_cpu():
    model, windows = drawn(), held_out(SETTINGS, CORPUS)
    heads, found = rank_heads(model, 8, 0), {}
    for device in ("cpu", "cuda"):
        model.to(device)
        centres = mean_queries(model, SETTINGS, CORPUS)
        found[device] = [module.measure(model, SETTINGS, heads, policy, Fraction(1, 2), windows, centres)
                         for policy in POLICIES if policy != FULL]  # fmt: skip
    for on_cpu, on_gpu in zip(found["cpu"], found["cuda"], strict=True):
        assert on_gpu.bits == pytest.approx(on_cpu.bits, abs=1e-3)
