"""Writes the site into a folder: pages, style, figures, explorer, notebooks; what is up to date stays."""

import contextlib
import hashlib
import io
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import joblib
from tqdm import tqdm

from dynamics.files.atomic import atomic_write_bytes, atomic_write_text

from .. import gallery
from . import notebooks
from .pages import HERE, ROOT, Pages

RECORD = "drawn-from.sha256"


@contextlib.contextmanager
def drawing(folder: Path, jobs: int = -1, quiet: bool = False) -> Iterator[int]:
    """Figures that are missing, or were drawn from other sources, drawn by processes while the caller works.

    quiet: without a bar. Yields how many; at the end all are there. The record goes first and is written last: what
    broke off is drawn anew.
    """
    pictures, drawn_from, record = list(gallery.pictures()), sources(), folder / RECORD
    folder.mkdir(parents=True, exist_ok=True)
    fresh = _says(record, drawn_from)
    stale = [one for one in pictures if not (fresh and (folder / f"{one.name}.png").is_file())]
    if stale:
        record.unlink(missing_ok=True)
    with joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1) as parallel:
        drawn = parallel(joblib.delayed(_draw)(one, folder) for one in stale)
        yield len(stale)
        for _ in tqdm(drawn, total=len(stale), desc="figures", unit="", disable=quiet or None, leave=False):
            pass
    for path in folder.iterdir():
        if path != record and path.stem not in {one.name for one in pictures}:
            path.unlink()
    atomic_write_text(record, drawn_from)


def _says(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text("utf-8") == text


def _draw(picture: gallery.Picture, folder: Path) -> None:
    """In a folder of its own first: a figure that is half drawn is none."""
    with tempfile.TemporaryDirectory() as own, contextlib.redirect_stdout(io.StringIO()):
        atomic_write_bytes(folder / f"{picture.name}.png", picture.draw(Path(own)).read_bytes())


def write_site(folder: Path, rows: list[dict], registry: Mapping, documents: Mapping[str, str]) -> Path:
    """The pages and the notebooks, where the figures are; return the front page."""
    every = {path.stem: node for path in notebooks.sources() if (node := notebooks.stored(path)) is not None}
    write_pages(folder, Pages(rows, registry, documents, every).all())
    return folder / "index.html"


def write_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """All texts, whole or not at all."""
    (folder / "claims").mkdir(parents=True, exist_ok=True)
    for path in (folder / "claims").glob("*.html"):
        if f"claims/{path.name}" not in pages:
            path.unlink()
    for name, page in pages.items():
        if not _says(folder / name, page):
            atomic_write_text(folder / name, page)
    own = (HERE / "style.css", HERE / "search.js", ROOT / "docs" / "rooms.svg")
    for path in (*own, *(ROOT / "examples").glob("**/*.*")):
        atomic_write_bytes(folder / path.name, path.read_bytes())


def sources() -> str:
    """A hash of all that figures are drawn from: code, style, what ships."""
    code = (path for room in ("theory", "dynamics", "scripts") for path in (ROOT / room).rglob("*.py"))
    data = [ROOT / "scripts/figures/workbench.mplstyle", *(ROOT / "dynamics" / "shipped").rglob("*.sha256")]
    text = "".join(f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n"
                   for path in sorted([*code, *data]))  # fmt: skip
    return hashlib.sha256(text.encode()).hexdigest() + "\n"
