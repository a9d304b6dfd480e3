"""A name in a text against a list of the paper's own: it stands there, or it is a misprint."""

from collections.abc import Sequence

from proofs_check.evidence.margin import Margin, same
from proofs_check.ledger.claim import ENUMERATED, Claim, Control, Evidence, Kind, Nature, Severity, Verdict
from proofs_check.ledger.rule import source, versions


def refers(id: str, at: str, among: str, printed: Sequence[str], meant: Sequence[str] = (), why: str = "") -> Claim:
    """The names that a place prints, each looked up in the list of every version that prints them.

    among: "labels", the places of the paper, or a list of its `paper.toml`; meant: the right names, none where the text
    has none; why: a referee's insight.
    Raises: ValueError for a list that the paper does not have, where something is meant and nothing printed is missing,
    where what is meant is missing too, and where two versions differ.
    """
    lists = [paper.listed(among) for paper in versions(id, at)]

    def there(name: str) -> bool:
        return all(name in listed for listed in lists)

    def found(name: str, expected: bool) -> Margin:
        return same(expected, there(name))

    lost = [name for name in printed if not there(name)]
    if any(name in listed for name in lost for listed in lists):
        raise ValueError(f"{id}: one version has {_and(lost)} among its {among}, the other has not")
    if meant and not (lost and all(map(there, meant))):
        raise ValueError(f"{id}: {_and(meant)} cannot be meant among the {among}, or nothing else is printed")
    mend = f": {_and(meant)} {'is' if len(meant) == 1 else 'are'} meant" if meant else ""
    note = f"{_and(lost)} {'is' if len(lost) == 1 else 'are'} none of them{mend}." if lost else ""
    points = [{"name": name, "expected": name not in lost} for name in meant or printed]
    control = Control("as printed" if lost else "no name", points=[{"name": n, "expected": True} for n in lost or [""]])
    return Claim(
        id=id, source=source(id, at), record="refers", nature=Nature.TEXTUAL,
        statement=f"It names {_and(printed)} among the {among} of the paper.",
        verdict=Verdict.TYPO if lost else Verdict.HOLDS, severity=Severity.MISPRINT if lost else None,
        evidence=(Evidence(Kind.EXACT, f"the {among}", found, points, (control,)),), coverage=ENUMERATED,
        note=f"{note} {why}".strip(),
    )  # fmt: skip


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)
