"""A listing that is run: what it promises, what comes of it as printed, and what comes once its slip is mended."""

from collections.abc import Callable, Mapping
from typing import Any

from proofs_check.evidence.margin import Margin, same
from proofs_check.ledger.claim import ENUMERATED, Claim, Control, Evidence, Kind, Nature, Severity, Verdict
from proofs_check.records.place import place, source


def runs(id: str, at: str, code: Callable[..., Any], promised: Any, mend: Mapping[str, Any], why: str = "") -> Claim:
    """A slip of a listing: `code()` does not give what is promised, `code(**mend)` does. Both are run.

    mend: the arguments that put the slip right, one by one the words that are printed.
    """

    def gives(**changed: Any) -> Margin:
        found = code(**changed)
        return same(promised, found)._replace(printed=str(promised), true=str(found))

    control = Control("as printed", points=({},))
    words = " and ".join(name.replace("_", " ") for name in mend)
    where = place(id, at)
    return Claim(
        id=id, source=source(id, at), statement=f"As printed, the listing gives {promised}.", nature=Nature.TEXTUAL,
        verdict=Verdict.TYPO, severity=Severity.CODE, coverage=ENUMERATED, is_correction=where.ours,
        note=f"It does with a change: {words}. {why}".strip(),
        evidence=(Evidence(Kind.EXACT, "the listing, run", gives, (dict(mend),), (control,)),),
    )  # fmt: skip
