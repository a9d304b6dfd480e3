"""A listing that is run: what comes of it as printed, what is promised, and what comes once its slip is mended."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from proofs_check.evidence.margin import Margin, different, same
from proofs_check.ledger.claim import (
    ENUMERATED,
    INSTANCES,
    WITNESSED,
    Claim,
    Control,
    Evidence,
    Kind,
    Nature,
    Severity,
    Verdict,
)
from proofs_check.ledger.readings import READINGS
from proofs_check.ledger.rule import place, source

Case = Mapping[str, Any]


def runs(
    id: str,
    at: str,
    code: Callable[..., Any],
    promised: Any,
    cases: Iterable[Case] = ({},),
    *,
    mend: Case | None = None,
    broken: Iterable[Case] = (),
    reading: str = "",
    why: str = "",
) -> Claim:
    """The record of a listing. It has no word for a verdict or a severity: what comes of the first case gives both.

    code, promised: functions whose first line says what they give, a {name} there being the value of that argument;
    their defaults are what is printed, and promised may be a plain value. cases: where the two are compared. mend: the
    arguments that put a slip right, of the listing or of the sentence; fewer of them do not. broken: without a slip,
    changes of the cases such that the two differ; with a reading, what it leaves out.
    """
    listed = _Listing(code, promised, tuple(cases))
    ruled = listed.held(tuple(broken), reading) if mend is None else listed.mended(mend)
    words = f"{listed.said({})}{_words(', for ', listed.cases)}."
    coverage = ENUMERATED if len(listed.cases) == 1 else INSTANCES
    return Claim(
        id=id,
        source=source(id, at),
        record="runs",
        statement=words,
        nature=Nature.TEXTUAL,
        is_correction=place(id, at).ours,
        reading=READINGS[reading].sentence if reading else "",
        why=why,
        **{"coverage": coverage, **ruled},
    )


@dataclass(frozen=True)
class _Listing:
    code: Callable[..., Any]
    promised: Any
    cases: tuple[Case, ...]

    def agrees(self, **given: Any) -> Margin:
        return same(_value(self.promised, given), _came(self.code, given))

    def differs(self, **given: Any) -> Margin:
        return different(_value(self.promised, given), _came(self.code, given))

    def changed(self, change: Case) -> list[Case]:
        return [{**case, **change} for case in self.cases]

    def said(self, change: Case) -> str:
        """What comes, and what is promised, in words, with the arguments that are the same in all cases."""
        alike = {k: value for k, value in self.cases[0].items() if all(case.get(k) == value for case in self.cases)}
        return ": ".join(_text(part, {**alike, **change}) for part in (self.code, self.promised))

    def held(self, broken: tuple[Case, ...], reading: str) -> dict[str, Any]:
        controls = tuple(Control(_words("", [change]), points=self.changed(change)) for change in broken)
        evidence = (Evidence(Kind.EXACT, "the listing, run", self.agrees, self.cases, controls),)
        if not reading:
            return {"verdict": Verdict.HOLDS, "evidence": evidence}
        return {
            "verdict": Verdict.HOLDS_IF,
            "severity": READINGS[reading].severity,
            "evidence": evidence,
            "note": f"Not{_words(' for ', broken)}.",
        }

    def mended(self, mend: Case) -> dict[str, Any]:
        """A slip of the sentence is a misprint; one of the listing is false where a value comes, another one."""
        slip, points = _words("", [mend]), self.changed(mend)
        # The listing as printed, and with all but one of the arguments mended; for a single argument both are one.
        parts = [{}, *({name: mend[name] for name in mend if name != one} for one in mend if len(mend) > 1)]
        controls = tuple(Control(_words("mended by ", [p]) or "as printed", points=self.changed(p)) for p in parts)
        right = Evidence(Kind.EXACT, f"mended: {slip}", self.agrees, points, controls)
        if callable(self.promised) and mend.keys() <= _arguments(self.promised).keys():
            note = f"{self.said(mend)}."
            return {"verdict": Verdict.TYPO, "severity": Severity.MISPRINT, "evidence": (right,), "note": note}
        found = _came(self.code, self.cases[0])
        if isinstance(found, _Nothing):
            note = f"As printed it {found.how}. Mended: {slip}."
            return {"verdict": Verdict.TYPO, "severity": Severity.CODE, "evidence": (right,), "note": note}
        control = Control(f"mended: {slip}", points=points)
        wrong = Evidence(Kind.EXACT, "as printed", self.differs, self.cases, (control,))
        return {
            "verdict": Verdict.FALSE,
            "severity": Severity.CODE,
            "evidence": (wrong, right),
            "coverage": WITNESSED,
            "witness": self.cases[0],
            "note": f"As printed something else comes. Mended: {slip}.",
            "holds_instead": f"{self.said(mend)}, with {slip}.",
        }


class _Nothing(tuple[str]):
    """No value came: how the listing ended instead."""

    @property
    def how(self) -> str:
        return self[0]


def _value(part: Any, given: Case) -> Any:
    """What a part gives, of the arguments that it has."""
    if not callable(part):
        return part
    return part(**{name: value for name, value in given.items() if name in _arguments(part)})


def _came(code: Callable[..., Any], given: Case) -> Any:
    try:
        found = _value(code, given)
    except Exception as fault:  # whatever a listing raises is what comes of it
        return _Nothing([f"raises {type(fault).__name__}"])
    return _Nothing(["returns None"]) if found is None else found


def _arguments(part: Callable[..., Any]) -> Mapping[str, Any]:
    """The default of each of its arguments, or the name where there is none."""
    found = inspect.signature(part).parameters.items()
    return {name: name if one.default is one.empty else one.default for name, one in found}


def _text(part: Any, given: Case) -> str:
    if not callable(part):
        return str(part)
    return (part.__doc__ or "").partition("\n")[0].removesuffix(".").format(**{**_arguments(part), **given})


def _words(before: str, cases: Iterable[Case]) -> str:
    """The values of each argument: "length = 1, 2 and window = 3"; the name alone of one that is True."""
    found: dict[str, dict[str, None]] = {}
    for case in cases:
        for name, value in case.items():
            found.setdefault(name.replace("_", " "), {})[str(value.value if isinstance(value, Enum) else value)] = None
    named = [f"{name} = {', '.join(values)}".removesuffix(" = True") for name, values in found.items()]
    return before + " and ".join(["; ".join(named[:-1]), *named[-1:]][not named[:-1] :]) if named else ""
