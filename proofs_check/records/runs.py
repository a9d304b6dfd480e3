"""A listing that is run: what comes of it as printed, what is promised, and what comes once its slip is mended."""

import inspect
from collections.abc import Callable, Iterable, Mapping
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
    Witness,
)
from proofs_check.records.place import place, source
from proofs_check.records.readings import READINGS

Case = Mapping[str, Any]


def runs(
    id: str, at: str, code: Callable[..., Any], promised: Any, cases: Iterable[Case] = ({},), *,
    mend: Case | None = None, broken: Iterable[Case] = (), reading: str = "", why: str = "",
) -> Claim:  # fmt: skip
    """The record of a listing. It has no word for a verdict or a severity: what comes of the first case gives both.

    code, promised: functions whose first line says what they give, a {name} there being the value of that argument;
    their defaults are what is printed, and promised may be a plain value. cases: where the two are compared. mend: the
    arguments that put a slip right, of the listing or of the sentence. broken: without a slip, changes of the cases at
    which the two must differ; with a reading, what it leaves out.
    """
    cases, broken, ours = tuple(cases), tuple(broken), place(id, at).ours

    def agrees(**given: Any) -> Margin:
        return same(_value(promised, given), _came(code, given))

    def differs(**given: Any) -> Margin:
        return different(_value(promised, given), _came(code, given))

    def claim(verdict: Verdict, severity: Severity | None, note: str, *evidence: Evidence, **rest: Any) -> Claim:
        coverage = ENUMERATED if len(cases) == 1 else INSTANCES
        rest = {"coverage": coverage, "witness": None, "holds_instead": "", **rest}
        return Claim(
            id=id, source=source(id, at), statement=f"{said({})}{_words(', for ', cases)}.", nature=Nature.TEXTUAL,
            verdict=verdict, severity=severity, is_correction=ours, note=note, why=why,
            reading=READINGS[reading].sentence if reading else "", evidence=evidence, **rest,
        )  # fmt: skip

    def said(changed: Case) -> str:
        return f"{_text(code, changed)}: {_text(promised, changed)}"

    if mend is None:
        controls = [Control(_words("", [change]), points=[{**case, **change} for case in cases]) for change in broken]
        held = Evidence(Kind.EXACT, "the listing, run", agrees, cases, tuple(controls))
        if not reading:
            return claim(Verdict.HOLDS, None, "", held)
        return claim(Verdict.HOLDS_IF, READINGS[reading].severity, f"Not{_words(' for ', broken)}.", held)
    mended, slip = [{**case, **mend} for case in cases], _words("", [mend])
    right = Evidence(Kind.EXACT, f"mended: {slip}", agrees, mended, (Control("as printed", points=cases),))
    if callable(promised) and mend.keys() <= _arguments(promised).keys():
        return claim(Verdict.TYPO, Severity.MISPRINT, f"{said(mend)}.", right)
    found = _came(code, cases[0])
    if isinstance(found, _Nothing):
        return claim(Verdict.TYPO, Severity.CODE, f"As printed it {found.how}. Mended: {slip}.", right)
    wrong = Evidence(Kind.EXACT, "as printed", differs, cases, (Control(f"mended: {slip}", points=mended),))
    note = f"As printed something else comes. Mended: {slip}."
    return claim(Verdict.FALSE, Severity.CODE, note, wrong, right, coverage=WITNESSED, witness=Witness(cases[0]),
                 holds_instead=f"{said(mend)}, with {slip}.")  # fmt: skip


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
    """The defaults of its arguments by name."""
    return {name: parameter.default for name, parameter in inspect.signature(part).parameters.items()}


def _text(part: Any, given: Case) -> str:
    if not callable(part):
        return str(part)
    return (part.__doc__ or "").partition("\n")[0].removesuffix(".").format(**{**_arguments(part), **given})


def _words(before: str, cases: Iterable[Case]) -> str:
    """The values of each argument: "length = 1, 2 and window = 3"."""
    found: dict[str, dict[str, None]] = {}
    for case in cases:
        for name, value in case.items():
            found.setdefault(name, {})[str(value.value if isinstance(value, Enum) else value)] = None
    named = [f"{name.replace('_', ' ')} = {', '.join(values)}" for name, values in found.items()]
    return before + " and ".join(["; ".join(named[:-1]), *named[-1:]][not named[:-1] :]) if named else ""
