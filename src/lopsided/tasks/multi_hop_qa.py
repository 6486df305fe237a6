"""Multi-hop questions: `Who is the instructor of the teacher of Bob?` (paper A, section 5 and appendix D)."""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int
from pydantic import Field, model_validator

from lopsided.core.errors import InputError
from lopsided.core.keys import Key, below, unit
from lopsided.core.task import FiniteInputs, HasChance, HasLatent, SkillLaw, Split
from lopsided.tasks._text import Longest, TextTask
from lopsided.text.hashing import hashed
from lopsided.text.layout import Document
from lopsided.text.names import PEOPLE, RELATIONS
from lopsided.text.pieces import Pieces

WHO, ASK, IS, STOP = "Who is", "?\nAnswer:", " is", "."
FACT = re.compile(r"((?:^|\.)\s?[Tt]he \w+ of \w+)" + re.escape(ASK))


class MultiHopQA(TextTask, HasLatent, HasChance, FiniteInputs):
    """A world of `people`, in which every person has one random person for each of `relations`. Training mixes
    questions over `hops` relations with facts, questions of one hop, a share `facts` of the documents.

    Skill = relation, also of facts. Of the people that a sequence of relations can be asked about, `held_out_people`
    are for tests only. Names are lists of our own (the paper used another).
    """

    name: Literal["multi-hop-qa"] = "multi-hop-qa"
    people: Annotated[int, Field(ge=2, le=len(PEOPLE))] = 20
    relations: Annotated[int, Field(ge=1, le=len(RELATIONS))] = 20
    hops: Annotated[int, Field(ge=2)] = 3
    facts: Annotated[float, Field(ge=0, lt=1)] = 0.25
    held_out_people: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _fits(self) -> MultiHopQA:
        if self.hops > self.relations:
            raise InputError(f"hops = {self.hops}: at most relations = {self.relations}")
        if self.held_out_people >= self.people:
            raise InputError(
                f"held_out_people = {self.held_out_people}: leaves nobody to train on; there are {self.people} people"
            )
        return self

    @property
    def n_skills(self) -> int:
        return self.relations

    @property
    def chance(self) -> float:
        return 1.0 / self.people

    def chance_given(self, latent: Any) -> float:
        """The most frequent answer of this world: random functions do not reach everybody."""
        to = np.asarray(latent)
        step = np.zeros((self.people, self.people))
        for row in to:
            step[np.arange(self.people), row] += 1 / self.relations
        share = np.full(self.people, 1 / self.people)
        for _ in range(self.hops):
            share = share @ step
        return float(share.max())

    @property
    def entropy_bits(self) -> float:
        return math.log2(self.people) + self.hops * math.log2(self.relations)

    def latent(self, key: Key) -> Int[Array, "R E"]:
        """Whom every relation leads to from every person."""
        bits = jax.random.bits(key, (self.relations, self.people), jnp.uint32)
        return below(bits, self.people).astype(jnp.int32)

    @cached_property
    def table(self) -> Pieces:
        relations = [f" the {name} of" for name in RELATIONS[: self.relations]]
        first = [relation[1:].capitalize() for relation in relations]
        people = [f" {name}" for name in PEOPLE[: self.people]]
        asked, stated = [name + ASK for name in people], [name + IS for name in people]
        # Where a piece is one token, a fact is told from a question by how it begins (see `decode`).
        same = dict(zip((*first, *stated), (*relations, *asked), strict=True))
        return Pieces([WHO, STOP, *relations, *first, *people, *asked, *stated], self.tokens, same)

    def decode(self, tokens: np.ndarray) -> str:
        text = super().decode(tokens)
        return FACT.sub(rf"\1{IS}", text) if self.tokens == "phrases" else text

    @cached_property
    def longest(self) -> Longest:
        t = self.table
        most = lambda start, n: int(t.length[t[start] : t[start] + n].max())
        relation, person = most(f" the {RELATIONS[0]} of", self.relations), most(f" {PEOPLE[0]}", self.people)
        asked = most(f" {PEOPLE[0]}{ASK}", self.people)
        fixed = lambda *texts: sum(len(t.encoded[text]) for text in texts)
        answer = person + fixed(*self._stop)
        return Longest(fixed(WHO) + self.hops * relation + asked + answer, answer)

    @property
    def _stop(self) -> tuple[str, ...]:
        """What ends a document that does not end with its row."""
        return (STOP,) if self.context is not None or self.train_on == "text" else ()

    def n_words(self, split: Split) -> int:
        return self.hops + 2

    def document(self, bits: jax.Array, law: SkillLaw, latent: Any, split: Split) -> Document:
        t, k, people, held = self.table, self.hops, self.people, self.held_out_people
        relation = law.draw(bits[:k])  # the first is applied first, and named last
        chosen = below(bits[k], held) if split == "test" else held + below(bits[k], people - held)
        person = ((hashed(relation[i] for i in range(k)) % people + chosen) % people).astype(jnp.int32)
        answer = person
        for i in range(k):
            answer = latent[relation[i], answer]
        name = lambda p: t[f" {PEOPLE[0]}"] + p
        of = t[f" the {RELATIONS[0]} of"] + relation[::-1]
        fixed = lambda *texts: jnp.array([t[text] for text in texts], jnp.int32)
        pieces = jnp.concatenate(
            [fixed(WHO), of, (t[f" {PEOPLE[0]}{ASK}"] + person)[None], name(answer)[None], fixed(*self._stop)]
        ).astype(jnp.int32)
        length, last = len(pieces), len(pieces) - 1 - len(self._stop)
        skills = relation
        if split == "train" and self.facts > 0:
            one, whom = relation[0], below(bits[k], people).astype(jnp.int32)
            asked = t[f" {PEOPLE[0]}{IS}"] + whom
            stated = jnp.stack([t[f"The {RELATIONS[0]} of"] + one, asked, name(latent[one, whom])])
            stated = jnp.concatenate([jnp.zeros(last - 2, jnp.int32), stated, fixed(*self._stop)])
            fact = unit(bits[k + 1]) < self.facts
            pieces = jnp.where(fact, stated, pieces)
            skills = jnp.where(fact, jnp.where(jnp.arange(k) == 0, one, -1), relation)
        return Document(pieces, (jnp.arange(length) == last).astype(jnp.int32), skills)

    @property
    def ends(self) -> tuple[str, tuple[str, ...]]:
        people = PEOPLE[: self.people]
        return STOP, tuple(f" {name}{end}" for name in people for end in (ASK, IS))

    def solve(self, prompt: str, written: str, latent: Any) -> list[str]:
        """Walks from person to person through a dictionary of facts."""
        facts = {
            (RELATIONS[r], PEOPLE[p]): PEOPLE[int(q)]
            for r, row in enumerate(np.asarray(latent))
            for p, q in enumerate(row)
        }
        relations, person = _read(prompt)
        for relation in reversed(relations):
            person = facts[relation, person]
        return [f" {person}"]

    def is_held_out(self, prompt: str) -> bool:
        if not prompt.startswith(WHO):
            return False
        relations, person = _read(prompt)
        start = int(hashed(RELATIONS.index(r) for r in reversed(relations))) % self.people
        return (PEOPLE.index(person) - start) % self.people < self.held_out_people

    def example(self) -> str:
        return "Who is the instructor of the teacher of Bob? Answer: -> Alice."


def _read(prompt: str) -> tuple[list[str], str]:
    """Relations in the order of the text, and the person."""
    return re.findall(r"[Tt]he (\w+) of", prompt), re.findall(r"of ([A-Z]\w+)", prompt)[-1]
