"""The family of shifts trained, member by member: one layer, one head, no positions, no residual, the last query.

The setting is that of `theory.induction.family`: x_t is the row of token t, M = W_Q W_K^T and N = W_V U; a width of
twice the vocabulary leaves room for every M and N in half of a head's channels. Canon members have window 4 and a
kernel a channel, as published, the others window 2 and one kernel; Canon C and D have an MLP behind the layer. All
coefficients and weights are learnt from random ones, many runs side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from dynamics.files.manifest import package_version
from dynamics.scalar.family_record import FamilyCell, FamilyStudy, FamilyTraining

Cell = tuple[str, int, FamilyTraining]
WIDTHS = (16, 32)
LONGEST = 4  # places that what leaves the layer is mixed from


class Place(NamedTuple):
    """Which kernel mixes queries, keys, values, the output, the MLP's hidden channels; whether it is one a channel."""

    query: int | None = None
    key: int | None = None
    value: int | None = None
    output: int | None = None
    hidden: int | None = None
    canon: bool = False
    offset: bool = False
    embedding: bool = False
    mlp: bool = False


PLACES: dict[str, Place] = {
    "none": Place(),
    "smear": Place(0, 0, 0, embedding=True),
    "query": Place(query=0),
    "key": Place(key=0),
    "value": Place(value=0),
    "key_value": Place(key=0, value=1),
    "key_value_common": Place(key=0, value=0),
    "query_key": Place(query=0, key=1),
    "query_key_common": Place(query=0, key=0),
    "query_value": Place(query=0, value=1),
    "partial_key": Place(key=0, offset=True),
    "output": Place(output=0),
    "canon_a": Place(0, 0, 0, canon=True, embedding=True),
    "canon_b": Place(0, 1, 2, canon=True),
    "canon_c": Place(output=0, canon=True, mlp=True),
    "canon_d": Place(hidden=0, canon=True, mlp=True),
}


class FamilyModel(nn.Module):
    """`runs` models of a member side by side; every parameter has them as its first axis."""

    def __init__(self, member: str, settings: FamilyTraining, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.place, runs, vocabulary = PLACES[member], settings.runs, settings.vocabulary

        def drawn(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(runs, *shape, generator=generator) / shape[0] ** 0.5)

        self.rows = nn.Parameter(torch.randn(runs, vocabulary, width, generator=generator))
        self.w_q, self.w_k, self.w_v = drawn(width, width), drawn(width, width), drawn(width, width)
        hidden = 4 * width if self.place.mlp else 0
        self.inner = drawn(width, hidden) if hidden else None
        self.out = drawn(hidden or width, vocabulary)
        self.kernels = nn.ParameterList(
            self._kernel(hidden if inside else width, settings, generator) for inside in self._numbers()
        )

    def _numbers(self) -> list[bool]:
        """The kernels that are learnt: for each whether it mixes the hidden channels."""
        if self.place.offset:
            return []
        found = {n: n == self.place.hidden for n in self.place[:5] if n is not None}
        return [found[n] for n in sorted(found)]

    def _kernel(self, wide: int, settings: FamilyTraining, generator: torch.Generator) -> nn.Parameter:
        """(runs, channels or 1, window): own uniform on [0, 1], the token before what is left to 1, others 0."""
        runs, channels = settings.runs, wide if self.place.canon else 1
        own = torch.rand(runs, channels, 1, generator=generator)
        rest = torch.zeros(runs, channels, LONGEST - 2 if self.place.canon else 0)
        return nn.Parameter(torch.cat([-own if settings.opposite else own, 1 - own, rest], dim=-1))

    def _mixed(self, x: Tensor, number: int | None) -> Tensor:
        """sum_j c_j x_{t-j} over the places, x (runs, batch, places, channels); x_0, x_{-1}, .. are 0."""
        if number is None:
            return x
        kernel = self._offset(x) if self.place.offset else self.kernels[number]
        total = torch.zeros_like(x)
        for back in range(min(kernel.shape[-1], x.shape[2])):
            moved = nn.functional.pad(x[:, :, : x.shape[2] - back], (0, 0, back, 0))
            total = total + kernel[:, None, None, :, back] * moved
        return total

    @staticmethod
    def _offset(x: Tensor) -> Tensor:
        """The first half of the channels has the token itself, the second the one before."""
        later = torch.arange(x.shape[-1]) >= x.shape[-1] // 2
        return torch.stack([~later, later], dim=-1).to(x)[None]

    def forward(self, words: Tensor) -> Tensor:
        """Scores (runs, batch, V) of the token after the last place; words (runs, batch, L)."""
        place = self.place
        x = self.rows[torch.arange(len(words))[:, None, None], words]
        if place.embedding:  # all read it: the same as mixing the projections by the same kernel
            x, place = self._mixed(x, 0), place._replace(query=None, key=None, value=None)
        query = self._mixed(x @ self.w_q[:, None], place.query)[:, :, -LONGEST:]
        key, value = self._mixed(x @ self.w_k[:, None], place.key), self._mixed(x @ self.w_v[:, None], place.value)
        length, asked = x.shape[2], query.shape[2]
        seen = torch.ones(asked, length, dtype=torch.bool).tril(length - asked)
        scores = (query @ key.transpose(2, 3) / key.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
        out = self._mixed(scores.softmax(-1) @ value, place.output)
        if self.inner is not None:
            out = self._mixed((out @ self.inner[:, None]).relu(), place.hidden)
        return (out[:, :, -1:] @ self.out[:, None])[:, :, 0]


def draw_sentences(
    settings: FamilyTraining, count: int, length: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Sentences (runs, count, length) whose last token occurs once before, at p <= L - 2, and x_{p+1} (runs, count)."""
    shape = (settings.runs, count)
    last = torch.randint(settings.vocabulary, (*shape, 1), generator=generator)
    words = torch.randint(settings.vocabulary - 1, (*shape, length), generator=generator)
    words = words + (words >= last).long()  # any token but the last one
    before = torch.randint(length - 2, (*shape, 1), generator=generator)
    words = words.scatter(2, before, last)
    words[..., -1:] = last
    return words, words.gather(2, before + 1)[..., 0]


def trained(member: str, settings: FamilyTraining, width: int) -> tuple[float, ...]:
    """The accuracy on fresh sentences of each run after training by Adam, its rate falling to 0 in a cosine.

    Each batch is of one length, from 3 to the longest.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    model = FamilyModel(member, settings, width, generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, settings.steps)
    for _ in range(settings.steps):
        length = int(torch.randint(3, settings.longest + 1, (), generator=generator))
        words, target = draw_sentences(settings, settings.batch, length, generator)
        loss = nn.functional.cross_entropy(model(words).flatten(0, 1), target.flatten()) * settings.runs
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return accuracy(model, settings, generator)


@torch.no_grad()
def accuracy(
    model: FamilyModel, settings: FamilyTraining, generator: torch.Generator, count: int = 500
) -> tuple[float, ...]:
    """The share of fresh sentences answered rightly, one a run: `count` of each length from 3 to the longest."""
    right = torch.zeros(settings.runs)
    for length in range(3, settings.longest + 1):
        words, target = draw_sentences(settings, count, length, generator)
        right += (model(words).argmax(-1) == target).float().mean(1)
    return tuple(round(float(share), 4) for share in right / (settings.longest - 2))


def plan() -> tuple[list[Cell], list[Cell]]:
    """Every member at both widths, and what is tried where training does not find the weights that exist."""
    one = FamilyTraining()
    more, opposite = one.model_copy(update={"runs": 12}), one.model_copy(update={"opposite": True})
    further = [("key_value_common", 32, more), *(("key_value_common", width, opposite) for width in WIDTHS)]
    return [(member, width, one) for member in PLACES for width in WIDTHS], further


def run_family(cells: Sequence[Cell], further: Sequence[Cell], report: Callable[[], object] = bool) -> FamilyStudy:
    """All trainings of a plan, one after the other; `report` is called after each."""

    def found(cell: Cell) -> FamilyCell:
        member, width, settings = cell
        share = trained(member, settings, width)
        report()
        return FamilyCell(member=member, width=width, training=settings, accuracy=share)

    return FamilyStudy(version=package_version(), torch_version=torch.__version__,
                       cells=tuple(map(found, cells)), further=tuple(map(found, further)))  # fmt: skip
