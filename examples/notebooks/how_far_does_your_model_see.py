# %% [markdown]
# # How far does your model see?
#
# A head with linear biases (ALiBi) takes a slope times the distance off each logit. So there is a distance from which no
# token can weigh more than $\epsilon$, *whatever the text says* - if we know how far apart two logits of one query can lie.
# That range follows from the weights. Here we read it off a small model that ships with the package, compare it with
# what the heads do on real text, let a cache forget what may be forgotten, and look for attention sinks.
#
# Replace `MODEL` by a folder of your own, or by the name of a model on the hub: BLOOM, MPT, Baichuan, Llama, Mistral, Qwen.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from dynamics.training.checkpoint import SHIPPED

torch.set_num_threads(1)
plt.rcParams.update({"font.size": 9, "figure.dpi": 90})
MODEL = SHIPPED / "alibi-text"  # four layers of eight heads, trained on Python's own sources
EPS = 1e-3

# %% [markdown]
# ## 1. Scope: a proof from the weights
#
# `checkpoint_scopes` reads a checkpoint head by head. **Look at** how the slope rules: each head of a layer sees about
# twice as far as the one before it, as its slope is half as large.

# %%
from dynamics.scope.heads import checkpoint_scopes

scopes = checkpoint_scopes(MODEL, eps=EPS, context=16384)
print("layer head   slope   range of logits   scope (tokens)")
for head in scopes[:8]:
    print(f"{head.layer:5} {head.head:4} {head.slope:8.4f} {head.logit_range:12.1f} {head.scope:16.0f}")

# %% alt="A map of scopes, rows are layers and columns heads: from a hundred tokens on the left to fifty thousand on the right."
layers, heads = 1 + max(h.layer for h in scopes), 1 + max(h.head for h in scopes)
grid = np.array([h.scope for h in scopes]).reshape(layers, heads)
figure, panel = plt.subplots(figsize=(5, 2.4), layout="constrained")
cells = panel.imshow(np.log10(grid), cmap="viridis_r", aspect="auto")
panel.set(xlabel="head", ylabel="layer", title=f"no token from this distance on weighs more than {EPS:g}")
bar = figure.colorbar(cells, ticks=[2, 3, 4])
bar.ax.set_yticklabels(["100", "1,000", "10,000"])
bar.set_label("scope (tokens)")
plt.show()

# %% [markdown]
# These numbers hold for *every* context, in exact arithmetic. RazorAttention's own bound (its Theorem 1) is false: the
# ledger has a counterexample of two tokens (`razor.thm1`), and the sharp bound used here (`razor.thm1.corrected`).
#
# ## 2. What the heads do on text
#
# A bound for every text is far above what one text does. **Look at** the gap: the largest weight that a head really
# gives at each distance, under its proved bound.

# %%
import inspect
import random

from dynamics.heads.rows import measured
from dynamics.sinks.opened import open_model
from dynamics.sinks.texts import tokens_of
from theory import alibi

model = open_model(MODEL, torch.device("cpu"))
TEXT = inspect.getsource(random)[:1024]  # any text will do
tokens = tokens_of(model, MODEL, TEXT)


def largest_by_distance(start, weights):
    """The largest weight at each distance, of a block of rows (heads, rows, keys)."""
    found = torch.zeros(weights.shape[0], len(tokens), dtype=torch.float64)
    rows = start + torch.arange(weights.shape[1])
    for distance in range(len(tokens)):
        seen = rows[rows >= distance]
        if len(seen):
            found[:, distance] = weights[:, seen - start, seen - distance].amax(1)
    return found


blocks = measured(model, tokens, largest_by_distance)  # one block holds all rows of a text as short as this

# %% alt="Largest weight against distance for three heads of the first layer: dots of real text lie far below the lines of the proved bounds."
figure, panel = plt.subplots(figsize=(5.6, 3), layout="constrained")
distance = np.arange(1, len(tokens))
for number, color in ((0, "#0072b2"), (1, "#d55e00"), (2, "#009e73")):
    head = scopes[number]
    bound = [alibi.weight_bound(float(n), head.slope, head.logit_range) for n in distance]
    panel.loglog(distance, bound, color=color, label=f"head {number}: bound")
    panel.loglog(distance, blocks[0, number, 1:].clamp(min=1e-9).numpy(), ".", color=color, markersize=2)
panel.set(xlabel="distance (tokens)", ylabel="largest weight", ylim=(1e-7, 2))
panel.legend(frameon=False, loc="lower left", title="dots: this text")
plt.show()

# %% [markdown]
# ## 3. Which heads look for copies
#
# Where no slope helps - rotary models have none - only what heads do can tell. On a random prompt that is repeated, a
# head that finds the earlier copy, or what came after it, is one that a cache must not cut. **Look at** how few there are.

# %%
from dynamics.heads.scores import head_scores

found = head_scores(model, k=100)
order = np.argsort(-found.induction, axis=None)[:5]
for layer, head in zip(*np.unravel_index(order, found.induction.shape)):
    print(f"layer {layer}, head {head}: {found.induction[layer, head]:.2f} of its attention on what came after a copy, "
          f"{found.echo[layer, head]:.2f} on the copy")

# %% [markdown]
# ## 4. What a cache may forget
#
# RazorAttention keeps everything for those heads, and for the others the first tokens, a recent window and one token that
# stands for the rest. `RazorPlan` says which; `MaskedAttention` computes exactly what such a cache would. **Look at** the loss on
# this text against the share of the cache that is kept.

# %%
from dynamics.model.attention_function import replaced
from dynamics.razor.masked import MaskedAttention
from dynamics.razor.plan import RazorPlan
from dynamics.sinks.passes import logits

SHORT = torch.from_numpy(tokens[:512])


def bits_per_byte():
    total = 0.0
    with torch.no_grad():
        for start, rows in logits(model, SHORT):
            right = SHORT[start + 1 : start + 1 + len(rows)]
            total -= rows[: len(right)].log_softmax(-1).gather(1, right[:, None]).sum().item()
    return total / (len(SHORT) - 1) / np.log(2)


def kept(plan):
    """The share of keys and values that are held at the end."""
    full = sum(len(heads) for heads in plan.full)
    held = full * len(SHORT) + (layers * heads_kv - full) * min(len(SHORT), plan.sinks + plan.buffer + 1)
    return held / (layers * heads_kv * len(SHORT))


heads_kv = heads
best = [frozenset() for _ in range(layers)]
for layer, head in zip(*np.unravel_index(order, found.induction.shape)):
    best[layer] |= {int(head)}
window = {"share": 0, "compensation": "none"}
plans = {
    "the 5 heads whole, others a window of 64": RazorPlan(heads, heads, tuple(best), sinks=4, buffer=64, **window),
    "every head a window of 64": RazorPlan(heads, heads, (frozenset(),) * layers, sinks=4, buffer=64, **window),
    "every head a window of 128": RazorPlan(heads, heads, (frozenset(),) * layers, sinks=4, buffer=128, **window),
}
print(f"{bits_per_byte():.3f} bits per byte with the whole cache")
for name, plan in plans.items():
    with replaced(model, MaskedAttention(plan)):
        print(f"{bits_per_byte():.3f} with {100 * kept(plan):.0f} % of it: {name}")

# %% [markdown]
# On a text as short as this the windows hardly matter; on needles in a haystack they do (`induction-workbench study compare`
# has ten policies at equal memory). Scopes can prove a window harmless: a head is *local* if what lies outside of it never
# weighs more than a given mass in all.

# %%
local = [head for head in scopes if head.reach.name == "LOCAL"]
print(f"{len(local)} of {len(scopes)} heads are proved local at a context of 16384: they may keep "
      f"{sum(head.budget for head in local) / (16384 * len(local)):.0%} of it without losing more than {EPS:g} of the mass")

# %% [markdown]
# ## 5. Sinks
#
# Many models give the first token far more attention than it deserves. **Look at** whether this one does: the weight of the
# first token in the mean over all queries, against what even attention would give it.

# %%
from dynamics.sinks.measured import measure

sinks = measure(model, tokens[:512])
even = np.mean(1 / np.arange(1, 513))
print(f"even attention gives the first token {even:.3f}")
for layer, row in enumerate(sinks.heads.first):
    shares = " ".join(f"{share:.3f}" for share in row)
    print(f"layer {layer}: {shares}   its value over the others': {sinks.states.drain[layer]:.2f}")

# %% [markdown]
# No: in the mean over its heads every layer gives the first token less than its even share. With ALiBi a far token fades
# whatever it says; the scope of Section 1 says how far a sink can reach.
#
# **Exercise.** Point `MODEL` at a rotary model of your own and run the notebook again. *What to expect: scopes are
# infinite or absurdly large, since without a slope no distance is proved harmless; the head scores and the sinks still speak.*
