"""Train entries of an arena as it does, and look at each model on the way: scores of heads, sinks, waivers, contexts.

Folder: as the arena's (`engine`), and seen/<run>.json, which says that a run is whole. A run that was killed begins
anew, as what was seen of it is gone; looking on changes no bit of what it leaves.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from dynamics.arena import engine
from dynamics.arena.dissected import DECIMALS, DIGITS, Change, Dissection, DissectionPlan, Looks, Seen
from dynamics.arena.dissected import dissection_of as together
from dynamics.arena.presets import MIDDLE, entry
from dynamics.arena.record import Run, RunResult
from dynamics.arena.training import Texts, texts
from dynamics.arena.training import run as train
from dynamics.arena.variants import BASELINE
from dynamics.files.atomic import atomic_write_text
from dynamics.model.decoder import InductionModel
from dynamics.model.stacked import unstack
from dynamics.observed.log import Line, plain
from dynamics.observed.probe import Probe, make_probe
from dynamics.observed.scores import summary
from dynamics.observed.undisturbed import undisturbed
from dynamics.sinks.intervention import Mask, Swap, intervene
from dynamics.sinks.passes import device_of
from dynamics.tasks.corpus import standard_library
from dynamics.tasks.packed import VOCAB, Documents
from dynamics.training.ensemble import Stack

SEEN = "seen"
DISSECTED = (BASELINE, "kv-shift", "resformer", "kv-shift+resformer")
SCHEMES = {"rope": BASELINE, "alibi": "alibi", "none": "no-positions", "learned": "learnt-positions"}  # -> entry
SEEDS = 4


def dissection(corpus: str) -> DissectionPlan:
    """The arena's central entries of the middle width, and vanilla models by positional scheme; RoPE is vanilla's."""
    entries = {name: entry(corpus, name, MIDDLE) for name in DISSECTED}
    for position, name in SCHEMES.items():
        if name != BASELINE:
            more = {"max_length": entries[BASELINE].training.length} if position == "learned" else {}
            entries[name] = entry(corpus, BASELINE, MIDDLE, position=position, **more)
    return DissectionPlan(title="Arena models on packed text, dissected", entries=entries, seeds=SEEDS, looks=Looks())


def quick(corpus: str) -> DissectionPlan:
    """The same in seconds: two seeds, a twentieth of the tokens, two layers of width 16."""
    whole = dissection(corpus)
    training = {"steps": 20, "rows": 4, "heldout_rows": 8, "scores": 2, "warmup": 5}
    model = {"width": 16, "n_layers": 2, "mlp_width": 32}
    entries = {
        name: one.model_copy(
            update={"config": one.config.model_copy(update=model), "training": one.training.model_copy(update=training)}
        )
        for name, one in whole.entries.items()
    }
    looks = Looks(moments=4, windows=2, changed=2, targets=32, prompts=1)
    return whole.model_copy(update={"title": "Dissected, quick", "entries": entries, "seeds": 2, "looks": looks})


def run_dissection(
    plan: DissectionPlan, folder: str | Path, *, n_jobs: int = -1, progress: bool = True
) -> Dissection:
    """Train what is not there yet and return all. Args, Raises: as `engine.run_arena`."""

    def look(folder: Path) -> tuple[dict[str, RunResult], list[Run]]:
        whole = [run for run in plan.runs if _file(folder, SEEN, run).exists()]
        return {run.name: _result(folder, run) for run in whole}, [run for run in plan.runs if run not in whole]

    engine.run_rounds(plan, folder, look, partial(_train, plan.looks), n_jobs=n_jobs, progress=progress)
    return read_folder(folder, plan)


def read_folder(folder: str | Path, plan: DissectionPlan | None = None) -> Dissection:
    """What a folder holds, of its own plan or of this one.

    Raises: OSError: a run is missing. ValueError, one line: a damaged file, or one of another run.
    """
    folder, results, seen = Path(folder), [], []
    if plan is None:
        path = folder / engine.PLAN
        plan = DissectionPlan.from_file(path)
    for run in plan.runs:
        path = _file(folder, SEEN, run)
        seen.append(Seen.from_file(path))
        plan.looks.check(seen[-1], run.training.steps, str(path))
        results.append(_result(folder, run))
    return together(plan, results, seen, engine.read_place(folder))


def _file(folder: Path, kind: str, run: Run) -> Path:
    return folder / kind / f"{run.name}.json"


def _result(folder: Path, run: Run) -> RunResult:
    path = _file(folder, engine.RESULTS, run)
    found = RunResult.from_file(path)
    if found.run != run:
        raise ValueError(f"{path}: is of no run of this plan")
    return found


def _train(looks: Looks, run: Run, result: Path, _: Path, place: engine.Place) -> None:
    """Train and dissect one run in this process; no state is kept."""
    watcher = Watcher(run, looks, texts(standard_library(), run.training.corpus))
    train(run, result, None, place.device, precision=place.precision, watch=watcher)
    atomic_write_text(_file(result.parent.parent, SEEN, run), watcher.seen().model_dump_json() + "\n")


class Watcher:
    """Looks at the one model of a run at each of its moments, and longer at the last; to be called as `Watch`."""

    def __init__(self, run: Run, looks: Looks, source: Texts):
        self.moments: list[Line] = []
        self._run, self._looks, self._source = run, looks, source
        self._steps = looks.steps(run.training.steps)
        self._probe: Probe | None = None
        self._last: tuple[Change, Change | None, tuple[float | None, ...]] | None = None

    def __call__(self, done: int, stack: Stack) -> None:
        """Look, if it is a moment."""
        if done not in self._steps:
            return
        with torch.random.fork_rng([]):  # a new model draws weights of its own first
            model = unstack(stack.config, stack.parameters, 0)
        if self._probe is None:
            self._probe = probe_of(model, self._looks, self._source)
        self.moments.append(Line.of(done, summary(model, self._probe), DIGITS))
        if done == self._run.training.steps:
            text = windows(self._source.heldout, self._looks.changed, self._looks.window)
            self._last = *changes(model, text, self._looks), contexts(model, self._looks, self._source.heldout)

    def seen(self) -> Seen:
        """What was seen. Raises: ValueError before the end of the run."""
        if self._last is None:
            raise ValueError("the run has not come to its end")
        mask, swap, losses = self._last
        return Seen(moments=self.moments, mask=mask, swap=swap, contexts=losses)


def probe_of(model: InductionModel, looks: Looks, source: Texts) -> Probe:
    """Held-out documents from their first byte, and prompts of tokens that training has often."""
    counts = np.bincount(source.training.text, minlength=VOCAB)
    rare = np.flatnonzero(counts * looks.rarest <= counts.sum()).tolist()
    text = windows(source.heldout, looks.windows, looks.window).ravel()
    sizes = {"window": looks.window, "k": looks.k, "repeats": looks.repeats, "prompts": looks.prompts}
    return make_probe(model, text, excluded=rare, **sizes)


def windows(source: Documents, number: int, length: int) -> NDArray[np.int64]:
    """The first bytes of documents longer than that, (number, length), the same for the same text.

    Raises: ValueError where there are not so many.
    """
    starts = source.starts[source.ends - source.starts > length]
    if len(starts) < number:
        raise ValueError(f"the text has {len(starts)} documents of more than {length} bytes, not {number}")
    chosen = np.random.default_rng(0).choice(starts, number, replace=False)
    return source.text[chosen[:, None] + np.arange(length)].astype(np.int64)


def changes(model: InductionModel, text: NDArray[np.int64], looks: Looks) -> tuple[Change, Change | None]:
    """The waiver masked; and swapped with the first token, where positions are learnt. Args: text (windows, window)."""
    mask = _change(model, text, Mask(looks.waiver), (0,))
    learnt = model.config.position == "learned"
    return mask, _change(model, text, Swap(looks.waiver, 0), ()) if learnt else None


def _change(model: InductionModel, text: NDArray[np.int64], change: Mask | Swap, also: tuple[int, ...]) -> Change:
    """Of a change whose places, with those besides, are the waiver and the first token."""
    token = change.token if isinstance(change, Mask) else change.first
    short, length = token + 2, text.shape[1]  # windows that end with the target that the waiver foretells
    with undisturbed(model):
        effect = intervene(model, text.ravel(), change, length, also=also)
        begin = intervene(model, text[:, :short].ravel(), change, short)
    numbers = {"divergence": effect.divergence.mean()}
    for when in ("before", "after"):
        whole, part = (getattr(one, f"loss_{when}").mean() for one in (effect, begin))
        later = (whole * (length - 1) - part * (short - 1)) / (length - short)
        numbers |= {f"loss_{when}": whole, f"later_{when}": later}
    weights = {
        f"{name}_{when}": plain(getattr(effect, f"weight_{when}").mean(1)[:, place], DIGITS)
        for when in ("before", "after")
        for place, name in enumerate(("waiver", "first"))
    }
    return Change(**{name: round(float(value), DECIMALS) for name, value in numbers.items()}, **weights)


def contexts(model: InductionModel, looks: Looks, source: Documents) -> tuple[float | None, ...]:
    """The loss of the same targets from the last 1, 2, 4, .. tokens, as if a document began there."""
    found = torch.from_numpy(windows(source, looks.targets, looks.window + 1)).to(device_of(model))
    with undisturbed(model):
        losses = [_from_the_last(model, found, tokens) for tokens in looks.contexts]
    return tuple(map(_loss, losses))


def _loss(value: float) -> float | None:
    return round(float(value), DECIMALS) if np.isfinite(value) else None


def _from_the_last(model: Callable[..., Tensor], rows: Tensor, tokens: int) -> float:
    """The mean loss of each row's last token from so many before it."""
    read = rows[:, -1 - tokens : -1]
    scored = torch.full((len(rows),), tokens - 1, device=rows.device)
    return F.cross_entropy(model(read, scored), rows[:, -1]).item()
