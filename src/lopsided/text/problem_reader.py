"""Reads a word problem's English text and works it out with fractions: slow, and knows nothing of the generator."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from lopsided.text.hashing import hashed
from lopsided.text.pieces import END

ITEM = r"([a-z-]+)"
TOTAL = 4


class Step(NamedTuple):
    """A computation: operation 0 to 3 (+, -, *, /), plus 4 in a total over a category, and its two numbers."""

    operation: int
    a: int
    b: int


class Problem:
    """What a text says, and the number of every quantity in it."""

    def __init__(self, text: str):
        self.text = text.split("?")[0]
        found = re.search(r"modulo (\d+)", self.text)
        self.modulus = int(found[1]) if found else None
        self._known: dict[str, int] = {}
        self._rules: dict[str, Callable[[], int]] = {}
        self.steps: list[Step] = []
        *sentences, question = self.text.split(". ")
        for sentence in sentences:
            self._read(sentence)
        asked = re.fullmatch(r"How many ([a-z-]+) are there", question)
        assert asked, question
        self.asked = asked[1]

    def value(self, name: str) -> int:
        """How many there are of `name`: stated, or worked out now."""
        if name not in self._known:
            self._known[name] = self._rules.pop(name)()
        return self._known[name]

    @property
    def answer(self) -> int:
        return self.value(self.asked)

    def signature(self) -> int:
        """The hash that decides whether the problem is held out."""
        assert self.answer is not None
        each = [int(hashed([s.operation, s.a, s.b])) for s in self.steps]
        return int(hashed([sum(each) % 2**32]))

    def _read(self, sentence: str) -> None:
        for pattern, rule in self._patterns():
            if found := re.fullmatch(pattern, sentence):
                rule(*found.groups())
                return
        assert sentence.startswith(("We are in the", "All numbers count modulo")), sentence

    def _patterns(self) -> list[tuple[str, Callable[..., None]]]:
        number = r"(\d+)"
        two = rf"The number of {ITEM} is the (\w+) of {ITEM} and {ITEM}"
        operations = {"difference": 1, "product": 2, "quotient": 3}
        given = lambda operation: lambda n, x, a: self._rule(x, operation, a, int(n))
        return [
            (rf"There are {number} {ITEM}", lambda n, x: self._known.__setitem__(x, int(n))),
            (rf"There are {number} more {ITEM} than {ITEM}", given(0)),
            (rf"There are {number} fewer {ITEM} than {ITEM}", given(1)),
            (rf"There are {number} times as many {ITEM} as {ITEM}", given(2)),
            (
                rf"Splitting the {ITEM} into {number} equal groups gives the number of {ITEM}",
                lambda a, n, x: self._rule(x, 3, a, int(n)),
            ),
            (
                rf"There are as many {ITEM} as {ITEM} and {ITEM} together",
                lambda x, a, b: self._rule(x, 0, a, b),
            ),
            (two, lambda x, word, a, b: self._rule(x, operations[word], a, b)),
            (rf"The {ITEM} are the {ITEM} and the {ITEM}", self._total),
            (rf"The {ITEM} are the {ITEM}, the {ITEM} and the {ITEM}", self._total),
        ]

    def _rule(self, name: str, operation: int, a: str, b: str | int) -> None:
        def compute() -> int:
            first, second = self.value(a), b if isinstance(b, int) else self.value(b)
            return self._step(operation, first, second)

        assert name not in self._rules
        assert name not in self._known
        self._rules[name] = compute

    def _total(self, name: str, *items: str) -> None:
        def compute() -> int:
            numbers = [self.value(item) for item in items]
            so_far = numbers[0]
            for number in numbers[1:]:
                so_far = self._step(TOTAL, so_far, number)
            return so_far

        self._rules[name] = compute

    def _step(self, operation: int, a: int, b: int) -> int:
        self.steps.append(Step(operation, a, b))
        plain = operation % TOTAL
        if self.modulus is None:
            exact = [Fraction(a) + b, Fraction(a) - b, Fraction(a) * b, Fraction(a) / b if b else Fraction(-1)][plain]
            assert exact.denominator == 1, (operation, a, b)
            assert 0 <= exact <= 1000, (operation, a, b)
            return int(exact)
        p = self.modulus
        if plain == 3:
            return next((v for v in range(p) if v * b % p == a % p), 0) if b else 0
        return (a + b, a - b, a * b)[plain] % p


def checked_solution(problem: Problem, solution: str) -> list[str]:
    """The pieces of a solution as it is written behind `Solution:\nThe`, every number found anew: its statements say
    which quantities are computed and how, the problem's text says what they are. Raises `AssertionError` where the two
    differ."""
    body = solution.partition(".\nAnswer: ####")[0]
    pieces: list[str] = []
    for i, statement in enumerate(body.removeprefix(" ").split(".\nThe ")):
        name, _, rest = statement.partition(" are ")
        expression, _, result = rest.partition(" = ")
        assert result == "" or int(result) == problem.value(name), statement
        pieces += ([] if i == 0 else [".\nThe"]) + [f" {name}", " are"]
        for token in re.findall(r"\(?\d+|[-+*/)]", expression):
            if token.startswith("("):
                pieces += [" (", token[1:]]
            else:
                pieces.append(token if token == ")" else f" {token}")
        assert _worked_out(expression, problem.modulus) == problem.value(name), statement
        pieces += [" =", f" {problem.value(name)}"]
    return [*pieces, ".\nAnswer: ####", f" {problem.answer}", END]


def _worked_out(expression: str, modulus: int | None) -> int:
    """The value of `(a o b) o c`, or of a sum of several numbers, from left to right inside each parenthesis."""
    inner = re.search(r"\(([^()]*)\)", expression)
    while inner:
        expression = expression.replace(inner[0], str(_worked_out(inner[1], modulus)))
        inner = re.search(r"\(([^()]*)\)", expression)
    first, *others = re.findall(r"\d+|[-+*/]", expression)
    value = int(first)
    quiet = Problem.__new__(Problem)
    quiet.modulus, quiet.steps = modulus, []
    for sign, number in zip(others[::2], others[1::2], strict=True):
        value = quiet._step("+-*/".index(sign), value, int(number))
    return value
