"""The gallery's pictures with the commands that it gives for them."""

import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery.md"
PREFIX = "python -m scripts."


class Picture(NamedTuple):
    """A picture of the gallery: its file, the module of its command and the arguments."""

    path: Path
    module: str
    arguments: list[str]

    def draw(self, out: Path) -> Path:
        """Run the command in this process, into `out`; return the picture."""
        where = self.arguments.index("--figure" if self.module == "scope" else "--out") + 1
        arguments = [*self.arguments[:where], str(out / self.path.stem), *self.arguments[where + 1 :]]
        assert import_module(f"scripts.{self.module}").main([*arguments, "--format", "png"]) == 0
        return out / self.path.name


def pictures() -> list[Picture]:
    """Every picture of the gallery with the last command above it."""
    found, command = [], ""
    for line in GALLERY.read_text("utf-8").splitlines():
        if line.startswith(f"    {PREFIX}"):
            command = line.strip().removeprefix(PREFIX)
        if match := re.fullmatch(r"!\[.*\]\((.+\.png)\)", line):
            module, *arguments = shlex.split(command)
            found.append(Picture(GALLERY.parent / match[1], module, arguments))
    return found
