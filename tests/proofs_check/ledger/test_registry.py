"""The registry: every claim that is written is loaded, no id is like another, and nothing ends the loading quietly."""

import ast
import re
import sys
import tomllib
from dataclasses import replace
from importlib import invalidate_caches
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from proofs_check.ledger import registry
from proofs_check.ledger.paper import Paper
from proofs_check.ledger.registry import BrokenLedger
from proofs_check.ledger.rows import record
from tests.proofs_check.ledger import planted

OURS = re.compile(r"(kv1?|razor|resformer|waiver)(\.\w+)+")
ROOT = Path(registry.__file__).parents[1]
HEAD = "from dataclasses import replace\nfrom tests.proofs_check.ledger import planted\n"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Writes a package of claims, one file a section, as the papers a and b or those named."""
    monkeypatch.syspath_prepend(tmp_path)
    names, known = [], {}

    def write(listed=None, papers=("a", "b"), **sections):
        name = f"planted_package_{len(names)}_{tmp_path.name}".replace("-", "_")
        names.append(name)
        folder = tmp_path / name
        folder.mkdir()
        for section, text in sections.items():
            (folder / f"{section}.py").write_text(HEAD + text)
        (folder / "__init__.py").touch()
        fields = {"title": "", "link": "", "short": "", "page": "", "certificates": folder, "package": name}
        known.update({one: Paper(id=one, sections=tuple(listed or sections), **fields) for one in papers})
        monkeypatch.setattr(registry, "installed", lambda: known)

    yield write
    registry._mentions.cache_clear()
    for name in [module for module in sys.modules if module.split(".")[0] in names]:
        del sys.modules[name]


def claim(name):
    return f"replace(planted.GOOD, id={name!r})".replace("'", '"')


def claims(*names):
    return f"CLAIMS = ({', '.join(map(claim, names))},)\n"


def test_it_takes_the_named_papers_from_every_section(package):
    package(one=claims("a.x", "b.x"), two=claims("a.y"))
    assert registry.select(registry.load(("a",)), None, papers=("a",)) == ["a.x", "a.y"]
    assert list(registry.load(("a", "b"))) == list(registry.load()) == ["a.x", "b.x", "a.y"]
    assert list(registry.load(("a", "b"), ("a.*",))) == ["a.x", "b.x", "a.y"], "a pattern needs them all"


def test_a_claim_is_loaded_with_what_it_links_to_in_other_papers_and_packages(package):
    package(one='CLAIMS = (replace(planted.GOOD, id="a.x", correction="b.x"), replace(planted.GOOD, id="b.x"))\n')
    package(papers=("mine",), two='CLAIMS = (replace(planted.GOOD, id="mine.x", outcome_of="a.x"),)\n')
    for papers, chosen in ((("a",), ["a.x"]), (("mine",), ["mine.x"])):
        found = registry.load(papers)
        assert registry.select(found, None, papers=papers) == chosen
        assert {link for one in found.values() for link in (one.correction, one.outcome_of) if link} <= set(found)


def test_no_paper_of_ours_alone_has_a_link_that_leads_nowhere():
    for paper in registry.host():
        found = registry.load((paper,))
        assert {link for one in found.values() for link in (one.correction, one.outcome_of) if link} <= set(found)
        assert {record(one, found).message for one in found.values()} == {""}


ASKED = [(None, None), (("mine",), None), (None, ("a.x",)), (None, ("a.new",)), (("a",), ("a.x",)), (None, ("a.*",))]


@pytest.mark.parametrize(("papers", "patterns"), ASKED)
def test_an_id_of_another_packages_paper_is_refused_by_name(package, papers, patterns):
    package(one=claims("a.x"))
    package(papers=("mine",), two=claims("a.x", "a.new", "mine.x"))
    with pytest.raises(BrokenLedger, match=r"package_1\w+ holds a claim 'a\.(x|new)', and the paper a belongs to"):
        registry.load(papers, patterns)


def test_a_plain_id_that_two_sections_hold_is_refused_as_it_is_among_all(package):
    package(one=claims("a.x"), two=claims("a.x"))
    with pytest.raises(BrokenLedger, match=r"two claims are called a\.x"):
        registry.load(None, ("a.x",))


STATED = """
from proofs_check.language import real, statement
x = real("x")
FORMAL = {"a.x": statement("a.x", for_all=[x], says=x + 1 > x)}
NEEDS = {"a.x": "nothing"}
"""


def test_a_statement_as_data_is_taken_from_the_claims_own_package_alone(package, tmp_path):
    package(one=claims("a.x"))
    package(papers=("mine",), two=claims("mine.x"))
    (foreign,) = tmp_path.glob("planted_package_1*")
    (foreign / "formal.py").write_text(STATED)
    assert registry.load(None, ("a.x",))["a.x"].formal is None and registry.sketch("a.x") is None
    with pytest.raises(BrokenLedger, match=r"called a\.x, and no claim of planted_package_1"):
        registry.load()
    (own,) = tmp_path.glob("planted_package_0*")
    (foreign / "formal.py").rename(own / "formal.py")
    for module in [f"{folder.name}.formal" for folder in (own, foreign)]:
        sys.modules.pop(module, None)
    invalidate_caches()
    assert registry.load()["a.x"].formal.name == "a.x" and registry.sketch("a.x") == "nothing"


def test_one_id_loads_its_own_section_and_what_it_links_to(package):
    leaning = 'CLAIMS = (replace(planted.GOOD, id="a.x", correction="a.y"),)\n'
    package(one=leaning, two=claims("a.y"), three="raise RuntimeError('never needed')\n")
    assert list(registry.load(("a", "b"), ("a.x",))) == ["a.x", "a.y"]


def test_an_unknown_paper_is_bad_input(package):
    package(one=claims("a.x"))
    with pytest.raises(ValueError, match="unknown paper 'c'"):
        registry.load(("a", "c"))


BROKEN = {
    "a double": ({"one": claims("a.x", "a.x")}, r"two claims are called a\.x"),
    "l for 1": ({"one": claims("a.tab1", "a.tabl")}, "read alike"),
    "O for 0": ({"one": claims("a.x0", "a.xO")}, "read alike"),
    "another case": ({"one": claims("a.appA", "a.appa")}, "read alike"),
    "an underscore more": ({"one": claims("a.x_y", "a.xy")}, "read alike"),
    "a space": ({"one": claims("a.x", "a.x ")}, "not of the form"),
    "a Cyrillic letter": ({"one": claims("a.x", "a.\u0445")}, "not of the form"),
    "no place": ({"one": claims("a")}, "not of the form"),
    "no known paper": ({"one": claims("c.x")}, "no known paper"),
    "a claim left out": ({"one": claims("a.x") + f"LOST = {claim('a.y')}\n"}, r"holds the claim 'a\.y'"),
    "claims left out": ({"one": claims("a.x") + f"LOST = [{claim('a.y')}]\n"}, r"holds the claim 'a\.y'"),
    "a section that fails": ({"one": "CLAIMS = (undefined,)\n"}, "NameError"),
    "a section that exits": ({"one": "import sys\nsys.exit(0)\n"}, "SystemExit"),
    "a section without claims": ({"one": "CLAIM = ()\n"}, "no CLAIMS"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_ledger_that_is_not_whole_is_refused(package, name):
    sections, message = BROKEN[name]
    package(**sections)
    with pytest.raises(BrokenLedger, match=message):
        registry.load(("a", "b"))


def test_a_module_that_no_section_lists_may_hold_no_claim(package):
    package(listed=["one"], one=claims("a.x"), two=claims("a.y"))
    with pytest.raises(BrokenLedger, match=r"two holds the claim 'a\.y'"):
        registry.load(("a",))


def test_claims_may_stand_in_a_room_of_the_paper_and_are_not_lost_there(package, tmp_path):
    package(listed=["one", "room.part"], one=claims("a.x"))
    (folder,) = tmp_path.glob("planted_package*")
    (folder / "room").mkdir()
    (folder / "room" / "__init__.py").touch()
    (folder / "room" / "part.py").write_text(HEAD + claims("a.y"))
    assert list(registry.load()) == ["a.x", "a.y"]
    (folder / "room" / "lost.py").write_text(HEAD + claims("a.z"))
    with pytest.raises(BrokenLedger, match=r"room\.lost holds the claim 'a\.z'"):
        registry.load(("a",))


def test_papers_are_those_that_packages_name_and_no_two_of_one_name(monkeypatch):
    assert list(registry.installed())[:3] == ["kv", "kv1", "razor"] == list(registry.host())[:3]
    other = ModuleType("my_paper")
    other.KV = replace(registry.installed()["kv"], package="my_paper")
    other.__path__ = []
    monkeypatch.setitem(sys.modules, "my_paper", other)
    twice = [EntryPoint("kv", f"{package}:KV", registry.GROUP) for package in ("proofs_check.kv", "my_paper")]
    with pytest.raises(BrokenLedger, match=r"two packages hold a paper 'kv': my_paper and proofs_check\.kv"):
        registry.papers_of(twice)
    short = EntryPoint("kv", "proofs_check.kv", registry.GROUP)
    assert registry.papers_of([*twice[:1] * 2, short]) == {"kv": registry.installed()["kv"]}
    for wrong in ("my_paper:NONE", "my_paper:__name__", "proofs_check.kv:KV1", "proofs_check.kv.tables.text:KV"):
        with pytest.raises(BrokenLedger, match=f"the entry point kv = {wrong} leads to no record of that paper"):
            registry.papers_of([EntryPoint("kv", wrong, registry.GROUP)])


def test_a_pattern_that_matches_nothing_is_refused_with_a_hint():
    claims = {name: replace(planted.GOOD, id=name) for name in ("kv.thm3.3", "kv.thm3.4.limit")}
    assert registry.select(claims, ("kv.thm3.4*",)) == ["kv.thm3.4.limit"]
    for asked, told in (((None, "false"), "there is no claim that is false"),
                        ((None, None, ("mine",)), "there is no claim of mine$")):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            registry.select(claims, *asked)
    for pattern, message in (("kv.thm33", r"did you mean kv\.thm3\.3"), ("zebra", "--list shows them all")):
        with pytest.raises(ValueError, match=message):
            registry.select(claims, (pattern,))
    with pytest.raises(ValueError, match=r"no claim that matches 'kv\.thm3\.3' is false"):
        registry.select(claims, ("kv.thm3.3",), "false")


def test_a_dropped_id_is_no_claim_and_says_what_became_of_it():
    claims, gone = registry.load(), registry.dropped()
    assert len(gone) > 90 and not gone.keys() & claims.keys()
    for name, became in gone.items():
        if registry.resolved(name) == became:
            assert registry.select(claims, (name,)) == [became]
            continue
        with pytest.raises(ValueError, match=f"^{re.escape(f'{name} is no claim any more: {became}')}$"):
            registry.select(claims, (name,))
        named = re.findall(r"(?:kv1?|razor|resformer|waiver)\.[\w.]*\w", became)
        assert "\n" not in became and claims.keys() >= set(named)
        assert all((ROOT.parent / path).is_file() for path in re.findall(r"tests/\S+\.py", became))


def _written():
    """Every id in the papers' modules that opens a call or a row of a table, or is its argument `id`; and in data."""
    data = (tomllib.loads(path.read_text("utf-8")) for path in ROOT.glob("*/**/*.toml"))
    found = {name for entries in data for name in entries if OURS.fullmatch(name)}
    for path in [path for paper in ("kv", "razor", "resformer", "waiver") for path in ROOT.glob(f"{paper}/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            opening = (
                node.args[:1] if isinstance(node, ast.Call) else node.elts[:1] if isinstance(node, ast.Tuple) else []
            )
            named = [k.value for k in node.keywords if k.arg == "id"] if isinstance(node, ast.Call) else []
            texts = (a.value for a in [*opening, *named] if isinstance(a, ast.Constant))
            found |= {t for t in texts if isinstance(t, str) and OURS.fullmatch(t)}
    data = (path for path in ROOT.glob("*/**/*.toml") if path.name not in ("paper.toml", "unruled.toml"))
    return found.union(*(tomllib.loads(path.read_text("utf-8")) for path in data))


def test_the_claims_that_are_loaded_are_those_that_are_written():
    assert set(registry.load()) == _written()
