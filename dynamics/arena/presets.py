"""The arenas by name: all models on equal parameters, plans fixed before anything ran.

Pilots, on seeds that no plan uses (vanilla, width 48, one seed, 400 steps): of the rates 3e-3, 6e-3, 1.2e-2 and 2.4e-2
the third has the lowest loss. At 1.2e-2 differences of two models spread by 0.9 to 1.8 % of the loss from seed to seed,
at 5e-3 by 0.6 % (six seeds, 300 steps, resformer and gqa against vanilla): the plans train at 6e-3, which costs every
model the same way and needs a third of the seeds. `POWER` is what that spread and x = 1 % give.

Changed after a first run: the two differential variants had four heads, where their paper has half as many as the
Transformer; they were trained anew with two. Two sentences that no run here bears on were taken out (nothing has
converged; ResFormer's lambda is another plan's). All else, the comparisons and their shares stand as before.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from dynamics.arena.budget import matched
from dynamics.arena.plan import ArenaPlan, Comparison, Entry
from dynamics.arena.record import PackedTraining
from dynamics.arena.variants import BASELINE, VARIANTS
from dynamics.model.config import ONE_KEY_ONE_VALUE, Borrowed, Latent, ModelConfig, Neutreno, Residual, Shared, Values
from dynamics.model.sizes import parameters
from dynamics.statistics.rule import Rule
from dynamics.tasks.packed import VOCAB

SMALLEST = 0.01  # of the loss
ERROR = 0.05
CENTRAL = ("kv-shift", "resformer")
WIDTHS, MIDDLE = (32, 48, 64), 48
CENTRAL_SEEDS, LEAGUE_SEEDS, LEAK_SEEDS = (20, 24), (8, 12), (10, 14)
CENTRAL_SHARE = 0.05  # of the error, each; the rest goes to all others in equal parts
SPREAD = 0.006  # of a difference from seed to seed, in the pilots
# Simulated (`dynamics.statistics.power`), by effect: how often the rule says "better by at least x", "better" at all,
# "no difference larger than x".
POWER: Mapping[str, Mapping[float, tuple[float, float, float]]] = {
    "central": {0.0: (0.0, 0.0, 0.998), 0.005: (0.0, 0.29, 0.35), 0.01: (0.0, 0.998, 0.0), 0.02: (0.998, 1.0, 0.0)},
    "league": {0.0: (0.0, 0.0, 0.17), 0.005: (0.0, 0.02, 0.02), 0.01: (0.0, 0.35, 0.0), 0.02: (0.35, 1.0, 0.0)},
    "leak": {0.0: (0.0, 0.0, 0.34), 0.005: (0.0, 0.03, 0.02), 0.01: (0.0, 0.55, 0.0), 0.02: (0.55, 1.0, 0.0)},
}
TRAINING = {"steps": 300, "rows": 8, "learning_rate": 6e-3, "scores": 3, "heldout_rows": 192}


class Pair(NamedTuple):
    """A comparison of two variants that no league of all against the baseline has, and whose sentences it bears on."""

    variant: str
    baseline: str
    sentences: tuple[str, ...]


PAIRS = (
    Pair("resformer", "neutreno", ("resformer.abstract.outperforms",)),
    Pair("resformer", "denseformer", ("resformer.abstract.outperforms",)),
    Pair("resformer", "cross-layer", ("resformer.fig10.mappings",)),
    Pair("svformer", "gqa", ("resformer.abstract.svformer",)),
    Pair("svformer", "cla-2", ("resformer.abstract.svformer",)),
    Pair("mla+one-key-one-value", "mla", ("kv.tab15.losses",)),
    Pair("mla+kv-shift", "mla", ()),
    Pair("qkv-shift", "kv-shift", ("kv.fig11.loss",)),
    Pair("kv-window-3", "kv-shift", ("kv.sec4.5.longer_window",)),
    Pair("kv-gate", "kv-shift", ("kv.appF1.more_controls",)),
    Pair("kv-shift+resformer", "resformer", ()),
    Pair("kv-shift+resformer", "kv-shift", ()),
    Pair("canon-a", "kv-shift", ()),
    Pair("smear", "kv-shift", ()),
    Pair("key-offset", "kv-shift", ()),
    Pair("kv-shift", "differential", ("kv.appH.losses",)),
    Pair("kv-shift", "selective", ("kv.appH.losses",)),
)
# What the papers say of a variant against the plain Transformer, at their sizes.
SENTENCES: Mapping[str, tuple[str, ...]] = {
    "kv-shift": ("kv.fig5.better", "kv.fig6a", "kv.fig4a"),
    "resformer": ("resformer.abstract.outperforms",),
    "svformer": ("resformer.sec1.svformer_parameters",),
    "identity": ("resformer.fig10.mappings",),
    "k-shift": ("kv.fig7a",),
    "v-shift": ("kv.fig7a",),
}


def model(
    variant: str, width: int, n_layers: int = 4, n_heads: int = 4, mlp_width: int | None = None, **more: Any
) -> ModelConfig:
    """A variant with the parameters of a vanilla model of that width and MLP, default twice as wide."""
    sizes = {"vocab": VOCAB, "width": width, "n_heads": n_heads, "n_layers": n_layers, "shift": "none"}
    sizes |= {"mlp_width": mlp_width or 2 * width}
    wanted = parameters(ModelConfig.checked(sizes))
    return matched(ModelConfig.checked(sizes | dict(VARIANTS[variant].changes) | more), wanted)


def rule(share: float, least: int, most: int) -> Rule:
    """The rule of a comparison that may spend this share of the family's error."""
    return Rule(
        metric="held-out loss, nats a byte", lower_is_better=True, smallest=SMALLEST, error=ERROR, share=share,
        least=least, most=most, method="gaussian",
    )  # fmt: skip


def entry(corpus: str, variant: str, width: int, **more: Any) -> Entry:
    """A variant at a width; what `PackedTraining` has is of the training, all else of the model."""
    named = {name: more.pop(name) for name in PackedTraining.model_fields if name in more}
    training = PackedTraining(corpus=corpus, **TRAINING | named)
    return Entry(config=model(variant, width, **more), training=training)


def at(variant: str, width: int) -> str:
    """The name of a variant's entry at a width; at the middle one it is the variant's own."""
    return variant if width == MIDDLE else f"{variant}.{width}"


def league(corpus: str) -> ArenaPlan:
    """The shipped arena: two central comparisons at three sizes, a league of variants, pairs, and the leak."""
    found = _Family(corpus)
    for width in WIDTHS:
        for variant in CENTRAL:
            found.against(variant, BASELINE, width, CENTRAL_SEEDS, SENTENCES[variant])
        found.against("kv-shift+resformer", BASELINE, width, CENTRAL_SEEDS, ())
    for variant in VARIANTS:
        if variant not in (BASELINE, *CENTRAL, "kv-shift+resformer"):
            found.against(variant, BASELINE, MIDDLE, LEAGUE_SEEDS, SENTENCES.get(variant, ()))
    for variant, baseline, sentences in PAIRS:
        found.against(variant, baseline, MIDDLE, LEAGUE_SEEDS, sentences)
    _leak(found)
    central = {f"{at(variant, width)} / {at(BASELINE, width)}" for variant in CENTRAL for width in WIDTHS}
    return found.plan("Attention variants on packed text", central)


def quick(corpus: str) -> ArenaPlan:
    """Minutes on two cores: both central comparisons at a tenth of the tokens."""
    found = _Family(corpus, {"steps": 80})
    for variant in CENTRAL:
        found.against(variant, BASELINE, WIDTHS[0], (6, 8), SENTENCES[variant])
    return found.plan("Two variants, quick", set())


def _shared(
    of: Literal["query", "key"], source: Literal["first", "previous"], layers: tuple[int, ...] | None = None
) -> Borrowed:
    return Borrowed(of=of, source=source, own=0.0, other=1.0, layers=layers)


LATENTS = (6, 12, 24, 48)
ABLATED: Mapping[str, tuple[Values, tuple[str, ...]]] = {
    "resformer-lambda-0.5": (Residual(lambda1=1.0, lambda2=0.5), ("resformer.fig8.best",)),
    "resformer-lambda-1": (Residual(lambda1=1.0, lambda2=1.0), ("resformer.fig8.best",)),
    "resformer-lambda-2": (Residual(lambda1=1.0, lambda2=2.0), ("resformer.fig8.best",)),
    "neutreno-0.2": (Neutreno(lam=0.2), ("resformer.secA.3.lambda",)),
    "neutreno-0.4": (Neutreno(), ("resformer.secA.3.lambda",)),
    "neutreno-0.8": (Neutreno(lam=0.8), ("resformer.secA.3.lambda",)),
    "svformer": (Shared(), ()),
    "svformer-two-anchors": (Shared(anchors=(0, 2)), ()),
}
ABLATED_PAIRS = (
    Pair("resformer-lambda-2", "resformer-lambda-0.5", ("resformer.fig8.best",)),
    Pair("neutreno-0.4", "neutreno-0.2", ("resformer.secA.3.lambda",)),
    Pair("neutreno-0.4", "neutreno-0.8", ("resformer.secA.3.lambda",)),
    Pair("svformer-two-anchors", "svformer", ("resformer.fig17.anchors",)),
)


def latent(corpus: str) -> ArenaPlan:
    """Latent attention with and without one head's key and another's value shifted, by the width of its latents.

    A head has 12 channels, 4 of them rotated. KV shifting attention, Appendix J: the latents are the bottleneck that
    the width was, so that a shift should gain the more the smaller they are.
    """
    found, past = _Family(corpus), {"past": ONE_KEY_ONE_VALUE}
    for size in LATENTS:
        for name, more in ((f"mla-{size}", {}), (f"mla-{size}+shift", past)):
            found.add(name, entry(corpus, BASELINE, MIDDLE, latent=Latent(size=size, rope=4), **more))
        found.compare(f"mla-{size}+shift", f"mla-{size}", LEAGUE_SEEDS, ("kv.tab15.losses",))
    return found.plan("Latent attention by the width of its latents", set())


BORROWED: Mapping[str, tuple[Values, tuple[str, ...]]] = {
    "shared-queries-2": (_shared("query", "previous", (1, 3)), ("resformer.fig5.sharing",)),
    "shared-keys-2": (_shared("key", "previous", (1, 3)), ("resformer.fig5.sharing",)),
    "shared-values-2": (Shared(anchors=(0, 2)), ("resformer.fig5.sharing",)),
    "shared-queries": (_shared("query", "first"), ("resformer.fig5.sharing",)),
    "shared-keys": (_shared("key", "first"), ("resformer.fig5.sharing",)),
    "shared-values": (Shared(), ("resformer.fig5.sharing",)),
    "residual-queries": (Borrowed(of="query"), ("resformer.fig9.values",)),
    "residual-keys": (Borrowed(of="key"), ("resformer.fig9.values",)),
    "residual-values": (Residual(), ("resformer.fig9.values",)),
    "residual-to-layer-below": (Borrowed(of="value", source="previous"), ("resformer.fig11.first",)),
    "residual-to-all-below": (Borrowed(of="value", source="mean"), ("resformer.fig11.first",)),
}
BORROWED_PAIRS = (
    Pair("shared-values-2", "shared-queries-2", ("resformer.fig5.sharing",)),
    Pair("shared-values-2", "shared-keys-2", ("resformer.fig5.sharing",)),
    Pair("shared-values", "shared-queries", ("resformer.fig5.sharing",)),
    Pair("shared-values", "shared-keys", ("resformer.fig5.sharing",)),
    Pair("residual-values", "residual-queries", ("resformer.fig9.values",)),
    Pair("residual-values", "residual-keys", ("resformer.fig9.values",)),
    Pair("residual-values", "residual-to-layer-below", ("resformer.fig11.first",)),
    Pair("residual-values", "residual-to-all-below", ("resformer.fig11.first",)),
)


def by_values(
    corpus: str, title: str, of: Mapping[str, tuple[Values, tuple[str, ...]]], pairs: Sequence[Pair]
) -> ArenaPlan:
    """Vanilla against the same model with each of these values, and pairs of those.

    ABLATED: ResFormer's factors, NeuTRENO's, and SVFormer with a second layer that has values of its own. BORROWED:
    queries, keys or values of other layers, shared by two layers or by all, or added, the first's or all below;
    ResFormer, Figures 5, 9, 11 and 16.
    """
    found = _Family(corpus)
    found.add(BASELINE, entry(corpus, BASELINE, MIDDLE))
    for name, (values, sentences) in of.items():
        found.add(name, entry(corpus, BASELINE, MIDDLE, values=values))
        found.compare(name, BASELINE, LEAGUE_SEEDS, sentences)
    for variant, baseline, sentences in pairs:
        found.compare(variant, baseline, LEAGUE_SEEDS, sentences)
    return found.plan(title, set())


ablations = partial(by_values, title="What the ResFormer paper varies", of=ABLATED, pairs=ABLATED_PAIRS)
borrowed = partial(by_values, title="Queries, keys and values of other layers", of=BORROWED, pairs=BORROWED_PAIRS)


SETTING_SEEDS = (8, 8)
# All of them 1,024 bytes a step; paragraphs are about as long as the longest rows.
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "": {},
    ".half-rate": {"learning_rate": 3e-3},
    ".twice-rate": {"learning_rate": 1.2e-2},
    ".length-64": {"length": 64, "rows": 16, "heldout_rows": 384},
    ".length-32": {"length": 32, "rows": 32, "heldout_rows": 768},
}


def settings(corpus: str) -> ArenaPlan:
    """SVFormer by its learning rate, ResFormer and SVFormer by the length of their rows, in training and held out.

    ResFormer, Figures 7 (left), 14 and 15, where lengths are 2,048 to 64,000.
    """
    found = _Family(corpus)
    for name, more in SETTINGS.items():
        rates = "length" not in more
        for variant in ("svformer",) if "learning_rate" in more else ("resformer", "svformer"):
            for one in (BASELINE, variant):
                found.add(one + name, entry(corpus, one, MIDDLE, **more))
            sentences = ("resformer.fig15.rate",) if rates and variant == "svformer" else ()
            found.compare(variant + name, BASELINE + name, SETTING_SEEDS, sentences)
    return found.plan("SVFormer and ResFormer by rate and length", set())


RATES: Mapping[str, float] = {"": 6e-3, ".twice-rate": 1.2e-2, ".four-times-rate": 2.4e-2}
RATED = ("kv-shift", "selective", "canon-abcd")


def rates(corpus: str) -> ArenaPlan:
    """What changes with the learning rate: vanilla and three variants at the league's rate, twice and four times it.

    Each against vanilla at the same rate, two pairs of the three, and vanilla against itself.
    """
    found = _Family(corpus)
    for name, rate in RATES.items():
        for variant in (BASELINE, *RATED):
            found.add(variant + name, entry(corpus, variant, MIDDLE, learning_rate=rate))
        pairs = [(variant, BASELINE) for variant in RATED] + [(RATED[0], RATED[1]), (RATED[2], RATED[1])]
        for variant, baseline in pairs:
            found.compare(variant + name, baseline + name, SETTING_SEEDS, ())
        if name:
            found.compare(BASELINE + name, BASELINE, SETTING_SEEDS, ())
    return found.plan("Four variants by learning rate", set())


# ResFormer, Appendix A.5, Table 4: layers, heads and widths of 82M and 180M parameters, of which half and a third are
# embeddings of its vocabulary; its rate, steps and length. Its batches are 2M tokens, these are 131,072 bytes.
PAPER_SIZES: Mapping[str, Mapping[str, int]] = {
    "82m": {"width": 512, "n_layers": 8, "n_heads": 8, "mlp_width": 1792},
    "180m": {"width": 768, "n_layers": 12, "n_heads": 12, "mlp_width": 2688},
}
PAPER_TRAINING: Mapping[str, Any] = {
    "steps": 10_000, "rows": 64, "length": 2048, "learning_rate": 6e-4, "warmup": 120, "scores": 10,
}  # fmt: skip
PAPER_SEEDS = (5, 8)


def paper(corpus: str, size: str = "82m") -> ArenaPlan:
    """The central pairs in a paper's shapes, on bytes: for a GPU, where it has not been run yet."""
    found = _Family(corpus)
    for variant in (BASELINE, *CENTRAL, "kv-shift+resformer"):
        found.add(variant, entry(corpus, variant, **PAPER_SIZES[size], **PAPER_TRAINING))
        if variant != BASELINE:
            found.compare(variant, BASELINE, PAPER_SEEDS, SENTENCES.get(variant, ()))
    return found.plan(f"The central pairs, shaped as the ResFormer paper's {size.upper()}", set())


def _leak(found: "_Family") -> None:
    """The gain of a shift where documents start from nothing, from the document before, from what is learnt.

    A vanilla model has no start, so that the difference of two gains is the difference of the two shifted models.
    """
    for packing in ("documents", "cut"):
        names = {start: "kv-shift" if (start, packing) == ("zero", "documents") else f"kv-shift.{start}.{packing}"
                 for start in ("zero", "carried", "learnt")}  # fmt: skip
        for start, name in names.items():
            found.add(name, entry(found.corpus, "kv-shift", MIDDLE, start=start, packing=packing))
        baseline = BASELINE if packing == "documents" else f"{BASELINE}.cut"
        found.add(baseline, entry(found.corpus, BASELINE, MIDDLE, packing=packing))
        for name in names.values():
            if name != "kv-shift":
                found.compare(name, baseline, LEAK_SEEDS, ())
        for start in ("carried", "learnt"):
            found.compare(names[start], names["zero"], LEAK_SEEDS, ())


class _Family:
    """Entries and comparisons as they are named; the rules need all of them."""

    def __init__(self, corpus: str, training: Mapping[str, Any] | None = None):
        self.corpus, self.training = corpus, training or {}
        self.entries: dict[str, Entry] = {}
        self.compared: dict[str, tuple[str, str, tuple[int, int], tuple[str, ...]]] = {}

    def add(self, name: str, one: Entry) -> None:
        self.entries.setdefault(name, one)

    def against(
        self, variant: str, baseline: str, width: int, seeds: tuple[int, int], sentences: tuple[str, ...]
    ) -> None:
        """Two variants of one width."""
        for name in (variant, baseline):
            self.add(at(name, width), entry(self.corpus, name, width, **self.training))
        self.compare(at(variant, width), at(baseline, width), seeds, sentences)

    def compare(self, variant: str, baseline: str, seeds: tuple[int, int], sentences: tuple[str, ...]) -> None:
        self.compared[f"{variant} / {baseline}"] = variant, baseline, seeds, sentences

    def plan(self, title: str, central: set[str]) -> ArenaPlan:
        others = (1 - CENTRAL_SHARE * len(central)) / (len(self.compared) - len(central))
        comparisons = {
            name: Comparison(
                variant=variant, baseline=baseline, sentences=sentences,
                rule=rule(CENTRAL_SHARE if name in central else others, *seeds),
            )
            for name, (variant, baseline, seeds, sentences) in self.compared.items()
        }  # fmt: skip
        return ArenaPlan(title=title, entries=self.entries, comparisons=comparisons)


PRESETS = {
    "league": league, "latent": latent, "ablations": ablations, "borrowed": borrowed, "settings": settings,
    "rates": rates, "quick": quick, "paper-82m": paper, "paper-180m": partial(paper, size="180m"),
}  # fmt: skip
