"""Tables 1 and 16 and Section 4.1: what the models are called, and how many parameters they have."""

from collections.abc import Callable
from fractions import Fraction

from proofs_check.claim import Control, Nature, Verdict
from proofs_check.kv.configuration_data import (
    FROM_SCRATCH,
    LLAMA_VOCABULARY,
    PRINTED_LLAMA_VOCABULARY,
    SIZES,
    TABLE_16,
    TEXT_NAMES,
)
from proofs_check.kv.exact_claim import BOTH, exact_claim
from proofs_check.margin import Margin, at_most, different, less, same
from theory.parameters import Shape, non_embedding_parameters, shift_parameters, tied_parameters, untied_parameters

CONVENTIONS: dict[str, Callable[[Shape], int]] = {
    "untied": untied_parameters,
    "tied": tied_parameters,
    "non-embedding": non_embedding_parameters,
}
TABLE = f"{BOTH}, Table 16 (first version: Table 6)"
SECTION = f"{BOTH}, Section 4.1"
EACH = [{"size": size} for size in SIZES]
MULTI_HEAD = tuple(size for size in SIZES if size not in FROM_SCRATCH)


def shape_of(size: str, vocab: int | None = None) -> Shape:
    """The shape that Table 16 gives for a model, with another vocabulary if one is given."""
    row = TABLE_16[size]
    return Shape(*(row[name] for name in Shape._fields))._replace(**({} if vocab is None else {"vocab": vocab}))


def _off_the_name(name: str, count: int) -> Fraction:
    """|count - name| in units of half the name's last digit: at most 1 where the count rounds to the name."""
    number = name.rstrip("B")
    places = len(number.partition(".")[2])
    return abs(Fraction(count, 10**9) - Fraction(number)) * 2 * 10**places


def _name_fits(size: str, convention: str, vocab: int | None = None) -> Margin:
    return at_most(_off_the_name(size, CONVENTIONS[convention](shape_of(size, vocab))), 1)


def _name_does_not_fit(name: str, size: str, convention: str) -> Margin:
    return less(1, _off_the_name(name, CONVENTIONS[convention](shape_of(size))))


def _named(name: str, size: str) -> dict[str, str]:
    return {"name": name, "size": size, "convention": "untied"}


def _llama_vocabulary_name_fits(size: str, vocab: int = LLAMA_VOCABULARY) -> Margin:
    """The untied total rounds to the name once the multi-head models have the given vocabulary."""
    return _name_fits(size, "untied", vocab if size in MULTI_HEAD else None)


def _extra_scalars(size: str, extra: int) -> Margin:
    return same(extra, shift_parameters(shape_of(size)))


def _grouped(size: str, vocab: int, grouped: bool) -> Margin:
    row = TABLE_16[size]
    return same((vocab, grouped), (row["vocab"], row["kv_heads"] < row["heads"]))


def _over_ten_billion(size: str) -> Margin:
    return less(10**10, min(count(shape_of(size)) for count in CONVENTIONS.values()))


CLAIMS = (
    exact_claim(
        "kv.tab16.names",
        f"{TABLE}, with the footnote that sizes are total parameters",
        "The models' names are their total parameters: they round to 1.5, 2.9, 6.7, 13 and 19 billion.",
        _name_does_not_fit,
        [_named(size, size) for size in ("1.5B", "6.7B")],
        (Control("the three other models", points=[_named(size, size) for size in ("2.9B", "13B", "19B")]),),
        scope="untied totals with the printed vocabulary, the two models that fail: off by more than half of the last "
        "digit (the unit of the counterexample)",
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.FALSE,
        witness=_named("6.7B", "6.7B"),
        correction="kv.tab16.names.corrected",
        note="With the printed 36,000 tokens the totals are 1.564 and 6.771 billion; with Llama's 32,000 all fit.",
        formula=r"P\approx(1.5,\ 2.9,\ 6.7,\ 13,\ 19)\cdot10^9,\quad V=36000,48000",
    ),
    exact_claim(
        "kv.tab16.names.corrected",
        f"{TABLE}, corrected",
        "With a vocabulary of 32,000 for the three multi-head models all five untied totals round to the names.",
        _llama_vocabulary_name_fits,
        EACH,
        (
            Control("36,000", lambda size: _llama_vocabulary_name_fits(size, PRINTED_LLAMA_VOCABULARY)),
            Control("tied", lambda size: _name_fits(size, "tied", LLAMA_VOCABULARY)),
            Control("without embeddings", lambda size: _name_fits(size, "non-embedding")),
        ),
        nature=Nature.MATHEMATICAL,
        is_correction=True,
        formula=r"P\approx(1.5,\ 2.9,\ 6.7,\ 13,\ 19)\cdot10^9,\quad V=32000,48000",
    ),
    exact_claim(
        "kv.sec4.1.names",
        f"{SECTION}, Hyperparameters",
        "The models are of 1.4B, 3B and 7B parameters (Table 16 calls them 1.5B, 2.9B and 6.7B).",
        _name_does_not_fit,
        (_named(TEXT_NAMES[0], SIZES[0]),),
        (Control("the four other names", points=[_named(n, s) for n, s in zip(TEXT_NAMES, SIZES, strict=True)][1:]),),
        scope="untied totals, off by more than half of the last digit (the unit of the counterexample)",
        verdict=Verdict.FALSE,
        witness=_named(TEXT_NAMES[0], SIZES[0]),
        note="1.4B is the 1.5B model without its embeddings (1.417 billion); its total is 1.56 billion.",
    ),
    exact_claim(
        "kv.sec1.ten_billion",
        f"{BOTH}, Abstract",
        "Pre-trained models of over 10 billion parameters are among the experiments.",
        _over_ten_billion,
        ({"size": "13B"}, {"size": "19B"}),
        (Control("the 6.7B model", points=({"size": "6.7B"},)),),
    ),
    exact_claim(
        "kv.fn1.extra_parameters",
        f"{BOTH}, footnote 1, for the models of Table 16",
        "The shift adds 4 h_1 scalars a layer, h_1 the number of KV heads: 1792, 512, 4096, 6400 and 768 in all.",
        _extra_scalars,
        [{"size": s, "extra": e} for s, e in zip(SIZES, (1792, 512, 4096, 6400, 768), strict=True)],
        (
            Control(
                "4 h, by query heads",
                lambda size, extra: same(extra, 4 * TABLE_16[size]["heads"] * TABLE_16[size]["layers"]),
            ),
        ),
        nature=Nature.MATHEMATICAL,
        formula="4h_1",
    ),
    exact_claim(
        "kv.sec4.1.vocabulary",
        f"{SECTION}, Model Configuration",
        "Llama's original vocabulary has 36,000 tokens.",
        lambda printed: different(printed, LLAMA_VOCABULARY),
        ({"printed": PRINTED_LLAMA_VOCABULARY},),
        (Control("32,000", points=({"printed": 32_000},)),),
        nature=Nature.TEXTUAL,
        verdict=Verdict.FALSE,
        witness={"printed": PRINTED_LLAMA_VOCABULARY},
        note="It has 32,000 (Touvron et al., 2023, the paper's own reference); so would the models' names suggest.",
    ),
    exact_claim(
        "kv.sec4.1.grouped",
        f"{SECTION}, Model Configuration",
        "The two models trained from scratch use GQA and 48,000 tokens, the three others MHA and 36,000.",
        _grouped,
        [{"size": s, "vocab": 48000 if s in FROM_SCRATCH else 36000, "grouped": s in FROM_SCRATCH} for s in SIZES],
        (Control("GQA everywhere", points=({"size": "13B", "vocab": 36000, "grouped": True},)),),
    ),
)
