"""Write the generated pages that are committed, then the site: out/site/index.html, which opens from a file.

Committed are the errata, the arena, the scoreboard of `conform`, the family of shifts, the rooms,
the figures of the findings. They tell of this project's papers alone, whatever is installed beside it.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..pages import docket, rooms
from ..pages.markdown import between, escaped
from ..pages.site.findings import FINDINGS
from . import audit, cli

ROOT = Path(__file__).resolve().parents[2]
FOUND = "<!-- findings: begin -->", "<!-- findings: end -->"
SIZES = "<!-- sizes: begin -->", "<!-- sizes: end -->"
READ = "<!-- second reading: begin -->", "<!-- second reading: end -->"


def parser() -> cli.Parser:
    p = cli.command_parser("docs", __doc__)
    what = p.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing; exit 1 if a committed page is stale")
    what.add_argument("--shipped", action="store_true", help="write the sha256 of what ships as data, and nothing else")
    what.add_argument(
        "--paper", action="append", metavar="NAME",
        help="write errata and the pages of this paper and its claims into --site, and nothing else (repeatable)",
    )
    p.add_argument("--site", default="out/site", metavar="FOLDER", help="where the site goes (default out/site)")
    return p


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    if args.shipped:
        _list_what_ships()
        return 0
    if args.paper:
        return _write_papers(Path(args.site), args.paper)
    return _check() if args.check else _write(Path(args.site), args.quiet)


def _write_papers(site: Path, papers: list[str]) -> int:
    """Pages of these papers, and of those whose claims they link to: as HTML, and as Markdown of themselves alone."""
    from dynamics.files.atomic import atomic_write_text
    from proofs_check.ledger.registry import load

    from ..pages.site.pages import HERE, Pages

    registry = load(tuple(papers))
    rows = records(registry)
    mine = [row for row in rows if row.paper in papers]
    found = Pages(rows, registry, {}, {}).all() | {"style.css": (HERE / "style.css").read_text("utf-8")}
    found |= {"errata.md": audit.errata(registry, mine)}
    for name, text in found.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        atomic_write_text(site / name, text)
        print(site / name)
    return 0


def _check() -> int:
    """Say what is stale; 0 if nothing is."""
    from proofs_check.ledger import judged, shipped

    registry = ledger()
    fresh = pages(registry, records(registry))
    found = [*(str(path.relative_to(ROOT)) for path in _stale(fresh)), *judged.stale(_decided(registry))]
    found += [str(path.with_suffix(".ipynb").relative_to(ROOT)) for path in _old_notebooks()]
    found += shipped.faults()
    for name in found:
        print(f"stale: {name} (run `make docs`)")
    return 1 if found else 0


def _write(site: Path, quiet: bool) -> int:
    """The committed pages and the site; figures are drawn by other processes meanwhile."""
    from dynamics.files.atomic import atomic_write_text
    from dynamics.training.parallel import quiet_restarts

    from ..pages.site import build, notebooks

    with quiet_restarts(), build.drawing(site / "figures", quiet=quiet):
        from proofs_check.ledger import judged

        registry = ledger()
        _keep(judged, registry)
        _list_what_ships()
        rows = records(registry)
        fresh = pages(registry, rows)
        for path in _stale(fresh):
            atomic_write_text(path, fresh[path])
            print(f"wrote {path.relative_to(ROOT)}")
        for path in _old_notebooks():
            notebooks.store(path)
            print(f"wrote {path.with_suffix('.ipynb').relative_to(ROOT)}")
        texts = documents(rows)
    print(f"wrote {build.write_site(site, rows, registry, texts)}")
    return 0


def _list_what_ships() -> None:
    from dynamics.files.atomic import atomic_write_text
    from proofs_check.ledger import shipped

    text = shipped.written()
    if not shipped.LIST.is_file() or shipped.LIST.read_text("utf-8") != text:
        atomic_write_text(shipped.LIST, text)
        print(f"wrote {shipped.LIST.relative_to(ROOT)}")


def _old_notebooks() -> list[Path]:
    """The scripts whose notebooks were run with another text."""
    from ..pages.site import notebooks

    return [path for path in notebooks.sources() if notebooks.stored(path) is None]


def _stale(fresh: Mapping[Path, str]) -> list[Path]:
    return [path for path, text in fresh.items() if not path.is_file() or path.read_text("utf-8") != text]


def _decided(registry) -> list:
    """Every statement that the core decides."""
    from proofs_check.ledger.registry import statements

    return list(statements(registry.values()).values())


def _keep(judged, registry) -> None:
    """What the core says of the stored certificates, written down where it is not."""
    from dynamics.files.atomic import atomic_write_text

    if judged.stale(_decided(registry)):
        atomic_write_text(judged.FILE, judged.written(_decided(registry)))
        judged.kept.cache_clear()
        print(f"wrote {judged.FILE.relative_to(ROOT)}")


def ledger() -> Mapping:
    """The claims of this project's papers, whatever is installed beside them."""
    from proofs_check.ledger.registry import host, load

    return load(host())


def pages(registry, rows) -> dict[Path, str]:
    """Every generated page that is committed, by its path."""
    from ..pages import arena_page, conform_page, family_page

    folder, readme = ROOT / "docs", ROOT / "README.md"
    worth = folder / "trust.md"
    return {
        folder / "errata.md": audit.errata(registry, rows),
        folder / "arena.md": arena_page.page(registry),
        folder / "conform-board.md": conform_page.page(),
        folder / "rooms.svg": rooms.picture(),
        folder / "family.md": family_page.page(registry),
        worth: between(between(worth.read_text("utf-8"), SIZES, sizes()), READ, second_reading(rows)),
        readme: between(readme.read_text("utf-8"), FOUND, findings(rows)),
    }


def documents(rows) -> dict[str, str]:
    """The Markdown that the site shows as pages of its own: what is committed, and what is made for it alone."""
    from ..pages import coverage_page, dissect_page

    elsewhere = ("errata.", "claims-", "coverage.")  # these have pages of their own
    committed = (path for path in (ROOT / "docs").glob("*.md") if not path.name.startswith(elsewhere))
    found = {path.stem: path.read_text("utf-8") for path in sorted(committed)}
    found |= {name.lower(): (ROOT / f"{name}.md").read_text("utf-8") for name in ("CONTRIBUTING", "CHANGELOG")}
    return found | {"coverage": coverage_page.page(rows), "dissected": dissect_page.page()}


def findings(rows) -> list[str]:
    """The README's list: a line a finding, what is ruled on, and how many defects there are."""
    from ..pages import coverage_page

    by_id = {row.id: row for row in rows}
    told = [(escaped(one.title(by_id)), escaped(one.text(by_id)), one.claims[0]) for one in FINDINGS]
    lines = [f"{at}. **{title}.** {text} `{name}`" for at, (title, text, name) in enumerate(told, 1)]
    wrong = docket.wrong(rows)
    return [*lines, "", "How many of the papers' claims are decided:", "",
            *coverage_page.table(coverage_page.shares(rows), "paper"), "",
            f"{len(wrong)} claims of the papers are false or misprinted, by {len(docket.defects(wrong))} defects: the "
            "[errata](docs/errata.md) list them. `python -m scripts verify --id kv.thm3.3` prints one claim in "
            "full."]  # fmt: skip


def sizes() -> list[str]:
    """Lines of code of what has to be trusted, and where it lies."""
    from proofs_check import trust

    counts = trust.sizes()
    return ["| what a verdict rests on | lines of code |", "|---|---|",
            f"| the core: what decides, found by its imports | {counts['decision']} |",
            "| what turns writing into trees, outcomes into a status and words, and says who may say what: "
            + ", ".join(f"`{name.removeprefix('proofs_check.')}`" for name in (*trust.LOGIC, *trust.RULINGS))
            + f" | {counts['logic']} |",
            f"| statements of the papers, and the formulas of theory in them | {counts['definitions']} |"]  # fmt: skip


def second_reading(rows) -> list[str]:
    """How often a reader who had not seen the rulings reached another verdict, by the verdict of the ruling."""
    read = [json.loads(line) for line in (ROOT / "docs" / "second-reading.jsonl").read_text("utf-8").splitlines()]
    ruled = {row.id: row.verdict for row in rows}
    pairs = [(ruled[one["id"]], one["verdict"]) for one in read if one["id"] in ruled]
    words = ("false", "typo", "holds_if", "holds", "unsettled")
    lines = [[verdict, *(str(pairs.count((verdict, word)) or "") for word in words)] for verdict in words]
    header = ["ruling", *(f"read as {word}" for word in words)]
    return ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * 6, *lines)]


def records(registry: Mapping) -> list:
    """The claims' rows without their evidence run; what the core said of a statement as data gives its coverage."""
    from proofs_check.ledger.judged import judged
    from proofs_check.ledger.rows import decided, record

    found = []
    for row in (record(claim, registry) for claim in registry.values()):
        one = row if row.formal is None else decided(row, judged(row.formal))
        against = one.status == "contradicted"  # what is otherwise unsettled here, other evidence settles in a run
        found.append(one if against else replace(one, status=None, message=""))
    return found
