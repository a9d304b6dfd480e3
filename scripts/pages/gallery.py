"""Every picture of the project with the command that draws it and what to see in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dynamics.experiments.presets import SWEEPS
from dynamics.sweep.shipped import shipped_names
from dynamics.training.describe import sizes

from ..commands.table import FIGURES, HERE, call, headline


class Picture(NamedTuple):
    """name: of its file, without an ending; module and arguments: of its command, less where it writes."""

    name: str
    caption: str
    module: str
    arguments: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        option = "--figure" if self.module == "scope" else "--out"
        return " ".join(["python -m scripts " + self.module, *self.arguments, option, f"out/{self.name}"])

    def draw(self, folder: Path) -> Path:
        """Run the command in this process; return the PNG."""
        option = "--figure" if self.module == "scope" else "--out"
        if call(self.module, [*self.arguments, option, str(folder / self.name), "--format", "png"]) != 0:
            raise RuntimeError(f"{self.command} failed")
        return folder / f"{self.name}.png"


def pictures() -> Iterator[Picture]:
    """All of them: a figure script each, a sweep each, the map of a shipped model."""
    for name, path in FIGURES.items():
        if name not in ("sweep", "training"):  # which has no run that ships
            yield Picture(path.stem, headline(path), f"figure {name}")
    for name in SWEEPS:
        if name in shipped_names() and name != "coupling":  # which fig_heads draws
            yield Picture(f"fig_sweep_{name}", sweep_caption(name), "figure sweep", ("--preset", name))
    model = "dynamics/shipped/models/alibi-text"
    yield Picture("scope_map", headline(HERE / "figures/heads/scope_map.py"), "scope",
                  (model, "--eps", "1e-3", "--context", "16384"))  # fmt: skip


def sweep_caption(name: str) -> str:
    """What a sweep shows and the sizes that its models share."""
    preset = SWEEPS[name]
    return f"{preset.title}. Sizes: {sizes(preset.variants.values())}; {preset.seeds} seeds."
