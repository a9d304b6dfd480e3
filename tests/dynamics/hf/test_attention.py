"""Attention functions in transformers models: the models' own logits, their slopes, and what is refused."""

import math
from contextlib import nullcontext
from itertools import product

import pytest
import torch

from dynamics.hf import attention
from dynamics.hf import families as hf_heads
from dynamics.model.attention_function import full_attention
from tests.dynamics.hf import models
from tests.dynamics.refusal import refused

TIGHT = 1e-10


def logits_of(model, ids, **arguments):
    with torch.no_grad():
        return model(ids, **arguments).logits


def difference(model, function, ids):
    """Of the logits with a function from the model's own, in double precision throughout: transformers rounds softmax,
    norms, angles and slopes to single precision even in a double model."""
    with models.double():
        own = logits_of(model, ids)
        with attention.replaced(model, function):
            found = logits_of(model, ids)
    assert own.dtype == found.dtype == torch.float64
    return (found - own).abs().max()


def windowed(layer, query, key, value, *, scale, slopes, sinks=None, window=None, softcap=None, alone=None):
    """Causal attention with slopes, sink logits and a cap, written out, in a sliding window if there is one.

    Where there are more keys than queries they begin anew, as those of another layer do.
    alone: a token and heads, bool, in which its query sees its own key alone, and whether its key is hidden instead.
    """
    group, length = query.shape[1] // key.shape[1], query.shape[2]
    distance = torch.arange(length)[:, None] - torch.arange(key.shape[2]) % length
    logits = scale * query @ key.repeat_interleave(group, 1).transpose(2, 3)
    logits = logits if softcap is None else softcap * (logits / softcap).tanh()
    logits = logits if slopes is None else logits - slopes[:, None, None] * distance
    hidden = ((distance < 0) | (distance >= (window or length))).repeat(query.shape[1], 1, 1)
    if alone is not None:
        token, heads, column = alone
        for head, row, place in product(heads.nonzero().flatten(), range(length), range(key.shape[2])):
            cut = token == (place % length if column else row) and distance[row, place] != 0
            hidden[head, row, place] |= bool(cut)
    logits = logits.masked_fill(hidden, -math.inf)
    sinks = torch.full((query.shape[1],), -math.inf, dtype=query.dtype) if sinks is None else sinks
    shares = torch.cat([logits, sinks[:, None, None].expand(len(query), -1, length, 1)], -1).softmax(-1)
    return shares[..., :-1] @ value.repeat_interleave(group, 1)


@pytest.mark.parametrize("family", models.MEASURED)
def test_what_only_some_models_hand_over_gives_their_own_logits(family):
    model = models.eager(family)
    function = full_attention if family == "bert" else windowed
    assert difference(model, function, models.tokens(3, 19)) < TIGHT
    described = hf_heads.heads(model)
    assert (described.causal, described.sinks) == (family != "bert", "sinks" if family == "gpt_oss" else None)
    assert described.windows == ((None, None) if family == "bert" else (8, None))
    assert described.softcap == (2.0 if family == "gemma2" else None)


def test_a_function_that_does_not_take_what_a_model_hands_over_is_refused():
    def windows_only(layer, query, key, value, *, scale, slopes, window=None):
        raise AssertionError

    def caps_only(layer, query, key, value, *, scale, slopes, softcap=None):
        raise AssertionError

    for family, function, message in (
        ("bert", windows_only, "'causal', which"),
        ("gpt_oss", windows_only, "'sinks', which"),
        ("gpt_oss", full_attention, "layer 0 has a sliding window of 8 tokens"),
        ("gemma2", windows_only, "'softcap', which"),
        ("gemma2", caps_only, "layer 0 has a sliding window of 8 tokens"),
    ):
        refused(message, attention.replaced(models.model(family), function).__enter__)
    decoder = models.model("bert", is_decoder=True)
    refused(r"^is_decoder is True: bert is supported as an encoder only", hf_heads.heads, decoder)


@pytest.mark.parametrize(("family", "dtype"), [("bloom", torch.float64), ("mpt", torch.bfloat16)])
def test_slopes_are_one_tensor_for_all_layers_and_calls_also_of_weights_that_come_late(family, dtype):
    model, ids, seen = models.model(family, dtype=dtype), models.tokens(2, 7), []
    weights = {name: x.clone() for name, x in model.state_dict().items()}

    def spy(layer, query, key, value, *, scale, slopes):
        seen.append(slopes)
        return full_attention(layer, query, key, value, scale=scale, slopes=slopes)

    model.to("meta")  # as of weights that are offloaded
    with attention.replaced(model, spy):
        model.to_empty(device="cpu").load_state_dict(weights)
        with torch.inference_mode():
            logits_of(model, ids)
        logits_of(model, ids)
    assert len(seen) == 4 and all(x is seen[0] for x in seen) and not seen[0].is_inference()
    assert seen[0].dtype == torch.promote_types(dtype, torch.float32)


@pytest.mark.parametrize("changes", [{"alibi_bias_max": 16}, {"alibi": False}, {"qk_ln": True}, {"prefix_lm": True}])
def test_transformers_runs_every_mpt_alike_and_those_it_runs_wrongly_are_refused(changes):
    plain, changed = models.model("mpt"), models.model("mpt", attn_config=changes)
    ids = models.tokens(2, 19)
    assert torch.equal(logits_of(plain, ids), logits_of(changed, ids))
    name = next(iter(changes))
    refused(f"^{name} is .*, but transformers runs every MPT with ", hf_heads.heads, changed)


def snapshot(model):
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    return (
        [id(getattr(module, "config", None)) for module in model.modules()],
        [sorted(vars(module)) for module in model.modules()],
        getattr(model.config, "_attn_implementation", None),
        sorted(ALL_ATTENTION_FUNCTIONS),
        sorted(ALL_MASK_ATTENTION_FUNCTIONS),
    )


@pytest.mark.parametrize("family", ["bloom", "falcon", "llama", "mpt"])
def test_everything_comes_back_after_an_exception_too(family):
    model = models.model(family)
    ids = models.tokens(1, 9)
    before, own = snapshot(model), logits_of(model, ids)

    def failing(layer, *_, **__):
        raise RuntimeError(f"layer {layer}")

    with pytest.raises(RuntimeError, match="layer 0"), attention.replaced(model, failing):
        logits_of(model, ids)
    assert snapshot(model) == before
    with attention.replaced(model, failing), attention.replaced(model, full_attention):
        logits_of(model, ids)
    assert snapshot(model) == before
    assert torch.equal(logits_of(model, ids), own)


@pytest.mark.parametrize("family", ["bloom", "mpt", "llama"])
def test_a_model_that_shares_the_configuration_keeps_its_attention(family):
    model = models.model(family)
    twin = type(model)(model.config)
    models.randomise(twin, 5)
    twin = twin.double().eval()
    assert twin.config is model.config
    ids = models.tokens(2, 9)
    own = logits_of(twin, ids)
    with attention.replaced(model, lambda layer, query, *_, **__: torch.zeros_like(query)):
        assert torch.equal(logits_of(twin, ids), own)


@pytest.mark.parametrize("family", ["bloom", "llama"])
def test_gradients_pass_through_a_function(family):
    model = models.model(family)
    ids = models.tokens(1, 8)
    gradients = []
    with models.double():
        for function in (full_attention, None):
            model.zero_grad()
            with nullcontext() if function is None else attention.replaced(model, function):
                model(ids, use_cache=False).logits.square().mean().backward()
            gradients.append([weight.grad.clone() for weight in model.parameters()])
    assert all(torch.allclose(a, b, rtol=0, atol=TIGHT) for a, b in zip(*gradients, strict=True))


@pytest.mark.parametrize("family", ["bloom", "mpt", "llama"])
def test_a_cache_that_keeps_keys_serves_the_first_call_and_is_refused_at_the_second(family):
    model = models.model(family)
    ids = models.tokens(1, 9)
    with attention.replaced(model, full_attention), torch.no_grad():
        first = model(ids, use_cache=True)
        assert first.past_key_values.get_seq_length() == 9
        refused("2 new tokens came with 11 keys", model, models.tokens(1, 2), past_key_values=first.past_key_values)


@pytest.mark.parametrize("family", ["bloom", "mpt", "llama", "qwen3"])
def test_masks_other_than_causality_are_refused(family):
    model = models.model(family)
    ids = models.tokens(2, 6)
    left = torch.tensor([[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]])
    with attention.replaced(model, full_attention):
        assert torch.isfinite(logits_of(model, ids, attention_mask=torch.ones_like(left))).all()
        for mask in (left, left.flip(1)):
            refused(r"^padding cannot go through an attention function", logits_of, model, ids, attention_mask=mask)
        for use_cache in (False, True):
            short = {"attention_mask": torch.ones(2, 4), "use_cache": use_cache}
            refused(r"^attention_mask covers 4 of 6 tokens", logits_of, model, ids, **short)
        if family not in ("bloom", "mpt"):
            whole, packed = torch.ones(2, 1, 6, 6), torch.arange(6)[None] % 3
            refused(r"^a mask of shape .2, 1, 6, 6. cannot go", logits_of, model, ids, attention_mask=whole)
            refused(r"^packed documents cannot go", logits_of, model, ids, position_ids=packed, use_cache=False)


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("bloom", {"attention_dropout": 0.1}),
        ("mpt", {"attn_config": {"attn_pdrop": 1}}),
        ("llama", {"attention_dropout": 0.1}),
    ],
)
def test_attention_dropout_is_refused_in_training_alone(family, changes):
    model = models.model(family, **changes)
    ids = models.tokens(1, 6)
    with attention.replaced(model, full_attention):
        logits_of(model, ids)
        refused(r"^attention dropout of .* cannot go through an attention function", logits_of, model.train(), ids)


@pytest.mark.parametrize(
    ("family", "changes", "message"),
    [
        (
            "qwen2",
            {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1},
            "layer 1 has a sliding window of 8 tokens",
        ),
        ("llama", {"is_causal": False}, "is_causal is False"),
        ("llama", {"sliding_window": 8}, "config: sliding_window is 8: llama has no window in its masks"),
        ("mpt", {"attention_chunk_size": 8}, "config: attention_chunk_size: Input should be None"),
        ("gemma3_text", {"use_bidirectional_attention": True}, "is_causal is False"),
        ("bloom", {"pretraining_tp": 2, "slow_but_exact": True}, "slow_but_exact sums the output matrix"),
    ],
)
def test_other_attention_of_a_known_family_is_refused(family, changes, message):
    model = models.model(family, **changes)
    refused(f"^{message}", attention.replaced(model, full_attention).__enter__)


def test_what_is_no_model_and_an_unknown_architecture_are_refused_by_name():
    import transformers

    own = transformers.CodeGenConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, vocab_size=8)
    model = transformers.AutoModel.from_config(own)
    refused(r"^the attention of CodeGenModel is none of bloom, llama", hf_heads.heads, model)
    refused(r"^the attention of Linear is none of", hf_heads.heads, torch.nn.Linear(2, 2))


@pytest.mark.parametrize("family", ["llama", "mpt"])
def test_a_model_without_its_head_and_one_with_missing_layers(family):
    model = models.model(family)
    inner = model.base_model
    assert hf_heads.heads(inner).n_layers == 2
    layers = inner.layers if family == "llama" else inner.blocks
    del layers[0]
    refused(r"^1 layers of .*Attention were found, not 2", hf_heads.heads, model)
    del layers[0]
    model.config.num_hidden_layers = 0
    refused(r"^0 layers of .*Attention were found, not 1 or more", hf_heads.heads, model)
