"""A reader of printed statements: it rebuilds their trees from the words alone, up to what the print leaves open."""

import re
from fractions import Fraction

from proofs_check.core.statement import Form
from proofs_check.core.terms import FOLDS, FORMULAS, FUNCTIONS, PI, Term, num, substitute
from tests.proofs_check.core.canonical import canonical, content, folded, one, split

TOKEN = re.compile(r"( *)(\d+(?:\.\d+)?(?!\d)|[A-Za-z][A-Za-z0-9_]*'*|->|<=|>=|!=|\.\.|[^ ])")
WORDS = {"and", "or", "implies", "exactly", "if", "else", "then"}


class Unread(ValueError):
    """The words are nothing that the printer makes."""


class Reader:
    """known: parameters of definitions; parts: for a name its indices and what it stands for."""

    def __init__(self, words, known, parts=None):
        words = words.replace("exactly if", "exactly")
        self.tokens = [(bool(space), token) for space, token in TOKEN.findall(words)] + [(True, "")]
        self.place, self.known, self.parts = 0, known, {} if parts is None else parts

    def whole(self, way):
        found = way()
        self.take("")
        return found

    def peek(self, ahead=0):
        return self.tokens[min(self.place + ahead, len(self.tokens) - 1)][1]

    def opens(self, bracket):
        """A bracket right behind the last token."""
        return self.tokens[self.place] == (False, bracket) and self.take()

    def take(self, *wanted):
        token = self.peek()
        if (wanted and token not in wanted) or self.place == len(self.tokens):
            raise Unread(f"{token!r} where {wanted} should be, behind {self.tokens[: self.place][-9:]}")
        self.place += 1
        return token

    def took(self, *wanted):
        return self.peek() in wanted and self.take()

    def tried(self, *ways):
        start = self.place
        for way in ways:
            try:
                return way()
            except Unread as why:
                fault, self.place = why, start
        raise fault

    def many(self, way, end=None):
        found = [way()]
        while self.took(","):
            found.append(way())
        if end:
            self.take(end)
        return found

    # Terms

    def sum(self):
        pieces = [-1 * self.product() if self.took("-") else self.product()]
        while self.peek() in ("+", "-"):
            pieces.append(self.product() if self.take() == "+" else -1 * self.product())
        return one("add", pieces)

    def product(self):
        found = self.factor()
        while True:
            if self.took("/"):
                found = found / self.factor()
            elif self.took("*") or (
                self.tokens[self.place][0] and re.match(r"[\w(#|]", self.peek() or " ") and self.peek() not in WORDS
            ):
                found = found * self.factor()
            else:
                return found

    def factor(self):
        found = self.unit()
        return found ** int("-" * bool(self.took("-")) + self.take()) if self.took("^") else found

    def unit(self):
        token = self.take()
        if token[:1].isdigit():
            return num(Fraction(token))
        if token == "(":
            return self.tried(self.sequence, self.listing, self.cases, lambda: self.many(self.sum, ")")[0])
        if token == "|":
            return Term("apply", "abs", self.many(self.sum, "|")[0])
        if token == "#":
            self.take("{")
            ranges = self.many(self.range, ":")
            return folded("sum", ranges, Term("if", self.many(self.formula, "}")[0], num(1), num(0)))
        if not token[:1].isalpha() or token in WORDS:
            raise Unread(f"{token!r} begins no term")
        return self.named(token)

    def sequence(self):
        return Term("each", self.take(), self.take("->") and self.many(self.sum, ")")[0])

    def listing(self):
        """(a, b, then c), and (a, b, then c)[n]."""
        entries = [self.sum()]
        while self.take(",") and not self.took("then"):
            entries.append(self.sum())
        found, place = self.many(self.sum, ")")[0], Term("var", "place")
        for k in range(len(entries), 0, -1):
            found = Term("if", Term("rel", "=", place, num(k)), entries[k - 1], found)
        at = {"place": self.many(self.sum, "]")[0]} if self.opens("[") else {}
        return substitute(found, at) if at else Term("each", "place", found)

    def cases(self):
        cases = []
        while not self.took("else"):
            then, _ = self.sum(), self.take("if")
            cases.append((self.formula(), then))
            self.take(",")
        found = self.many(self.sum, ")")[0]
        for condition, then in reversed(cases):
            found = Term("if", condition, then, found)
        return found

    def range(self):
        index, _, low, _ = self.take(), self.take("="), self.sum(), self.take("..")
        return index, low, self.sum()

    def named(self, name):
        if name in FOLDS and self.opens("["):
            ranges = self.many(self.range, "]")
            return folded(name, ranges, self.product())
        if self.opens("["):
            places = self.many(lambda: Term("var", "free") if self.took(".") else self.sum(), "]")
            found = Term("item", name, *places)
            return Term("each", "free", found) if Term("var", "free") in places else found
        if name in self.parts:
            indices, body = self.parts[name]
            if self.opens("("):
                assert self.many(self.take, ")") == indices
                return body
            return Term("each", indices[0], body) if indices else body
        if name in (*FUNCTIONS, "max", "min") and self.opens("("):
            inside = self.many(self.sum, ")")
            return Term("apply", name, *inside) if name in FUNCTIONS else Term(name, *inside)
        if name in self.known or self.tokens[self.place] == (False, "("):
            return self.called(name)
        return PI if name == "pi" else Term("var", name)

    def called(self, name):
        found, rest, by_name = [], {}, False

        def argument():
            nonlocal by_name
            by_name = bool(self.took("..")) or self.peek(1) == "=" or by_name
            if not by_name:
                found.append(
                    Term("each", self.take(), self.take("->") and self.sum()) if self.peek(1) == "->" else self.sum()
                )
            elif re.match("[A-Za-z]", self.peek()):
                own = self.take()
                rest[own] = self.sum() if self.took("=") else Term("var", own)

        if self.opens("("):
            self.many(argument, ")")
        own = self.known.get(name, ())[len(found) :]
        return Term("call", name, *found, *({p: Term("var", p) for p in own} | rest).values())

    # Formulas

    def formula(self):
        parts = self.stated()
        word = self.peek()
        if self.took("implies", "exactly"):
            return Term("implies" if word == "implies" else "iff", one("and", parts), one("and", self.stated()))
        while word in ("and", "or") and self.took(word):
            parts += self.stated()
        return one("or" if word == "or" else "and", parts)

    def stated(self):
        """What stands side by side in a comparison or a chain of them."""
        return self.tried(self.chain, lambda: [self.truth()])

    def truth(self):
        """A formula in brackets, one that has a name, or all of one shape."""
        if self.took("("):
            return self.many(self.formula, ")")[0]
        if self.peek() in ("all", "some"):
            return self.every()
        _, body = self.parts.get(self.take(), ("", PI))
        _ = self.opens("(") and self.many(self.take, ")")
        if body.kind not in FORMULAS:
            raise Unread("no formula")
        return body

    def every(self):
        word, _, letters, _, rows = self.take(), self.take("["), self.take(), self.take("="), []
        while not self.took("]"):
            rows.append(self.take())
        body = one("and", self.stated())
        by = ({name: num(int(digit)) for name, digit in zip(letters, row, strict=True)} for row in rows)
        return Term("and" if word == "all" else "or", *(substitute(body, digits) for digits in by))

    def chain(self):
        terms, found = [self.sum()], []
        while self.peek() in ("<", "<=", "=", "!=", ">", ">="):
            relation = self.take()
            terms.append(self.sum())
            sides = terms[-2:] if relation[0] != ">" else terms[:-3:-1]
            found.append(Term("rel", relation.replace(">", "<"), *sides))
        if not found:
            raise Unread("no comparison")
        return found


class Sentence:
    """The canonical content of a printed sentence."""

    def __init__(self, text, known):
        main, *where = text.removesuffix(".").split(", where ")
        self.known, self.parts = known, {}
        for line in re.split(r", (?=[A-Z]\d*(?:\([\w', ]*\))? = )", where[0] if where else ""):
            if line:
                self.define(line)
        self.variables, self.given = [], []
        lead, says = "", main
        if re.match("(For (?!some)|If )", main):
            lead, says = split(main, ": ", 1)
        for piece in split(lead, ", if ") if lead.startswith("For ") else [lead.removeprefix("If ")]:
            if piece.startswith("For "):
                self.domains(piece.removeprefix("For "))
            elif piece:
                self.given.append(self.formula(piece))
        self.says = self.form(says)

    def define(self, line):
        name, indices, body = re.fullmatch(r"(\w+)(?:\((.*?)\))? = (.*)", line).groups()
        reader = self.read(body)
        self.parts[name] = (
            indices.split(", ") if indices else [],
            reader.tried(lambda: reader.whole(reader.sum), lambda: reader.whole(reader.formula)),
        )

    def read(self, text):
        return Reader(text, self.known, self.parts)

    def term(self, text):
        reader = self.read(text)
        return reader.whole(reader.sum)

    def formula(self, text):
        reader = self.read(text)
        return reader.whole(reader.formula)

    def domains(self, text):
        text, *given = split(text, " with ")
        self.given += map(self.formula, given)
        for group in split(text, "; "):
            word = re.match("(whole |real )?", group)[0]
            names = []
            for item in split(group.removeprefix(word), ", "):
                name, _, within = item.partition(" in ")
                names.append(name)
                if word:
                    self.variables.append(self.number(item, word == "whole "))
                elif within:
                    self.variables += [(one, *self.space(within)) for one in names]
                    names = []

    def number(self, item, whole):
        name, _, values = item.removesuffix("}").partition(" in {")
        if values or " " not in item:
            return name, whole, *(Fraction(value) for value in values.split(", ") if values)
        reader = self.read(item)
        found = reader.whole(reader.chain)
        name = item.split(" ")[0] if len(found) == 1 else found[0].parts[2].parts[0]
        return name, whole, *map(canonical, found)

    def space(self, text):
        whole, text = text.endswith(" whole"), text.removesuffix(" whole")
        text, _, radius = text.partition(" of norm at most ")
        kind, size = re.fullmatch(r"(R|[(\[].*[)\]])\^(\w+|\(.*\))", text).groups()
        ends = [self.canonical("oo" not in end and end) for end in split(kind[1:-1] or "oo, oo", ", ")]
        sizes = re.sub(r"^\((.*)\)$", r"\1", size).split(" x ")
        opens = kind[0] == "(" and "(-oo" not in kind, kind[-1] == ")" and "oo)" not in kind
        return whole, *opens, *ends, self.canonical(radius), *map(self.canonical, sizes)

    def canonical(self, text):
        return canonical(self.term(text)) if text else None

    def at(self, text):
        return tuple((name, self.term(value)) for name, value in (pair.split(" = ", 1) for pair in split(text, ", ")))

    def form(self, says):
        for kind, pattern in FORMS.items():
            found = re.fullmatch(pattern, says, re.IGNORECASE)
            if found:
                return self.found(kind, found.groupdict())
        return self.formula(says)

    def found(self, kind, part):
        if "over" in part:
            self.domains(part["over"])
        terms = tuple(self.term(part[name]) for name in ("value", "bound", "rate") if part.get(name))
        if kind == "limit" and (part["way"] == "grows") != (terms[2].kind == "div"):
            raise Unread(f"{part['step']} goes another way")
        if kind == "witness":
            terms = (self.formula(part["claim"]),)
        box = []
        if kind == "zero":
            terms = tuple(map(self.term, split(part["terms"], ", ")))
            for side in split(part["box"], ", "):
                low, name, high = side.split(" < ")
                box.append((name, self.term(low), self.term(high)))
        at = self.at(part["at"]) if part.get("at") else ()
        return Form(
            "supremum" if kind == "largest" else kind,
            terms,
            at,
            part.get("step") or "",
            bool(part.get("never")),
            tuple(box),
        )


FORMS = {
    "largest": r"the largest (?P<value>.*) over (?P<over>.*) is (?P<bound>.*), taken at (?P<at>.*)",
    "supremum": r"the supremum of (?P<value>.*) over (?P<over>.*) is (?P<bound>.*?)(?P<never> and not taken)?: "
    r"as (?P<step>\w+'*) goes to 0, at (?P<at>.*) it is within (?P<rate>.*) of it",
    "limit": r"(?P<value>.*) tends to (?P<bound>.*) as (?P<step>\w+'*) (?P<way>grows|goes to 0), "
    r"with an error of at most (?P<rate>.*)",
    "witness": r"for some (?P<over>.*), namely (?P<at>.*?): (?P<claim>.*)",
    "minimiser": r"(?P<value>.*) over (?P<over>.*) is least at (?P<at>.*) and nowhere else",
    "zero": r"at exactly one point of (?P<over>.*?): (?P<terms>.*) all vanish, and there (?P<box>.*)",
}


def of_print(sentence, definitions):
    """The content of a sentence, and of each definition that stands beside it, from their words alone."""
    known, lines = {}, {}
    for line in definitions:
        where, head, parameters, body = re.fullmatch(r"(?:in (\w+'*): )?(\w+'*)(?:\((.*?)\))? = (.*)", line).groups()
        if where is None:
            known[head] = tuple((parameters or "").split(", ")) if parameters else ()
            lines[head] = body, []
        else:
            lines[where][1].append(line.partition(": ")[2])
    bodies = {}
    for name, (body, parts) in lines.items():
        reader = Sentence("0 < 1.", known)
        for part in parts:
            reader.define(part)
        bodies[name] = canonical(reader.term(body))
    found = Sentence(sentence, known)
    return content(found.variables, found.given, found.says), known, bodies
