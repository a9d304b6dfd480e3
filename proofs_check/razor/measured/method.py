"""What token dropping loses, what a fused kernel gives, what is trained: sentences that can be proved or counted."""


from proofs_check.evidence.margin import same
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
from proofs_check.razor.cache import truncation_checks as t
from proofs_check.razor.formal.dropped_mass import RANGE
from proofs_check.razor.measured import method_checks as c
from proofs_check.razor.scope import mass_checks as m

SWAPPED = {"first": (1, 0, 2), "second": (0, 1, 2), "values": (5, 5, 1)}
NAMED, IN_TABLE_3 = ("Baichuan", "Llama2", "Llama3", "Qwen"), ("Baichuan", "Llama3", "Qwen")

CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.abstract.erases",
        "RazorAttention, Abstract and Section 1",
        "Dropping a token irreversibly takes what later queries may need.",
        symbolic(
            "the weight of one key D above N - 1 others, every N and D; the change of the output, any other tokens",
            lambda: c.worst([c.singled_out(), t.leave_one_out(0)]),
            ONCE,
            Control("e^{-2D}", lambda: c.singled_out(power=2)),
            Control("a for a/(1 - a)", lambda: t.leave_one_out(0, plain=True)),
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
            lambda: c.worst([t.output_split(0, 0), c.something_lost()]),
            ONCE,
            Control("nothing dropped", lambda: c.something_lost(kept_all=True)),
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
            c.something_lost,
            ONCE,
            Control("nothing dropped", lambda: c.something_lost(kept_all=True)),
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
            c.undetermined,
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
            c.in_blocks,
            ({"tokens": 8, "block": 3}, {"tokens": 24, "block": 5}, {"tokens": 40, "block": 16}),
            Control("one pass, each block normalised by itself", lambda **p: c.in_blocks(**p, passes=1)),
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
            c.fused,
            lambda effort: [{"seed": s} for s in range(12 if effort is Effort.QUICK else 200)],
            Control("the token without ln N_d", lambda seed: c.fused(seed, count_token=False)),
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
        c.parameters_of,
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
            c.solved,
            ONCE,
            Control("plus log eps", lambda: c.solved(sign=-1)),
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
        c.weights_stay,
        tuple({"seed": seed} for seed in range(6)),
        (Control("a step of gradient descent", lambda seed: c.weights_stay(seed, train=True)),),
        scope="random models with RoPE, ALiBi and no positions: every parameter bit for bit, no gradient asked for",
        nature=Nature.TEXTUAL,
        reading="Weights are neither trained nor changed; the attention call and the cache are replaced.",
        coverage=INSTANCES,
    ),
    mathematical(
        "razor.sec3.1.adjusts",
        "RazorAttention, Section 3.1",
        "So ALiBi models adjust the cache size per head: a head keeps its recent L_h tokens.",
        exact(
            "one head at slope 1/256 and at 2 to 128 times it, everything else alike, in balls",
            c.proportional,
            tuple({"factor": 2**n} for n in range(1, 8)),
            Control("its square", lambda factor: c.proportional(factor, power=2)),
        ),
        reading="The rule by which the cache is to be cut: L_h is inversely proportional to the slope. What it keeps "
        "of a given context is another matter.",
        coverage=everywhere("The slope is Eq. 2's denominator and stands nowhere else in it."),
        formula=r"l_hL_h=2\|W_QW_K\|_2(\|\gamma\|^2+\|b\|^2)-\log\epsilon",
        note="In every model measured here L_h exceeds the context, and nothing is dropped: "
        "razor.trained.printed_scope.",
    ),
    mathematical(
        "razor.sec3.1.larger_scope",
        "RazorAttention, Section 3.1",
        "Retrieval heads are those with a larger L_h.",
        symbolic(
            "the mass beyond (D + t - ln eps)/l for every eps, D and t >= 0",
            m.with_room,
            ONCE,
            Control("a numerator below the range", lambda: m.with_room(printed=True)),
        ),
        exact(
            "three heads whose numerator is D, their worst context beyond the printed L_h, in balls",
            m.beyond_printed,
            m.INSIDE,
            Control("a head for which Theorem 1 fails", points=(m.FAILING,)),
        ),
        defect="razor.sec3.1.discard",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        reading="As a necessity: what lies beyond L_h gets less than eps from a head, so that to retrieve from afar "
        "takes a large L_h. As a name for such heads it cannot be wrong.",
        coverage=everywhere("As razor.sec3.1.discard: every slope, range, eps and numerator at least D."),
        formula=r"m-n>L_h\Rightarrow a_{m\to n}<\epsilon",
        note=RANGE + ". The converse fails: the largest L_h do not name the heads that retrieve, "
        "razor.reading.scope_rank.",
    ),
)
