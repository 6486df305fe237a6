"""The base of tasks whose samples are text: documents of pieces, laid out one a row or several packed into a row."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field, field_validator, model_validator

from lopsided.core.batch import Sample
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, stream, words
from lopsided.core.shapes import Classes, Tokens
from lopsided.core.task import HasSkills, HoldsOut, SampleContext, SkillLaw, Split, Task, WritesText, latent_of
from lopsided.text import cutting
from lopsided.text.layout import Document, Row, one_a_row, packed, token_count
from lopsided.text.pieces import Pieces


class Longest(NamedTuple):
    """Most tokens of a document, and of its answer."""

    document: int
    answer: int


class TextTask(Task, HasSkills, HoldsOut, WritesText):
    """A document is a function of random words. `context` None puts one document into a row, all prompts ending at one
    position; a number packs documents into rows of so many tokens, masked from one another, positions starting anew in
    each. Tests are one question a row.

    `tokens`: how text is cut, see `lopsided.text.cutting`. `train_on`: the loss counts the tokens of the answers, or
    those of the whole text.
    """

    tokens: str = "phrases"
    context: Annotated[int, Field(ge=2, le=2**20)] | None = None
    train_on: Literal["answer", "text"] = "answer"

    @field_validator("tokens")
    @classmethod
    def _known_cutting(cls, tokens: str) -> str:
        cutting.check(tokens)
        return tokens

    @model_validator(mode="after")
    def _context_holds_a_document(self) -> TextTask:
        if self.context is not None and self.context < self.longest.document:
            raise InputError(
                f"context = {self.context}: shorter than the longest document, {self.longest.document} tokens"
            )
        return self

    @property
    @abstractmethod
    def table(self) -> Pieces:
        """Pieces of all documents (cached)."""

    @property
    @abstractmethod
    def longest(self) -> Longest:
        """Bounds over all documents."""

    @abstractmethod
    def n_words(self, split: Split) -> int:
        """Random words that a document is a function of."""

    @abstractmethod
    def document(self, bits: jax.Array, law: SkillLaw, latent: Any, split: Split) -> Document:
        """The document of `n_words` random words: pure and jittable."""

    @property
    def inputs(self) -> Tokens:
        return Tokens(self.table.vocabulary, self.context or self.longest.document - 1)

    @property
    def outputs(self) -> Classes:
        if self.context is not None or self.train_on == "text":
            return Classes(self.table.vocabulary, None)
        length = self.inputs.length
        return Classes(self.table.vocabulary, tuple(range(length - self.longest.answer, length)))

    def sample(self, key: Key, index: Any, context: SampleContext) -> Sample:
        assert context.law is not None
        law, latent, split = context.law, context.latent, context.split
        if self.context is None or split == "test":
            document = self.document(words(key, index, self.n_words(split)), law, latent, split)
            return one_a_row(self.table, document, self._row(split))
        count = self.n_words(split)
        bits = words(key, index, count * self._per_row).reshape(self._per_row, count)
        documents = jax.vmap(lambda b: self.document(b, law, latent, split))(bits)
        return packed(self.table, documents, self.context, self.train_on == "text")

    def _row(self, split: Split) -> Row:
        return Row(
            self.longest.document - 1,
            self.longest.answer,
            everywhere=self.outputs.read is None,
            whole=self.train_on == "text" and split == "train",
            restart=self.context is not None,
        )

    @cached_property
    def _per_row(self) -> int:
        """Documents that are drawn for a packed row: enough to fill it but for rare cases, and never more than fit."""
        assert self.context is not None
        with jax.ensure_compile_time_eval():
            key, count = stream(0, "lengths"), self.n_skills
            law = SkillLaw(jnp.linspace(1 / count, 1.0, count), jnp.arange(count))
            latent = latent_of(self, stream(0, "world"))
            one = lambda i: token_count(
                self.table, self.document(words(key, i, self.n_words("train")), law, latent, "train")
            )
            lengths = np.asarray(jax.jit(jax.vmap(one))(jnp.arange(1024, dtype=jnp.uint32)))
        mean, spread = lengths.mean(), lengths.std()
        expected = self.context / mean
        return int(min(np.ceil(1.05 * expected + 4 * spread / mean * expected**0.5) + 1, self.context // 2))

    def decode(self, tokens: np.ndarray) -> str:
        return self.table.decode(np.asarray(tokens).tolist())

    @property
    @abstractmethod
    def ends(self) -> tuple[str, tuple[str, ...]]:
        """The piece that ends every document, and those that end a prompt."""

    @abstractmethod
    def solve(self, prompt: str, written: str, latent: Any) -> list[str] | None:
        """Texts of the answer's pieces, found slowly from the prompt's text.

        `written` is the text of the answer that stands in the row, cut where the row ends. A task that accepts several
        answers follows its wording and finds its numbers anew; None if there is nothing to find in it.
        """

    def documents_in(self, inputs: np.ndarray) -> list[tuple[int, list[int]]]:
        """(first position, tokens) of each document of a row."""
        row, (last,) = np.asarray(inputs).tolist(), self.table.tokens([self.ends[0]])
        found, begin = [], next((i for i, t in enumerate(row) if t), len(row))
        for i in range(begin, len(row)):
            if row[i] == last or i + 1 == len(row):
                found.append((begin, row[begin : i + 1]))
                begin = i + 1
        return found

    def prompt_length(self, tokens: list[int]) -> int | None:
        """Number of a document's tokens that are its prompt; None if it is cut before the prompt's end."""
        encoded = self.table.encoded
        last = {encoded[text][-1] for text in self.ends[1]}
        for count, token in enumerate(tokens, 1):
            if token in last and self.table.decode(tokens[:count]).endswith(self.ends[1]):
                return count
        return None

    def oracle(self, inputs: np.ndarray, latent: Any) -> np.ndarray:
        """Reads each document's text, and solves it anew."""
        targets = np.zeros(len(inputs), np.int64)
        for begin, tokens in self.documents_in(inputs):
            if self.train_on == "text":
                targets[begin : begin + len(tokens) - 1] = tokens[1:]
            count = self.prompt_length(tokens)
            if count is None:
                continue
            whole, prompt = self.table.decode(tokens), self.table.decode(tokens[:count])
            texts = self.solve(prompt, whole[len(prompt) :], latent)
            if texts is None:
                targets[begin + count - 1 : begin + len(tokens) - 1] = tokens[count:]
                continue
            if self.train_on == "text" and texts[-1] != self.ends[0]:
                texts.append(self.ends[0])
            answer = self.table.tokens(texts)
            # In packed rows the last position asks for nothing; in others the document may end before the row does.
            room = len(inputs) - (begin + count - 1) - (self.context is not None)
            answer = answer[: max(room, 0)]
            targets[begin + count - 1 : begin + count - 1 + len(answer)] = answer
        read = self.outputs.read
        return targets if read is None else targets[list(read)]

    def held_out(self, inputs: np.ndarray) -> bool:
        """Whether a document of the row asks what training must never ask."""
        for _, tokens in self.documents_in(inputs):
            count = self.prompt_length(tokens)
            if count is not None and self.is_held_out(self.table.decode(tokens[:count])):
                return True
        return False

    @abstractmethod
    def is_held_out(self, prompt: str) -> bool:
        """Whether a prompt is for tests only, from its text."""
