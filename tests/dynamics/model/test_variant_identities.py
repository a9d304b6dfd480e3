"""What the papers say of their variants, as identities of whole models to 1e-10, each beside a control that fails."""

from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.model import values as module
from dynamics.model.config import CrossLayer, Dense, Identity, Neutreno, Own, Residual, Shared
from tests.dynamics.model import variants
from theory.value_residual import rescaled_projections

CLOSE, APART = 1e-10, 1e-6
EXAMPLES = settings(max_examples=6 if settings.get_current_profile_name() == "ci" else 200)
factors = st.floats(-3, 3).filter(lambda x: abs(x) > 0.1)
RULES = {
    "own": Own(), "residual": Residual(), "shared": Shared(), "neutreno": Neutreno(), "identity": Identity(),
    "cross": CrossLayer(), "dense": Dense(),
}  # fmt: skip


@st.composite
def settings_of(draw, **fixed):
    """Everything but the values, and a seed."""
    options = {
        "weights": st.sampled_from(variants.WEIGHTS),
        "shift": st.sampled_from(variants.SHIFTS),
        "position": st.sampled_from(variants.POSITIONS),
        "n_kv_heads": st.sampled_from((None, 1, 2)),
        "causal": st.booleans(),
        "tied": st.booleans(),
    }
    drawn = {name: draw(options[name]) for name in options if name not in fixed}
    return drawn | fixed | {"seed": draw(st.integers(0, 2**20))}


def build(options, values, like=None, **changes):
    """A model, with the parameters of `like` wherever it has those."""
    options = options | changes
    model = variants.model(variants.named(values, **{k: v for k, v in options.items() if k != "seed"}), options["seed"])
    if like is not None:
        held = dict(like.named_parameters())
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name in held and held[name].shape == parameter.shape:
                    parameter.copy_(held[name])
    return model


@torch.no_grad()
def same(model, other, control):
    tokens = variants.tokens(2, 6)
    expected = model(tokens)
    torch.testing.assert_close(other(tokens), expected, rtol=0, atol=CLOSE * float(expected.abs().max().clamp(min=1)))
    assert (control(tokens) - expected).abs().max() > APART


def test_models_of_one_seed_are_the_same_but_for_what_they_read():
    options = {"weights": "sink", "shift": "kv", "position": "rope", "seed": 1}
    first = build(options, Own())
    for rule in (Residual(), Neutreno(), Identity(), CrossLayer()):
        other = dict(build(options, rule).named_parameters())
        assert all(torch.equal(p, other[name]) for name, p in first.named_parameters())


@EXAMPLES
@given(settings_of())
def test_residual_with_nothing_of_the_first_layer_is_vanilla(options):
    model = build(options, Own())
    same(model, build(options, Residual(lambda1=1, lambda2=0)), build(options, Residual(lambda1=1, lambda2=0.01)))


@EXAMPLES
@given(settings_of(), st.sampled_from(("raw", "shifted")))
def test_residual_with_nothing_of_its_own_is_svformer(options, order):
    # Values that are shifted first, by coefficients of their own, leave an SVFormer's layers none.
    model = build(options, Residual(lambda1=0, lambda2=1, order=order))
    control = build(options, Residual(lambda1=0.05, lambda2=1, order=order), like=model)
    same(model, build(options, Shared(order=order), like=model), control)


@EXAMPLES
@given(settings_of(), factors, factors)
def test_every_factor_but_zero_gives_one_class_of_functions(options, old, new):
    model = build(options, Residual(lambda1=1, lambda2=old))
    other = build(options, Residual(lambda1=1, lambda2=new), like=model)
    control = build(options, Residual(lambda1=1, lambda2=1.5 * new), like=model)
    for changed in (other, control):
        for block in changed.blocks[1:]:
            pair = block.attention.v_proj.weight, block.attention.o_proj.weight
            found = rescaled_projections(*(w.detach().numpy() for w in pair), old, new)
            for weight, numbers in zip(pair, found, strict=True):
                weight.data.copy_(torch.from_numpy(numbers))
    same(model, other, control)


@EXAMPLES
@given(settings_of())
def test_equation_7_is_section_4_2_at_one_with_half_of_the_output(options):
    model = build(options, Residual())
    other = build(options, Residual(lambda1=1, lambda2=1), like=model)
    for block in other.blocks[1:]:
        block.attention.o_proj.weight.data.mul_(0.5)
    same(model, other, build(options, Residual(lambda1=1, lambda2=1), like=model))


@EXAMPLES
@given(settings_of())
def test_learnt_factors_start_where_fixed_ones_are(options):
    model = build(options, Residual(lambda1=0.7, lambda2=0.2))
    other, control = (build(options, Residual(lambda1=0.7, lambda2=0.2, learnt=True), like=model) for _ in range(2))
    for block in other.blocks[1:]:
        block.attention.lambdas.data.copy_(torch.tensor([0.7, 0.2], dtype=torch.float64))
    same(model, other, control)


@EXAMPLES
@given(settings_of())
def test_neutreno_without_strength_is_vanilla(options):
    same(build(options, Own()), build(options, Neutreno(lam=0)), build(options, Neutreno(lam=0.01)))


@EXAMPLES
@given(settings_of())
def test_denseformer_starts_as_vanilla_and_mixes_the_embedding_in(options):
    model = build(options, Own())
    other, control = build(options, Dense(), like=model), build(options, Dense(), like=model)
    for number in range(variants.LAYERS):
        for built in (other, control):
            built.depth[number].data.copy_(torch.eye(number + 2)[-1])
    control.depth[-1].data[0] = 0.05
    same(model, other, control)


@EXAMPLES
@given(settings_of())
def test_svformer_whose_layers_are_all_anchors_is_vanilla(options):
    model = build(options, Own())
    same(model, build(options, Shared(anchors=(0, 1, 2, 3))), build(options, Shared(anchors=(0, 1, 2)), like=model))


@EXAMPLES
@given(settings_of(shift="kv"), st.sampled_from((Residual, Shared)))
def test_both_orders_agree_where_all_layers_shift_alike(options, rule):
    control = build(options, rule(order="shifted"))
    model, other = build(options, rule(), like=control), build(options, rule(order="shifted"), like=control)
    for built in (model, other):
        for block in built.blocks:
            if block.attention.beta is not None:
                block.attention.beta.data.copy_(control.blocks[0].attention.beta)
    for block in control.blocks[1:]:
        if block.attention.beta is not None:
            block.attention.beta.data.flip(1)
    if rule is Shared:  # there the order alone decides who shifts: change the first layer's
        control.blocks[0].attention.beta.data.mul_(0.5)
    same(model, other, control)


@EXAMPLES
@given(settings_of(shift="kv"), st.sampled_from(sorted(RULES)))
def test_coefficients_one_and_zero_shift_nothing(options, rule):
    control = build(options, RULES[rule])
    model, other = build(options, RULES[rule], like=control, shift="none"), build(options, RULES[rule], like=control)
    for block in other.blocks:
        for name in ("alpha", "beta"):
            getattr(block.attention, name).data.copy_(torch.eye(1, 2))
    same(model, other, control)


@EXAMPLES
@given(settings_of(weights="plus_one"), st.sampled_from(sorted(RULES)))
def test_softmax_plus_one_is_a_sink_logit_of_zero(options, rule):
    model = build(options, RULES[rule])
    other, control = (build(options, RULES[rule], like=model, weights="sink") for _ in range(2))
    for block in other.blocks:
        block.attention.sinks.data.zero_()
    same(model, other, control)


@EXAMPLES
@given(settings_of(weights="softmax"), st.sampled_from(sorted(RULES)))
def test_a_sink_logit_far_below_all_others_is_softmax(options, rule):
    model = build(options, RULES[rule])
    other, control = (build(options, RULES[rule], like=model, weights="sink") for _ in range(2))
    for block in other.blocks:
        block.attention.sinks.data.fill_(-500.0)
    same(model, other, control)


@EXAMPLES
@given(settings_of(weights="softmax"), st.sampled_from(sorted(RULES)))
def test_a_gate_that_sees_nothing_halves_the_output(options, rule):
    model = build(options, RULES[rule])
    other, control = (build(options, RULES[rule], like=model, weights="gate") for _ in range(2))
    for block in other.blocks:
        block.attention.gate_proj.weight.data.zero_()
        block.attention.o_proj.weight.data.mul_(2)
    for block in control.blocks:
        block.attention.gate_proj.weight.data.zero_()
    same(model, other, control)


@EXAMPLES
@given(settings_of(weights="softmax"))
def test_the_other_layers_keys_replaced_by_ones_own_make_cross_layer_attention_resformer(options):
    model, control = build(options, Residual(order="shifted")), build(options, CrossLayer())
    right = module.with_source

    def own_keys(values, layer, key, value, earlier):
        seen = right(values, layer, key, value, earlier)
        return seen if layer == 0 else (torch.cat([key, key], dim=2), seen[1])

    def other(tokens):
        with mock.patch.object(module, "with_source", own_keys):
            return build(options, CrossLayer())(tokens)

    same(model, other, control)


@EXAMPLES
@given(settings_of(n_kv_heads=2), st.sampled_from(sorted(RULES)))
def test_grouped_heads_are_heads_repeated(options, rule):
    model = build(options, RULES[rule])
    other = build(options, RULES[rule], like=model, n_kv_heads=None)
    control = build(options, RULES[rule], like=model, n_kv_heads=None)
    for grouped, full, wrong in zip(model.blocks, other.blocks, control.blocks, strict=True):
        for name in ("k_proj.weight", "v_proj.weight", "alpha", "beta"):
            held = dict(grouped.attention.named_parameters()).get(name)
            if held is not None:
                heads = held.unflatten(0, (2, -1))
                for attention, order in ((full.attention, (0, 0, 1, 1)), (wrong.attention, (0, 1, 0, 1))):
                    dict(attention.named_parameters())[name].data.copy_(heads[list(order)].flatten(0, 1))
    same(model, other, control)


@pytest.mark.parametrize("rule", sorted(RULES))
@EXAMPLES
@given(settings_of(causal=False, position="none", shift="none"))
@torch.no_grad()
def test_without_positions_global_attention_cannot_tell_places(rule, options):
    model, control = build(options, RULES[rule]), build(options, RULES[rule], position="alibi")
    tokens, order = torch.tensor([[3, 1, 4, 0, 5, 9]]), torch.tensor([4, 0, 3, 5, 1, 2])
    torch.testing.assert_close(model(tokens[:, order]), model(tokens)[:, order], rtol=0, atol=1e-9)
    assert (control(tokens[:, order]) - control(tokens)[:, order]).abs().max() > APART
