"""The site as `make docs` builds it, but for its figures, which are blank and as wide as the real ones."""

from functools import cache

from PIL import Image

from proofs_check.ledger.registry import load
from scripts.commands import docs
from scripts.pages import gallery
from scripts.pages.site import build, notebooks
from scripts.pages.site.pages import Pages

BLANK = Image.new("1", (2100, 900), 1)


@cache
def pages():
    registry = load()
    rows = docs.records(registry)
    return Pages(rows, registry, docs.documents(rows), nodes()).all()


def nodes():
    return {path.stem: notebooks.stored(path) for path in notebooks.sources()}


def write(folder):
    build.write_pages(folder, pages())
    (folder / "figures").mkdir()
    for picture in gallery.pictures():
        BLANK.save(folder / "figures" / f"{picture.name}.png")
    return folder
