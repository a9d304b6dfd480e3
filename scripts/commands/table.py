"""The table of commands, figures and studies: where each one is, imported only when it is called."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parents[1]
PACKAGE = __package__.rpartition(".")[0]
COMMANDS = (
    "verify",
    "train",
    "inspect",
    "construct",
    "landscape",
    "scope",
    "sinks",
    "heads",
    "receipt",
    "compare",
    "sweep",
    "arena",
    "conform",
    "certify",
    "audit",
    "report",
    "docs",
)
STUDIES = ("scalar", "theory", "igsm", "dissect", "family", "compare")
FIGURES = {path.stem.removeprefix("fig_"): path for path in sorted(HERE.glob("figures/*/fig_*.py"))}
GROUPS = {
    "figure": ("a figure of a paper's claim or of trained models, with its data", tuple(FIGURES)),
    "study": ("a study that trains models and writes its own page", STUDIES),
}


def path_of(name: str) -> Path:
    """The file of a command, of "figure NAME" or of "study NAME"."""
    group, _, member = name.partition(" ")
    if group == "figure":
        return FIGURES[member]
    return HERE / "commands" / (f"studies/{member}.py" if group == "study" else f"{name}.py")


def module(name: str) -> ModuleType:
    """The module of a command."""
    parts = path_of(name).relative_to(HERE).with_suffix("").parts
    return import_module(".".join((PACKAGE, *parts)))


def call(name: str, argv: list[str] | None) -> int:
    """Run a command; return its exit status."""
    # The file is read and not imported: only a figure without options of its own has no `main`.
    if "\ndef main(" in path_of(name).read_text("utf-8"):
        return module(name).main(argv)
    from ..figures.figure_command import plain

    return plain(name, argv)


def commands() -> dict[str, str]:
    """Every command with the first line of its docstring; a group with what its members are."""
    return {name: headline(path_of(name)) for name in COMMANDS} | {name: text for name, (text, _) in GROUPS.items()}


def headline(path: Path) -> str:
    """The first line of a file's docstring."""
    return path.read_text("utf-8").split('"""')[1].strip().splitlines()[0]
