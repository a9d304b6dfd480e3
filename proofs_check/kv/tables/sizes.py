"""The small models: sizes in Figures 1 and 9 and Appendices F, H and J, as arithmetic."""

from fractions import Fraction
from itertools import product

from proofs_check.evidence.margin import Margin, at_most, different, same, worst
from proofs_check.ledger.claim import ENUMERATED, INSTANCES, Control, Nature, Severity, Verdict, everywhere
from proofs_check.ledger.exact_claim import BOTH, FINAL, exact_claim
from theory.shift.parameters import (
    Shape,
    llama_ffn,
    non_embedding_parameters,
    shift_parameters,
    tied_parameters,
    untied_parameters,
)

TOY_VOCABULARY = 8000
LAYERS_COUNTED = "Parameters are those that Section 3.2 counts: without embeddings."
# "Approximately" and "twice": within a twentieth.
ROUGHLY = Fraction(1, 20)


def toy(hidden: int, layers: int, ffn: int | Fraction | None = None, vocab: int = TOY_VOCABULARY) -> Shape:
    """A multi-head Llama of this hidden size; the FFN width is 8/3 of it where none is given."""
    return Shape(hidden, layers, 1, 1, Fraction(8 * hidden, 3) if ffn is None else ffn, vocab)


def _about(hidden: int, layers: int, ffn: int, millions: int) -> Margin:
    size = millions * 10**6
    return at_most(abs(non_embedding_parameters(toy(hidden, layers, ffn)) - size), ROUGHLY * size)


def _twice(hidden: int, embedded: bool = False) -> Margin:
    """Two layers have twice the parameters of one, within a twentieth."""
    count = untied_parameters if embedded else non_embedding_parameters
    return at_most(abs(Fraction(count(toy(hidden, 2)), count(toy(hidden, 1))) - 2), ROUGHLY)


def _with_shift(shape: Shape, shifted: bool) -> int:
    return untied_parameters(shape) + (shift_parameters(shape) if shifted else 0)


def _totals_differ(hidden: int, kv_heads: int, shifted: bool = True) -> Margin:
    shape = toy(hidden, 1)._replace(heads=kv_heads, kv_heads=kv_heads)
    return different(_with_shift(shape, False), _with_shift(shape, shifted))


def _totals_part_by(hidden: int, kv_heads: int, shifted: bool = True, each: int = 4) -> Margin:
    """The shift adds `each` scalars a key-value head, and less than a ten-thousandth of the total."""
    shape = toy(hidden, 1)._replace(heads=kv_heads, kv_heads=kv_heads)
    plain = _with_shift(shape, False)
    added = _with_shift(shape, shifted) - plain
    return worst([same(each * kv_heads, added), at_most(10_000 * added, plain)])


def _rounds_to(hidden: int, layers: int, size: int, half: int) -> Margin:
    return at_most(abs(non_embedding_parameters(toy(hidden, layers)) - size), half)


def _head_splits(hidden: int, heads: int, rotary: int, plain: int) -> Margin:
    return same(Fraction(hidden, heads), Fraction(rotary + plain))


def _one_pass(steps: int, batch: int, corpus: int) -> Margin:
    return at_most(steps * batch, corpus)


def _fifth_of_a_billion(hidden: int, layers: int, vocab: int, tied: bool = False) -> Margin:
    count = tied_parameters if tied else untied_parameters
    return at_most(abs(count(toy(hidden, layers, vocab=vocab)) - 2 * 10**8), 5 * 10**7)


def _stays_in_the_unit_interval(window: int) -> Margin:
    """1 - (u_1 + ... + u_{window-1}) lies in [0, 1] for u at every corner of the unit cube, hence everywhere."""
    rests = [1 - sum(corner) for corner in product((0, 1), repeat=window - 1)]
    return worst([at_most(0, min(rests)), at_most(max(rests), 1)])


FIGURE_9 = [
    {"hidden": 1024, "layers": 4, "size": 50_000_000, "half": 500_000},
    {"hidden": 128, "layers": 2, "size": 400_000, "half": 50_000},
    {"hidden": 8, "layers": 1, "size": 800, "half": 50},
]

CLAIMS = (
    exact_claim(
        "kv.sec3.2.twenty_million",
        f"{BOTH}, Section 3.2, Various depth",
        "The toy models of hidden size 1024 have approximately 20M non-embedding parameters.",
        _about,
        [{"hidden": 1024, "layers": 1, "ffn": ffn, "millions": 20} for ffn in (4864, 5120, 5376)],
        (
            Control(
                "Llama's own FFN width, one and two layers",
                points=[{"hidden": 1024, "layers": n, "ffn": llama_ffn(1024), "millions": 20} for n in (1, 2)],
            ),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("one layer", "an FFN width within 5 % of 5 x 1024"),
        note="Missing: an FFN of width about 5 x 1024 in one layer. With Llama's own 2816 one has 12.8M, two 25.7M.",
        reading="Some size that the architecture allows has about 20M; the depth and the FFN width are not given.",
        severity=Severity.READING,
        coverage=everywhere("The count is affine in the FFN width, and both ends of its range are computed."),
    ),
    exact_claim(
        "kv.fig1.twice.depth",
        f"{BOTH}, Figure 1a, caption",
        "The vanilla model of two layers has twice the parameters of the models of one layer (hidden size 1024).",
        _twice,
        ({"hidden": 1024},),
        (Control("embeddings of 8000 tokens counted", lambda hidden: _twice(hidden, embedded=True)),),
        reading=LAYERS_COUNTED,
        note="With the embeddings of the 8000 tokens the ratio is 1.43.",
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.fig1.twice.width",
        f"{BOTH}, Figure 1b, caption",
        "The two-layer vanilla model has two times the parameters of the one-layer KV-shifting model (hidden size 8).",
        _twice,
        ({"hidden": 8},),
        (Control("embeddings of 8000 tokens counted", lambda hidden: _twice(hidden, embedded=True)),),
        reading=LAYERS_COUNTED,
        note="With the embeddings of the 8000 tokens the ratio is 1.006.",
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.fig1.same_total",
        f"{BOTH}, Figure 1a, caption",
        "Vanilla and KV-shifting models of one layer have the same total number of parameters.",
        _totals_part_by,
        ({"hidden": 8, "kv_heads": 1}, {"hidden": 1024, "kv_heads": 8}, {"hidden": 1024, "kv_heads": 16}),
        (
            Control("no shift", lambda hidden, kv_heads: _totals_part_by(hidden, kv_heads, shifted=False)),
            Control("8 scalars a head", lambda hidden, kv_heads: _totals_part_by(hidden, kv_heads, each=8)),
        ),
        scope="the difference is 4 scalars a key-value head, less than 1/10,000 of the total",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS_IF,
        hypotheses=("the 4 h scalars of Section 2.2 are not counted",),
        reading="The same but for the 4 h scalars that Section 2.2 adds and counts itself.",
        severity=Severity.READING,
        note="Missing: the 4 scalars a key-value head (kv.fig1.same_total.scalars).",
        formula=r"P_{\mathrm{KVSA}}-4h_1=P_{\mathrm{vanilla}}",
        coverage=INSTANCES,
    ),
    exact_claim(
        "kv.fig1.same_total.scalars",
        f"{BOTH}, Figure 1a, caption, our addition",
        "The totals are not the same to the last parameter: the shift adds 4 scalars a key-value head.",
        _totals_differ,
        ({"hidden": 8, "kv_heads": 1}, {"hidden": 1024, "kv_heads": 8}),
        (Control("no shift", lambda hidden, kv_heads: _totals_differ(hidden, kv_heads, shifted=False)),),
        nature=Nature.MATHEMATICAL,
        is_correction=True,
        formula=r"P_{\mathrm{KVSA}}-P_{\mathrm{vanilla}}=4h_1",
        coverage=INSTANCES,
    ),
    exact_claim(
        "kv.fig9.sizes",
        "KV shifting (final), Figure 9 (first version: Figure 3), caption",
        "The models have 50M parameters with 4 layers, 0.4M with 2 and 0.8K with 1.",
        _rounds_to,
        FIGURE_9,
        (
            Control("twice the hidden size", lambda hidden, **p: _rounds_to(2 * hidden, **p)),
            Control("one layer more", lambda layers, **p: _rounds_to(layers=layers + 1, **p)),
        ),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("hidden sizes 1024, 128 and 8", "an FFN of 8/3 of them", "embeddings are not counted"),
        note="Missing: the hidden sizes. Without embeddings 12 h^2 + 2 h a layer fits all at h = 1024, 128 and 8.",
        reading="Some hidden sizes that the architecture allows have these counts; they are not given.",
        severity=Severity.READING,
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.appH.fineweb",
        f"{FINAL}, Appendix H",
        "5100 steps of 0.5M tokens are a sample of fineweb10B (2.55 or, with M = 2^20, 2.67 of its 10 billion tokens).",
        _one_pass,
        [{"steps": 5100, "batch": batch, "corpus": 10**10} for batch in (500_000, 2**19)],
        (Control("batches of 2M", points=({"steps": 5100, "batch": 2_000_000, "corpus": 10**10},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.appH.size",
        f"{FINAL}, Appendix H, with the hidden size 768 of Appendix J",
        "The model has 0.2B parameters.",
        _fifth_of_a_billion,
        ({"hidden": 768, "layers": 12, "vocab": 50_304},),
        (Control("tied embeddings", lambda **p: _fifth_of_a_billion(**p, tied=True)),),
        verdict=Verdict.HOLDS_IF,
        hypotheses=("12 layers of 12 h^2 parameters", "50,304 tokens", "untied embeddings"),
        note="Missing: depth, vocabulary, untied embeddings. 12 layers and 50,304 tokens make 0.16B, or 0.12B if tied.",
        reading="Some depth and vocabulary that fit the given hidden size have about 0.2B; they are not given.",
        severity=Severity.READING,
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.appJ.head",
        f"{FINAL}, Appendix J",
        "32 dimensions with RoPE and 32 without make up the head dimension 64 of hidden size 768 with 12 heads.",
        _head_splits,
        ({"hidden": 768, "heads": 12, "rotary": 32, "plain": 32},),
        (Control("64 without RoPE", points=({"hidden": 768, "heads": 12, "rotary": 32, "plain": 64},)),),
        coverage=ENUMERATED,
    ),
    exact_claim(
        "kv.appF.initial_range",
        "KV shifting (final), Appendix F.1 (first version: Section 4.6)",
        "At initialisation alpha1, alpha2, beta1 and beta2 are all between 0 and 1.",
        _stays_in_the_unit_interval,
        ({"window": 2},),
        (Control("the longer windows of footnote 10", points=({"window": 3}, {"window": 4})),),
        scope="1 - u at the ends of its interval, being affine in u",
        nature=Nature.MATHEMATICAL,
        formula=r"0\le\alpha_1,\alpha_2,\beta_1,\beta_2\le1",
        coverage=everywhere("A coefficient is u or 1 - u, affine in one draw u, and both ends of (0, 1) are computed."),
    ),
)
