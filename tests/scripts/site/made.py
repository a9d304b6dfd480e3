"""The site as `make docs` builds it, but for its figures, which are one pixel each."""

import base64
from functools import cache

from proofs_check.ledger.registry import load
from scripts.commands import docs
from scripts.pages import gallery
from scripts.pages.site import build, notebooks
from scripts.pages.site.pages import Pages

PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")


@cache
def pages():
    registry = load()
    rows = docs.records(registry)
    return Pages(rows, registry, docs.documents(registry, rows), nodes()).all()


def nodes():
    return {path.stem: notebooks.stored(path) for path in notebooks.sources()}


def write(folder):
    build.write_pages(folder, pages())
    (folder / "figures").mkdir()
    for picture in gallery.pictures():
        (folder / "figures" / f"{picture.name}.png").write_bytes(PIXEL)
    return folder
