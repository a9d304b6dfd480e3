"""What the papers say of their variants, as identities of whole models to 1e-10, each beside a control that fails."""

from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics.model import values as module
from dynamics.model.config import CrossLayer, Neutreno, Own, Residual, Shared
from tests.dynamics.model import variants
from theory.value_residual import rescaled_projections

CLOSE, APART = 1e-10, 1e-6
EXAMPLES = settings(max_examples=6 if settings.get_current_profile_name() == "ci" else 200)
factors = st.floats(-3, 3).filter(lambda x: abs(x) > 0.1)


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


@torch.no_grad()
def build(options, values, like=None, **changes):
    """A model, with the parameters of `like` wherever it has those."""
    options = options | changes
    model = variants.model(variants.named(values, **{k: v for k, v in options.items() if k != "seed"}), options["seed"])
    held = {} if like is None else dict(like.named_parameters())
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


# A rule, one that is the same, and one that is not quite. Values that are shifted first, by coefficients of their own,
# leave an SVFormer's layers none.
LIMITS = {
    "nothing of the first layer is vanilla": (Own(), Residual(lambda1=1, lambda2=0), Residual(lambda1=1, lambda2=0.01)),
    "no strength is vanilla": (Own(), Neutreno(lam=0), Neutreno(lam=0.01)),
    "anchors alone are vanilla": (Own(), Shared(anchors=(0, 1, 2, 3)), Shared(anchors=(0, 1, 2))),
    **{
        f"nothing of its own is svformer, {order}": (
            Residual(lambda1=0, lambda2=1, order=order),
            Shared(order=order),
            Residual(lambda1=0.05, lambda2=1, order=order),
        )
        for order in ("raw", "shifted")
    },
}


@pytest.mark.parametrize("limit", LIMITS)
@EXAMPLES
@given(settings_of())
def test_a_limit_of_one_rule_is_another(limit, options):
    rule, other, control = LIMITS[limit]
    model = build(options, rule)
    same(model, build(options, other, like=model), build(options, control, like=model))


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
