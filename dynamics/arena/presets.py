"""The arenas by name: all models on equal parameters, plans fixed before anything ran.

Pilots, on seeds that no plan uses (vanilla, width 48, one seed, 400 steps): of the rates 3e-3, 6e-3, 1.2e-2 and 2.4e-2
the third has the lowest loss. At 1.2e-2 differences of two models spread by 0.9 to 1.8 % of the loss from seed to seed,
at 5e-3 by 0.6 % (six seeds, 300 steps, resformer and gqa against vanilla): the plans train at 6e-3, which costs every
model the same way and needs a third of the seeds. By `dynamics.statistics.power` a spread of 0.6 % and x = 1 % then
give: a central comparison of 20 to 24 seeds finds an effect of 2 % "better by at least x" always, one of 1 % "better"
always, of 0.5 % in a third, and says "no difference larger than x" of none always; one of the league of 8 to 12 seeds
finds 4 % always, 2 % "better" always and by at least x in 40 %, 1 % "better" in 40 %, 0.5 % hardly, and says "no
difference larger than x" of none in 22 %.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from dynamics.arena.budget import matched
from dynamics.arena.plan import ArenaPlan, Comparison, Entry
from dynamics.arena.record import PackedTraining
from dynamics.arena.variants import BASELINE, VARIANTS
from dynamics.model.config import ModelConfig
from dynamics.model.sizes import parameters
from dynamics.statistics.rule import Rule
from dynamics.tasks.packed import VOCAB

SMALLEST = 0.01  # of the loss
ERROR = 0.05
CENTRAL = ("kv-shift", "resformer")
WIDTHS, MIDDLE = (32, 48, 64), 48
CENTRAL_SEEDS, LEAGUE_SEEDS, LEAK_SEEDS = (20, 24), (8, 12), (10, 14)
CENTRAL_SHARE = 0.05  # of the error, each; the rest goes to all others in equal parts
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
    "kv-shift": ("kv.fig5.better", "kv.fig6a", "kv.sec4.2.both_converged", "kv.fig4a"),
    "resformer": ("resformer.abstract.outperforms", "resformer.fig8.best"),
    "svformer": ("resformer.sec1.svformer_parameters",),
    "identity": ("resformer.fig10.mappings",),
    "k-shift": ("kv.fig7a",),
    "v-shift": ("kv.fig7a",),
}


def model(variant: str, width: int, n_layers: int = 4, **more: Any) -> ModelConfig:
    """A variant with the parameters of a vanilla model of that width, four heads, and an MLP twice as wide."""
    sizes = {"vocab": VOCAB, "width": width, "n_heads": 4, "n_layers": n_layers, "mlp_width": 2 * width}
    sizes |= {"shift": "none"}
    wanted = parameters(ModelConfig.checked(sizes))
    return matched(ModelConfig.checked(sizes | dict(VARIANTS[variant].changes) | more), wanted)


def rule(share: float, least: int, most: int) -> Rule:
    """The rule of a comparison that may spend this share of the family's error."""
    return Rule(
        metric="held-out loss, nats a byte", lower_is_better=True, smallest=SMALLEST, error=ERROR, share=share,
        least=least, most=most, method="gaussian",
    )  # fmt: skip


def entry(corpus: str, variant: str, width: int, **more: Any) -> Entry:
    """A variant at a width; `packing`, `steps` and `rows` are of the training, all else of the model."""
    named = {name: more.pop(name) for name in ("packing", "steps", "rows") if name in more}
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


PRESETS = {"league": league, "quick": quick}
