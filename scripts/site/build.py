"""Writes the site into a folder: pages, style, figures, explorer, notebooks; what is up to date stays."""

import contextlib
import hashlib
import io
import tempfile
from collections.abc import Mapping
from pathlib import Path

from dynamics.files.atomic import atomic_write_bytes, atomic_write_text

from .. import gallery
from .pages import HERE, ROOT, Pages

HOME = '<p><a href="index.html">Induction Workbench</a></p>'
RECORD = "drawn-from.sha256"


def write_site(folder: Path, rows: list[dict], registry: Mapping, documents: Mapping[str, str]) -> Path:
    """Pages, figures and notebooks; return the front page."""
    write_pages(folder, Pages(rows, registry, documents).all())
    write_figures(folder / "figures")
    return folder / "index.html"


def write_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """All texts, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text("utf-8") != page:
            atomic_write_text(path, page)
    explorer = (HERE / "explorer.html").read_text("utf-8")
    atomic_write_text(folder / "explorer.html", explorer.replace("<main>", f"<main>\n{HOME}", 1))
    for path in (HERE / "style.css", ROOT / "docs" / "rooms.svg", *(ROOT / "examples").glob("*.py")):
        atomic_write_bytes(folder / path.name, path.read_bytes())


def write_figures(folder: Path, jobs: int = -1) -> int:
    """Draw all figures, in processes, unless they are there and were drawn from these sources; return how many."""
    import joblib
    from tqdm import tqdm

    pictures, drawn_from = list(gallery.pictures()), sources()
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / RECORD
    fresh = record.is_file() and record.read_text("utf-8") == drawn_from
    stale = [one for one in pictures if not (fresh and (folder / f"{one.name}.png").is_file())]
    if not stale:
        return 0
    record.unlink(missing_ok=True)
    with joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1) as parallel:
        drawn = parallel(joblib.delayed(_draw)(one, folder) for one in stale)
        for _ in tqdm(drawn, total=len(stale), desc="figures", unit="", disable=None, leave=False):
            pass
    for path in folder.iterdir():
        if path.stem not in {one.name for one in pictures}:
            path.unlink()
    atomic_write_text(record, drawn_from)
    return len(stale)


def _draw(picture: gallery.Picture, folder: Path) -> None:
    """In a folder of its own first: a figure that is half drawn is none."""
    with tempfile.TemporaryDirectory() as own, contextlib.redirect_stdout(io.StringIO()):
        atomic_write_bytes(folder / f"{picture.name}.png", picture.draw(Path(own)).read_bytes())


def sources() -> str:
    """A hash of all that figures are drawn from: code, style, what ships."""
    code = (path for room in ("theory", "dynamics", "scripts") for path in (ROOT / room).rglob("*.py"))
    data = [ROOT / "scripts" / "workbench.mplstyle", *(ROOT / "dynamics" / "shipped").rglob("*.sha256")]
    text = "".join(f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n"
                   for path in sorted([*code, *data]))  # fmt: skip
    return hashlib.sha256(text.encode()).hexdigest() + "\n"
