"""What token dropping loses, what a fused kernel gives, what is trained: sentences that can be proved or counted."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, close, different, identity, same, worst
from proofs_check.evidence.tolerances import KERNEL
from proofs_check.ledger.claim import (
    ENUMERATED,
    INSTANCES,
    SAMPLES,
    WITNESSED,
    Claim,
    Control,
    Effort,
    Nature,
    Severity,
    Verdict,
    everywhere,
)
from proofs_check.ledger.exact_claim import exact_claim
from proofs_check.ledger.mathematical import ONCE, exact, mathematical, sampled, symbolic
from proofs_check.razor.cache.compensation_heads import symbolic_head
from proofs_check.razor.cache.truncation import leave_one_out, output_split

SWAPPED = {"first": (1, 0, 2), "second": (0, 1, 2), "values": (5, 5, 1)}
NAMED, IN_TABLE_3 = ("Baichuan", "Llama2", "Llama3", "Qwen"), ("Baichuan", "Llama3", "Qwen")


def singled_out(power: int = 1) -> Margin:
    """A key D above N - 1 others of one logit weighs 1/(1 + (N - 1) e^{-D}), which tends to 1 in D."""
    wide, number = sp.symbols("D N", positive=True)
    weight = sp.exp(wide) / (sp.exp(wide) + number - 1)
    form = 1 / (1 + (number - 1) * sp.exp(-power * wide))
    return worst([identity(weight, form), identity(sp.limit(weight, wide, sp.oo), 1)])


def something_lost(kept_all: bool = False) -> Margin:
    """Values 1 on the dropped and 0 on all kept tokens: the output was T and is 0; T is positive, free weights."""
    h = symbolic_head()
    mass = h.mass.subs(sp.Symbol("Z_D", positive=True), 0) if kept_all else h.mass
    lost = identity((h.full - h.kept).subs({h.dropped_mean: 1, h.kept: 0}), h.mass)
    return worst([lost, same(bool(sp.sympify(mass).is_positive), True)])


def undetermined(first: Sequence[int], second: Sequence[int], values: Sequence[int]) -> Margin:
    """Two rows of logits (times ln 2) with one output and one log-sum-exp, whose weights differ: what a fused kernel
    returns does not give the weights back. Rationals."""
    rows = [[Fraction(2) ** s for s in row] for row in (first, second)]
    totals = [sum(row) for row in rows]
    outputs = [sum(w * v for w, v in zip(row, values, strict=True)) / t for row, t in zip(rows, totals, strict=True)]
    agree = same((outputs[0], totals[0]), (outputs[1], totals[1]))
    weights = [tuple(w / t for w in row) for row, t in zip(rows, totals, strict=True)]
    return agree if agree.value < 0 else different(*weights)


def in_blocks(tokens: int, block: int, passes: int = 2) -> Margin:
    """Column sums of causal attention, logits whole multiples of ln 2: from the normalisers of a first pass, block by
    block, against whole rows. With one pass each block has its own normaliser."""
    rng = np.random.default_rng(tokens)
    powers = [[Fraction(2) ** int(rng.integers(-3, 4)) for _ in range(row + 1)] for row in range(tokens)]
    whole = [sum((row[j] / sum(row) for row in powers if len(row) > j), Fraction(0)) for j in range(tokens)]
    sums = [Fraction(0)] * tokens
    for start in range(0, tokens, block):
        for row in powers:
            part = row[start : start + block]
            total = sum(row) if passes == 2 else sum(part)
            for j, power in enumerate(part, start):
                sums[j] += power / total
    return same(tuple(sums), tuple(whole))


def fused(seed: int, count_token: bool = True) -> Margin:
    """The last query of a random compressed cache by torch's fused attention, which returns no weights, with ln N_d as
    one more coordinate of khat; against the written-out computation, float64."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    from dynamics.razor.masked import MaskedAttention
    from dynamics.razor.plan import RazorPlan

    rng = np.random.default_rng(seed)
    length, width, sinks, window = 30, 4, int(rng.integers(0, 4)), int(rng.integers(3, 9))
    plan = RazorPlan(2, 2, (frozenset({0}),), sinks=sinks, buffer=window, share=Fraction(0), compensation="mean")
    tokens = [torch.from_numpy(rng.standard_normal((1, 2, length, width))) for _ in range(3)]
    wanted = MaskedAttention(plan)(0, *tokens, scale=0.5, slopes=None)[0, :, -1]
    found = []
    for head, (query, *rows) in enumerate(zip(*(part[0] for part in tokens), strict=True)):
        extra = torch.zeros(length)
        if head not in plan.full[0]:
            ends = length - window
            rows = [torch.cat([x[:sinks], x[ends:], x[sinks:ends].mean(0, keepdim=True)]) for x in rows]
            extra = torch.zeros(sinks + window + 1).double()
            extra[-1] = np.log(ends - sinks) if count_token else 0.0
        asked, keys = torch.cat([0.5 * query[-1:], torch.ones(1, 1)], 1), torch.cat([rows[0], extra[:, None]], 1)
        values = torch.cat([rows[1], torch.zeros(len(extra), 1)], 1)
        found.append(scaled_dot_product_attention(*(x.double()[None] for x in (asked, keys, values)), scale=1.0)[0, 0])
    return close(torch.stack(found)[:, :width].numpy(), wanted.numpy(), KERNEL)


def solved(sign: int = 1) -> Margin:
    """B - l n - ln eps = -l (n - (B - ln eps)/l), l > 0: one is at most 0 where the other factor is at least 0."""
    slope, bound, n, eps = sp.symbols("l B n eps", positive=True)
    return identity(bound - slope * n - sp.log(eps), -slope * (n - (bound - sign * sp.log(eps)) / slope))


def parameters_of(norm: str) -> Margin:
    """torch's norm of that name has a gain and nothing else."""
    import torch

    module = getattr(torch.nn, norm)(8)
    return same(tuple(name for name, _ in module.named_parameters()), ("weight",))


def weights_stay(seed: int, train: bool = False) -> Margin:
    """Scores of all heads and a decoding with the Razor cache leave every parameter as it was, bit for bit, and ask for
    no gradient; with `train` one step of gradient descent is taken in between."""
    import torch

    from dynamics.heads.scores import head_scores
    from dynamics.model.attention_function import replaced
    from dynamics.model.config import ModelConfig
    from dynamics.model.decoder import InductionModel
    from dynamics.razor.cache import RazorCache
    from dynamics.razor.plan import RazorPlan

    config = ModelConfig(vocab=24, width=16, n_heads=4, n_layers=2, position=("rope", "alibi", "none")[seed % 3])
    model = InductionModel(config, torch.Generator().manual_seed(seed))

    def stored() -> list[bytes]:
        return [p.detach().numpy().tobytes() for p in model.state_dict().values()]

    before = stored()
    head_scores(model, k=8, repeats=2, seed=seed)
    plan = RazorPlan(4, 4, (frozenset({0}), frozenset()), sinks=1, buffer=4, share=Fraction(0))
    with torch.no_grad(), replaced(model, RazorCache(plan)):
        model(torch.arange(20)[None] % 24)
    if train:
        model(torch.arange(20)[None] % 24).sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
    asked = sum(p.grad is not None for p in model.parameters())
    return worst([same(stored() == before, True), same(asked, 0)])


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.abstract.erases",
        "RazorAttention, Abstract and Section 1",
        "Dropping a token irreversibly takes what later queries may need.",
        symbolic(
            "the weight of one key D above N - 1 others, every N and D; the change of the output, any other tokens",
            lambda: worst([singled_out(), leave_one_out()]),
            ONCE,
            Control("e^{-2D}", lambda: singled_out(power=2)),
            Control("a for a/(1 - a)", lambda: leave_one_out(plain=True)),
        ),
        reading="In the heads that drop it: a query that singles it out by a logit D gives it 1/(1 + (N - 1)e^{-D}), "
        "and without it the output moves by a/(1 - a) ||v - o||.",
        coverage=everywhere("Number of tokens, logits, weights and values are free."),
        formula=r"a=\frac{1}{1+(N-1)e^{-D}},\quad\|o_{-j}-o\|=\frac{a}{1-a}\|v_j-o\|",
        note="The same holds of what the cut heads of RazorAttention drop.",
    ),
    mathematical(
        "razor.sec1.assumption",
        "RazorAttention, Section 1",
        "Methods that drop tokens inherently assume that no later query needs them.",
        symbolic(
            "o - o_K = T (vbar - o_K), any number of tokens; T > 0 and seen by values 1 on dropped, 0 on kept tokens",
            lambda: worst([output_split(), something_lost()]),
            ONCE,
            Control("nothing dropped", lambda: something_lost(kept_all=True)),
        ),
        reading="Attention without them is full attention, for all values, only if their weight is zero, which a "
        "softmax gives to none.",
        coverage=everywhere("Sums over any number of dropped and kept tokens are free."),
        formula=r"o=o_K\ \forall V\iff T=0",
    ),
    mathematical(
        "razor.sec4.2.inevitable",
        "RazorAttention, Sections 4.2 and 5",
        "Methods that drop by importance cannot but lose what a later query may want.",
        symbolic(
            "values 1 on the dropped and 0 on the kept tokens: T > 0 is lost, any weights and numbers",
            something_lost,
            ONCE,
            Control("nothing dropped", lambda: something_lost(kept_all=True)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="Head by head: whatever a head drops, there are values for which its output moves.",
        coverage=everywhere("Sums over any number of dropped and kept tokens are free."),
        formula=r"D\ne\emptyset\Rightarrow\exists V:\ o\ne o_K",
        note="In each head. In the model as a whole another head may still hold the token: razor.reading.evicted.",
    ),
    mathematical(
        "razor.sec1.incompatible",
        "RazorAttention, Section 1, and Figure 4",
        "Importance scores made of attention weights cannot be had from FlashAttention.",
        exact(
            "two rows of three logits, one output and one log-sum-exp, other weights; rationals",
            undetermined,
            (SWAPPED,),
            Control("values that differ", None, ({**SWAPPED, "values": (5, 4, 1)},)),
            Control("the same row twice", None, ({**SWAPPED, "second": (1, 0, 2)},)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="The kernel as it is, in the one call that computes the layer's output: that and the log-sum-exp, "
        "which it returns, do not determine the weights.",
        coverage=WITNESSED,
        formula=r"(o,\log Z)\text{ does not determine }a_1,\dots,a_N",
        note="With a second pass the scores can be had, without any N x N matrix: razor.sec1.incompatible.blocks.",
    ),
    mathematical(
        "razor.sec1.incompatible.blocks",
        "RazorAttention, Section 1, and Figure 4, added",
        "Column sums of attention, the scores of H2O, need no N x N matrix: a second pass over blocks of keys with the "
        "log-sum-exp that a fused kernel returns gives them exactly.",
        exact(
            "causal rows of 8, 24 and 40 tokens in blocks, rationals",
            in_blocks,
            ({"tokens": 8, "block": 3}, {"tokens": 24, "block": 5}, {"tokens": 40, "block": 16}),
            Control("one pass, each block normalised by itself", lambda **p: in_blocks(**p, passes=1)),
        ),
        coverage=everywhere(
            "A weight is its own exponential over the row's normaliser, so the second pass adds the same terms in any "
            "division into blocks; three sizes are computed."
        ),
        is_correction=True,
        formula=r"\sum_i a_{ij}=\sum_i e^{s_{ij}-\log Z_i}",
        note="It costs the products of queries and keys once more.",
    ),
    mathematical(
        "razor.sec1.metric",
        "RazorAttention, Section 1",
        "RazorAttention does not use the attention map as its metric.",
        sampled(
            "random caches with a whole and a cut head: torch's fused attention against the written-out one",
            fused,
            lambda effort: [{"seed": s} for s in range(12 if effort is Effort.QUICK else 200)],
            Control("the token without ln N_d", lambda seed: fused(seed, count_token=False)),
        ),
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="While it runs, on a kernel that returns no weights; which heads are whole is found once, beforehand.",
        coverage=SAMPLES,
        formula=r"\mathrm{softmax}\left((q,1)[K,0;\hat k,\ln N_d]^T\right)[V;\hat v]",
        note="The heads are chosen by their attention on repeated random tokens: razor.heads.scores.",
    ),
    exact_claim(
        "razor.eq1.causal",
        "RazorAttention, Section 3.1, below Eq. 1",
        "m >= n is guaranteed by the casualty of attention.",
        lambda word: same(word, "causality"),
        ({"word": "causality"},),
        (Control("as printed", points=({"word": "casualty"},)),),
        scope="the word",
        nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO,
        severity=Severity.MISPRINT,
        coverage=ENUMERATED,
        note="Causality: the causal mask leaves no n > m.",
    ),
    exact_claim(
        "razor.thm1.rms_bias",
        "RazorAttention, Section 3.1, Theorem 1",
        "b = 0 for RMSNorm.",
        parameters_of,
        ({"norm": "RMSNorm"},),
        (Control("LayerNorm", points=({"norm": "LayerNorm"},)),),
        scope="the parameters of torch's module",
        reading="RMSNorm as it is in use; a bias can be added to it.",
        coverage=INSTANCES,
    ),
    mathematical(
        "razor.appA.solve",
        "RazorAttention, Appendix A, last display",
        "||W_Q W_K||_2 (2 ||gamma||^2 + 2 ||b||^2) - l_h (m - n) <= log eps gives m - n >= the right side of Eq. 2.",
        symbolic(
            "solved for m - n, l_h > 0",
            solved,
            ONCE,
            Control("plus log eps", lambda: solved(sign=-1)),
        ),
        coverage=everywhere("Bound, slope, distance and eps are free."),
        formula=r"B-l_h(m-n)\le\log\epsilon\iff m-n\ge\frac{B-\log\epsilon}{l_h}",
    ),
    exact_claim(
        "razor.sec1.models",
        "RazorAttention, Sections 1 and 4",
        "It was evaluated on models including Qwen, Llama-2, Llama-3 and Baichuan, on long-context tasks.",
        lambda named, tables, figures: same(tuple(sorted({*tables, *figures} & set(named))), named),
        ({"named": NAMED, "tables": IN_TABLE_3, "figures": ("GLM", "Llama2", "Qwen")},),
        (Control("Table 3 alone", points=({"named": NAMED, "tables": IN_TABLE_3, "figures": ()},)),),
        scope="the models of Table 3 and of the captions of Figures 1, 2, 4 to 6 and Table 4",
        nature=Nature.TEXTUAL,
        coverage=ENUMERATED,
        note="GLM-9B-1M, of Figure 6, is in neither list.",
    ),
    exact_claim(
        "razor.abstract.training_free",
        "RazorAttention, Abstract and Section 1",
        "RazorAttention is training-free and plug-and-play: the original model is not retrained.",
        weights_stay,
        tuple({"seed": seed} for seed in range(6)),
        (Control("a step of gradient descent", lambda seed: weights_stay(seed, train=True)),),
        scope="random models with RoPE, ALiBi and no positions: every parameter bit for bit, no gradient asked for",
        nature=Nature.TEXTUAL,
        reading="Weights are neither trained nor changed; the attention call and the cache are replaced.",
        coverage=INSTANCES,
    ),
)
