"""Scopes of checkpoints: attention obeys every bound, budgets follow the groups, numbers equal those of one head."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from dynamics.files.shipped import FOLDER
from dynamics.scope import ranges as scope_ranges
from dynamics.scope.bounded import Rule
from dynamics.scope.heads import Reach, checkpoint_scopes, layer_scopes, settings
from dynamics.scope.ranges import Basis
from dynamics.scope.totals import totals
from dynamics.weights.reader import open_checkpoint
from scripts.commands.scope_report import text
from tests.dynamics.refusal import refused
from tests.dynamics.scope.cases import ALIBI, CASES, HEADS, KV_HEADS, PLAIN, SLOPES, InMemory, case
from tests.dynamics.weights.checkpoint_files import attention
from theory import alibi
from theory.alibi.shifted_scope import shifted_dropped_mass, shifted_scope, shifted_window
from theory.cache.dropped import output_error_bound, value_diameter

LENGTH = 64


def scopes(checkpoint, mass=0.05, **asked):
    asked = settings(checkpoint, 0.05, mass, **asked)
    return [layer_scopes(checkpoint, layer, asked) for layer in range(checkpoint.architecture.n_layers)], asked


def of_first_layer(checkpoint, **asked):
    return scopes(checkpoint, **asked)[0][0]


@pytest.mark.parametrize("name", CASES)
def test_attention_of_random_contexts_obeys_every_bound(name):
    checkpoint, seen = CASES[name], 0
    found, _ = scopes(checkpoint)
    generator = torch.Generator().manual_seed(0)
    for layer, heads in enumerate(found):
        for size in (0.1, 1.0, 10.0):
            hidden = size * torch.randn((LENGTH, checkpoint.architecture.d_model), generator=generator)
            weights, _ = attention(checkpoint, layer, hidden, 1e-6)
            for head in heads:
                seen += obeys(head, weights[head.head])
    assert seen or name != "alibi, small"


def obeys(head, weights):
    """Check one head against its bounds; returns how many tokens lay beyond its scope."""
    distance = torch.arange(LENGTH)[:, None] - torch.arange(LENGTH)
    far = distance >= head.scope
    assert float(weights[far].max() if far.any() else 0.0) <= 0.05 * (1 + 1e-9)
    outside = distance >= head.budget
    assert float((weights * outside).sum(1).max()) <= head.dropped_mass + 1e-12
    logits = torch.log(weights.clamp_min(1e-300)) + (head.slope or 0.0) * distance
    inside = (distance >= 0) & (weights > 1e-250)
    spread = logits.masked_fill(~inside, -torch.inf).max(1)[0] - logits.masked_fill(~inside, torch.inf).min(1)[0]
    assert float(spread.max()) <= head.logit_range * (1 + 1e-9)
    assert inside.sum() > LENGTH
    return int(far.sum())


@pytest.mark.parametrize(
    "checkpoint",
    [*(CASES[name] for name in ("alibi", "alibi, biases", "alibi, scale", "none")),
     case(size=0.2, n_kv_heads=HEADS, **ALIBI)],
)  # fmt: skip
def test_numbers_are_those_of_each_head_alone(checkpoint):
    sizes, small = checkpoint.architecture, checkpoint.small(0)
    heads = scopes(checkpoint, mass=0.3)[0][1]
    for head, measured in zip(heads, scope_ranges.layer_ranges(checkpoint, 1), strict=True):
        w_q, w_k = (weights.astype(float) for weights in checkpoint.pair(1, head))
        adjusted = sizes.scale * math.sqrt(sizes.d_head)
        bias = None if small.query_bias is None else adjusted * small.query_bias[head.head]
        given = alibi.Head(adjusted * w_q, w_k, small.gamma, small.norm_bias, bias, sizes.norm)
        wide = alibi.logit_range(given)
        slope = head.slope or 0.0
        assert head.logit_range == pytest.approx(wide, rel=1e-10)
        assert head.scope == pytest.approx(alibi.scope(slope, wide, 0.05), rel=1e-9)
        assert head.mass_window == pytest.approx(alibi.window_for_mass(slope, wide, 0.3), rel=1e-9)
        wide_values = value_diameter(checkpoint.weights[1]["value"][head.kv_head], small.gamma, sizes.norm)
        assert measured.value_diameter == pytest.approx(wide_values, rel=1e-9)
        dropped = alibi.dropped_mass_bound(head.budget, slope, wide, 64)
        assert head.dropped_mass == pytest.approx(dropped, rel=1e-9)
        assert head.output_error == pytest.approx(float(output_error_bound(dropped, wide_values)), rel=1e-9)
        if head.slope:
            printed = alibi.printed_scope(given._replace(w_q=w_q), slope, 0.05)
            assert head.printed_scope == pytest.approx(printed, rel=1e-8)
            valid = alibi.spectral_scope(given, slope, 0.05)
            assert head.spectral_scope == pytest.approx(valid, rel=1e-8)
            assert head.spectral_scope >= head.scope


def test_each_kind_of_head_says_what_its_range_rests_on():
    bases = {name: {head.basis for head in of_first_layer(checkpoint)} for name, checkpoint in CASES.items()}
    assert bases["rope"] == bases["rope, biases"] == bases["rope, shift, window"] == {Basis.ROTATIONS}
    assert bases["rope, norms"] == {Basis.GAINS}
    assert bases["alibi"] == bases["none"] == bases["alibi, biases"] == bases["alibi, far clip"] == {Basis.ATTAINED}
    assert bases["alibi, clip"] == {Basis.CLIPPED}
    (near, *_), (far, *_) = (scope_ranges.layer_ranges(CASES[f"alibi, {kind}"], 0) for kind in ("clip", "far clip"))
    assert near.value_diameter == pytest.approx(2 * 0.8 * 4**0.5) and 3.2 < far.value_diameter < 1e3
    assert all(head.printed_scope is None and head.mass_window == math.inf for head in of_first_layer(CASES["rope"]))


@pytest.mark.parametrize(("slopes", "context"), [(SLOPES, 200), (SLOPES[::-1], 10**6)])
def test_a_group_keeps_what_its_most_demanding_head_needs(slopes, context):
    (heads, _), asked = scopes(case(size=0.2, position="alibi", slopes=slopes), context=context)
    for head in heads:
        group = [other for other in heads if other.kv_head == head.kv_head]
        needs = [math.ceil(o.mass_window) if o.reach is Reach.LOCAL else asked.context for o in group]
        assert head.budget == max(needs)
        assert head.kv_head == head.head // (HEADS // KV_HEADS)
    assert heads[0].dropped_mass < 0.05 < heads[0].mass_window and len({head.budget for head in heads}) == 2


def test_a_smaller_window_turns_local_heads_into_retrieval_heads():
    checkpoint = CASES["alibi, small"]
    reaches = [[head.reach for head in of_first_layer(checkpoint, context=10**6, window=w)] for w in (10**6, 100, 1)]
    assert set(reaches[0]) == {Reach.LOCAL} and set(reaches[2]) == {Reach.RETRIEVAL}
    assert reaches[1].count(Reach.LOCAL) in range(1, HEADS)


def test_heads_without_a_slope_are_unknown_and_masked_layers_keep_their_window():
    (heads, _), _ = scopes(CASES["rope"])
    assert {head.reach for head in heads} == {Reach.UNKNOWN} and {head.budget for head in heads} == {64}
    assert {head.dropped_mass for head in heads} == {head.output_error for head in heads} == {0.0}
    found, asked = scopes(CASES["rope, shift, window"])
    assert {(head.reach, head.budget, head.mass_window) for head in found[0]} == {(Reach.MASKED, 7, 7.0)}
    total = totals(CASES["rope, shift, window"], found, asked)
    assert total.kept == total.full == 2 * KV_HEADS * 7


def test_a_shift_multiplies_the_range_and_its_coefficients_are_told():
    checkpoint = CASES["alibi, shift"]
    raw = InMemory(checkpoint.architecture, gamma=checkpoint.small(0).gamma)
    raw.weights = checkpoint.weights
    for head, plain in zip(of_first_layer(checkpoint), of_first_layer(raw), strict=True):
        alpha, beta = (getattr(checkpoint.small(0), name)[head.kv_head].astype(float) for name in ("alpha", "beta"))
        assert head.logit_range == pytest.approx(plain.logit_range * np.abs(alpha).sum(), rel=1e-12)
        assert (head.alpha, head.beta) == (tuple(alpha), tuple(beta))
        assert plain.alpha is None and plain.beta is None
    refused("layer 0: a KV shift beside biases", scopes, case(("alpha", "norm_bias"), **ALIBI))


@pytest.mark.parametrize("name", ["alibi", "alibi, biases", "alibi, shift"])
def test_reading_few_heads_at_a_time_changes_nothing(name, monkeypatch):
    whole = scopes(CASES[name])[0]
    monkeypatch.setattr(scope_ranges, "CHUNK_BYTES", 1)
    for heads, others in zip(whole, scopes(CASES[name])[0], strict=True):
        for head, other in zip(heads, others, strict=True):
            assert (head.head, head.kv_head, head.alpha) == (other.head, other.kv_head, other.alpha)
            assert head.output_error == pytest.approx(other.output_error) and head.scope == pytest.approx(other.scope)


def test_certified_ranges_lie_above_and_close():
    small = PLAIN._replace(n_layers=1, **ALIBI)
    plain, certified = (of_first_layer(InMemory(small, random=("norm_bias",)), certified=c) for c in (False, True))
    for head, sure in zip(plain, certified, strict=True):
        assert sure.basis is Basis.CERTIFIED
        assert head.logit_range * (1 - 1e-12) <= sure.logit_range <= head.logit_range * (1 + 1e-9)


def test_certified_ranges_are_rounded_outward_by_scale_and_shift():
    below = 0
    for seed in range(8):
        sizes = PLAIN._replace(n_layers=1, d_head=5, scale=0.777 / math.sqrt(5), **ALIBI)
        checkpoint = InMemory(sizes, random=("alpha",), seed=seed)
        small = checkpoint.small(0)
        for head in of_first_layer(checkpoint, certified=True):
            upper = alibi.certified_logit_range(*checkpoint.pair(0, head), small.gamma)[1]
            mixture = sum(abs(Fraction(float(c))) for c in small.alpha[head.kv_head])
            squared = (Fraction(upper) * Fraction(sizes.scale) * mixture) ** 2 * 5
            assert Fraction(head.logit_range) ** 2 >= squared
            below += Fraction(head.logit_range / scope_ranges.OUTWARD) ** 2 < squared
    assert below  # without rounding outward some are


def test_totals_count_key_value_heads_once():
    checkpoint = CASES["alibi, small"]
    found, asked = scopes(checkpoint)
    total = totals(checkpoint, found, asked)
    budgets = [{head.kv_head: head.budget for head in heads} for heads in found]
    assert total.kept == sum(sum(layer.values()) for layer in budgets) and total.full == 2 * KV_HEADS * 64
    assert total.kept_numbers == total.kept * 2 * PLAIN.d_head
    assert sum(total.reaches.values()) == 2 * HEADS
    assert total.output_error == max(math.sqrt(sum(head.output_error**2 for head in heads)) for heads in found)


def test_defaults_come_from_the_model():
    assert settings(CASES["alibi"], 0.1, 0.1)[2:] == (64, 64, False)
    assert settings(case(max_length=None, **ALIBI), 0.1, 0.1).context == 4096
    assert SLOPES == (0.25, 0.0625, 0.015625, 0.00390625)


def test_one_call_reads_a_whole_checkpoint():
    folder = FOLDER / "models" / "alibi-text"
    checkpoint = open_checkpoint(folder)
    asked = settings(checkpoint, 1e-3, 1e-3, window=64)
    layers = range(checkpoint.architecture.n_layers)
    expected = [head for layer in layers for head in layer_scopes(checkpoint, layer, asked)]
    assert checkpoint_scopes(folder, 1e-3, window=64) == expected and len(expected) > 1
    refused("eps must", checkpoint_scopes, folder, 2.0)


EPS, CONTEXT = 0.05, 4000  # so long that some heads are local, and drop tokens


def shifted(coefficients, size=0.5, seed=0, **changes):
    rows = np.tile(np.array(coefficients, dtype=np.float32), (KV_HEADS, 1))
    return InMemory(PLAIN._replace(**(ALIBI | {"n_layers": 1} | changes)), size, seed, alpha=rows)


@pytest.mark.parametrize("coefficients", [(0.9, -0.8), (-0.4, 0.7), (0.3, 0.8), (0.0, 1.0)])
def test_scope_and_window_are_those_of_neighbours_and_never_beyond_those_of_the_range(coefficients):
    opposite, checkpoint = coefficients[0] * coefficients[1] < 0, shifted(coefficients)
    for head in of_first_layer(checkpoint, context=CONTEXT):
        wide = head.slope, head.logit_range, EPS
        scope, window = alibi.scope(*wide), alibi.window_for_mass(*wide)
        dropped = alibi.dropped_mass_bound(head.budget, head.slope, head.logit_range, CONTEXT)
        assert head.scope <= scope and head.mass_window <= window and head.dropped_mass <= dropped
        assert (head.scope < 0.8 * scope) == (head.mass_window < 0.8 * window) == opposite
        # with 1 / sqrt(d_head), the checkpoint's scale
        raw = alibi.logit_range(*checkpoint.pair(0, head), checkpoint.small(0).gamma)
        mixed = head.slope, raw, *coefficients
        assert head.rule is Rule.NEIGHBOURS and head.scope == pytest.approx(min(scope, shifted_scope(*mixed, EPS)))
        assert head.mass_window == pytest.approx(shifted_window(*mixed, EPS))
        assert head.dropped_mass == pytest.approx(shifted_dropped_mass(head.budget, *mixed, CONTEXT))


def test_only_two_plain_coefficients_let_neighbours_count():
    rope = {"position": "rope", "slopes": None}
    others = [shifted((0.9, -0.8, 0.1)), shifted((0.9, -0.8), **rope), shifted((0.9, -0.8), softcap=5.0),
              shifted((0.9, -0.8), clip=0.1), CASES["alibi"], CASES["alibi, biases"]]  # fmt: skip
    for checkpoint in others:
        found = of_first_layer(checkpoint, context=CONTEXT)
        for head, seen in zip(scope_ranges.layer_ranges(checkpoint, 0), found, strict=True):
            assert head.mixed is None and seen.rule is Rule.RANGE
            assert seen.scope == alibi.scope(head.slope or 0.0, head.logit_range, EPS)


def test_the_report_says_what_scopes_follow_from():
    mixed, plain = shifted((0.9, -0.8)), CASES["alibi"]
    pages = [text(c, *scopes(c, context=CONTEXT), part=True) for c in (mixed, plain)]
    assert "4 scopes: from the range D of raw keys and two coefficients" in pages[0]
    assert "scopes: from" not in pages[1]
