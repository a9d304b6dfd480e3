"""Cache sizes that RazorAttention states, against its own Table 2."""


from proofs_check.ledger.claim import (
    ENUMERATED,
    Claim,
    Control,
    Nature,
    Severity,
    Verdict,
    everywhere,
)
from proofs_check.ledger.mathematical import exact, mathematical
from proofs_check.razor.cache import truncation_size_checks as c

TABLE2 = "RazorAttention, Table 2"
LONG = tuple({"length": n} for n in (20_000, 32_768, 64_000, 100_000, 1_048_576))
ALL_LENGTHS = tuple({"length": n} for n in (*range(1000, 30_000, 250), 32_768, 64_000, 100_000, 1_048_576))
RANGE = tuple({"length": n} for n in (8000, 8192, 16_000, 32_768, 65_536, 100_000, 102_400))


CLAIMS: tuple[Claim, ...] = (
    mathematical(
        "razor.tab2.ratio",
        TABLE2,
        "The settings of Table 2 (15 % of the heads, a buffer of max(4000, N/5)) lead to 3.125x compression.",
        exact(
            "100 heads counted at five lengths from 20000 on",
            c.ratio_is,
            LONG,
            Control("N = 19999", None, ({"length": 19_999},)),
            Control("four sinks and a compensation token a head", lambda length: c.ratio_is(length, extra=5)),
        ),
        nature=Nature.TABLE,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="Long context is 20000 tokens or more; each head has a cache of its own; sinks and tokens do not "
        "count.",
        coverage=everywhere(
            "From N = 20000 on the buffer is N/5 and N cancels; five lengths are counted head by head."
        ),
        note="N >= 20000, a cache for each head (no groups), sinks and compensation tokens not counted.",
        formula=r"\frac{1}{0.15+0.85/5}=3.125",
    ),
    mathematical(
        "razor.abstract.reduction", "RazorAttention, Abstract",
        nature=Nature.TABLE,
        reading="With the settings of Table 2, which hold unless another is stated.",
        verdict=Verdict.FALSE,
        severity=Severity.ARITHMETIC,
        correction="razor.abstract.reduction.corrected",
        note="At most 68 %; 70 % would need at most 12.5 % of the heads protected. In words: The KV cache shrinks by "
        "over 70 %.",
    ),
    mathematical(
        "razor.abstract.reduction.corrected",
        "RazorAttention, Abstract and Table 2, corrected",
        "From N = 4000 on the reduction is (17/20)(1 - max(4000/N, 1/5)), before it is 0: at most 68 %, reached from N "
        "= 20000 on; 42.5 % at 8000, 51 % at 10000 and 63.75 % at 16000 tokens.",
        nature=Nature.TABLE,
        is_correction=True,
        formula=r"\frac{17}{20}\left(1-\max\left(\frac{4000}{N},\frac15\right)\right),\quad N\ge4000",
    ),
    mathematical(
        "razor.sec1.range",
        "RazorAttention, Section 1, contributions",
        "RazorAttention is capable of reducing the KV cache by 70 % for contexts from 8K to 100K tokens.",
        exact(
            "counted at seven lengths, 8K and 100K read either way, with 15 % of the heads whole and N/6 tokens in the "
            "others",
            lambda length: c.reduction_at_least(length, least=0, part=6),
            RANGE,
            Control("Table 2's settings", c.reduction_at_least),
        ),
        nature=Nature.TABLE,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        coverage=everywhere("The share kept is the same at every length, where no least buffer is set."),
        reading="Of the size alone, and with some setting of the method, as \"capable of\" allows.",
        note="Other settings than those of Table 2, which give 42.5 % at 8000 tokens and 68 % at most "
        "(razor.abstract.reduction.corrected); none is printed. The impact on performance, which the sentence calls "
        "minimal, is razor.abstract.lossless.",
    ),
    mathematical(
        "razor.fig1.reduction",
        "RazorAttention, Figure 1, Sections 1 and 6",
        "70 % of the KV cache is compressed away, as at 64K tokens in Figure 1.",
        exact(
            "counted at 64000 and 65536 tokens: 68 %, which rounds to 70 in tens",
            c.reduction_in_tens,
            ({"length": 64_000}, {"length": 65_536}),
            Control("8000 tokens", None, ({"length": 8000},)),
            Control("30 % of the heads protected", lambda length: c.reduction_in_tens(length, full=30)),
        ),
        nature=Nature.TABLE,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.ARITHMETIC,
        coverage=ENUMERATED,
        reading="In tens of per cent, and 64K is 64000 or 65536.",
        note="68 % with the settings of Table 2; other settings are not stated.",
    ),
    mathematical(
        "razor.sec1.three", "RazorAttention, Sections 1, 4.1 and 5",
        nature=Nature.TABLE,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.ARITHMETIC,
        reading="With the settings of Table 2, and of RoPE and ALiBi models alike.",
        note="At least 18546 tokens (a cache for each head, sinks and compensation tokens not counted). In words: The "
        "KV cache shrinks 3 times.",
    ),
    mathematical(
        "razor.sec3.2.seventy",
        "RazorAttention, Section 3.2",
        "Even 70 % of the KV cache is dropped in the non-retrieval heads.",
        exact(
            "counted: at least 70 % at the first length where it is and at six longer ones; 80 % from N = 20000 on",
            c.dropped_at_least,
            tuple({"length": n} for n in (13_334, 16_000)) + LONG,
            Control("one token less", None, ({"length": 13_333},)),
        ),
        nature=Nature.TABLE,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.READING,
        reading="At least 70 % in those heads, with the settings of Table 2 and 13334 tokens or more.",
        coverage=everywhere("The share dropped does not fall with N: 13334 is the first length that has it."),
        note="At least 13334 tokens; no length gives 70 % itself: razor.sec3.2.seventy.never.",
    ),
    mathematical(
        "razor.sec3.2.seventy.never",
        "RazorAttention, Section 3.2, added",
        "With Table 2 a head without protection drops 70 % of its tokens at no length: 50 % at 8000, 80 % from 20000 "
        "on.",
        exact(
            "counted: never exactly 70 %, which 4000 / N = 3/10 reaches at no whole N",
            c.dropped_differs,
            (*ALL_LENGTHS, {"length": 13_333}, {"length": 13_334}),
            Control("a buffer of 3000 at 10000 tokens", lambda length: c.dropped_differs(10_000, least=3000)),
        ),
        nature=Nature.TABLE,
        coverage=everywhere("1 - 4000/N rises strictly up to 80 % and passes 70 % between two whole N."),
        is_correction=True,
    ),
    mathematical(
        "razor.tab2.gqa",
        "RazorAttention, Table 2 and Section 4.1",
        "The settings of Table 2, which lead to 3.125x compression, are those of Llama3-8B too, whose groups of 4 "
        "heads are kept whole if one head is a retrieval head.",
        exact(
            "80 heads in groups of 4, the 12 protected ones filling 3 groups",
            c.grouped_ratio,
            tuple({"length": n, "group": 4} for n in (20_000, 100_000)),
            Control("one protected head a group", lambda length, group: c.grouped_ratio(length, group, spread=True)),
        ),
        nature=Nature.TABLE,
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=everywhere("From N = 20000 on the ratio depends on the share of whole groups alone: 3 of 20 here."),
        note="The protected heads must fill whole groups; in general the ratio lies between 1.47 and 3.125.",
    ),
    mathematical(
        "razor.sec4.2.half",
        "RazorAttention, Sections 1 and 4.2",
        "With 31 % of the heads protected the cache of 1024K tokens shrinks by 50 %.",
        exact(
            "a cache for each head, 1024K read either way: 55.2 %",
            c.half,
            ({"length": 1_024_000}, {"length": 1_048_576}),
            Control("groups of 8, heads protected independently: 4.1 %", lambda length: c.half(length, group=8)),
            Control("groups of 2: 38 %", lambda length: c.half(length, group=2)),
        ),
        exact(
            "40 layers of 4 groups, 397 heads of 1280: half is saved with 60 whole groups, and they fit",
            c.half_in_groups,
            ({"groups": 160, "whole": 60, "chosen": 397, "group": 8},),
            Control("61 groups", None, ({"groups": 160, "whole": 61, "chosen": 397, "group": 8},)),
            Control("500 heads", None, ({"groups": 160, "whole": 60, "chosen": 500, "group": 8},)),
        ),
        nature=Nature.TABLE,
        defect="razor.tab2.gqa",
        verdict=Verdict.HOLDS_IF,
        severity=Severity.REPAIRABLE,
        coverage=ENUMERATED,
        note="Each head has its own cache, or the protected heads share groups: with the 4 groups of 8 heads that "
        "GLM-9B's public configuration has, its 397 protected heads must lie in at most 60 of 160 groups.",
    ),
)
