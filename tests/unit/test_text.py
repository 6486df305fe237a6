"""Pieces, cuts, rows of documents, hashes: what all tasks made of text stand on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.core.errors import InputError
from lopsided.text import layout
from lopsided.text.bytes import ByteTable
from lopsided.text.cutting import WORD
from lopsided.text.hashing import hashed
from lopsided.text.layout import Document, Row, one_a_row, packed
from lopsided.text.pieces import Pieces

TEXTS = ("The cat", " sat on", " the mat", ". Why", "?\nBecause", " 12", " of 7.")
TABLE = Pieces(TEXTS, "words")


def document(pieces, answer_from, width=6):
    """A document of piece numbers, padded with empty pieces."""
    numbers = jnp.array([*pieces, *[0] * (width - len(pieces))], jnp.int32)
    asked = (jnp.arange(width) >= answer_from).astype(jnp.int32)
    return Document(numbers, asked, jnp.array([1, -1]))


def tokens_of(pieces):
    return [t for p in pieces for t in TABLE.encoded[TABLE.texts[p]]]


some_pieces = st.lists(st.integers(0, len(TEXTS)), min_size=1, max_size=6)


@pytest.mark.parametrize("cutting", ["phrases", "words"])
def test_pieces_decode_to_the_text_they_were_cut_from(cutting):
    table = Pieces(TEXTS, cutting)
    assert table.decode(table.tokens(TEXTS)) == "".join(TEXTS)
    assert table.length.tolist()[1:] == ([1] * len(TEXTS) if cutting == "phrases" else [2, 2, 2, 2, 3, 3, 4])


def test_words_keep_every_character():
    text = "We count 3 * (4 + 15)?\n yo-yos, it's <|endoftext|>."
    assert "".join(WORD.findall(text)) == text
    assert WORD.findall("<|endoftext|>") == ["<|endoftext|>"]


def test_aliases_share_a_token_only_where_a_piece_is_one():
    for cutting, same in (("phrases", True), ("words", False)):
        table = Pieces(["The cat of", " the cat of"], cutting, {"The cat of": " the cat of"})
        assert (table.encoded["The cat of"] == table.encoded[" the cat of"]) is same
        assert table.decode(table.encoded["The cat of"]) == "The cat of"


def test_an_unknown_cut_is_one_line():
    for name in ("gpt3", "no/such/tokenizer.json"):
        with pytest.raises(InputError, match=r"valid: phrases, words, gpt2, qwen3, or the path of a tokenizer\.json"):
            Pieces(TEXTS, name)
    with pytest.raises(InputError, match="its list has no piece 'The cat'"):
        Pieces(TEXTS, "gpt2")


def test_a_tokenizer_file_gives_its_own_numbers(tmp_path):
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"[UNK]": 0, "cat": 7, "The": 5, "sat": 11}
    tokenizer = Tokenizer(models.WordLevel({**words, **{f"x{i}": i for i in (1, 2, 3, 4, 6, 8, 9, 10)}}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    table = Pieces(["The cat", " sat"], str(tmp_path / "tokenizer.json"))
    assert table.tokens(["The cat", " sat"]) == [5, 7, 11]
    assert table.vocabulary == 12


@settings(max_examples=30)
@given(some_pieces, some_pieces)
def test_one_document_a_row_stands_where_its_prompt_ends(prompt, answer):
    answer = answer[: 6 - len(prompt)]
    length, most = 24, 15
    sample = one_a_row(TABLE, document([*prompt, *answer], len(prompt)), Row(length, most))
    before, after = tokens_of(prompt), tokens_of(answer)
    end = length - most + 1
    if len(before) > end or len(after) > most:
        return  # longer than declared
    row = np.asarray(sample.inputs)
    assert row[end - len(before) : end].tolist() == before
    assert not row[: end - len(before)].any()
    assert not np.asarray(sample.segments)[: end - len(before)].any()
    if before:  # the first token of a row is no target
        assert np.asarray(sample.targets)[: len(after)].tolist() == after
        assert np.asarray(sample.weights).sum() == len(after)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(some_pieces, min_size=1, max_size=6), st.booleans())
def test_packed_rows_are_their_documents_one_after_the_other(contents, whole):
    length = 24
    documents = jax.tree.map(lambda *x: jnp.stack(x), *[document(pieces, 2) for pieces in contents])
    sample = jax.tree.map(np.asarray, packed(TABLE, documents, length, whole))
    row = [(t, d, i) for d, pieces in enumerate(contents) for i, t in enumerate(tokens_of(pieces))][:length]
    rest = length - len(row)
    assert sample.inputs.tolist() == [t for t, _, _ in row] + [0] * rest
    assert sample.segments.tolist() == [d + 1 for _, d, _ in row] + [0] * rest
    assert sample.positions.tolist() == [i for _, _, i in row] + [0] * rest
    for i in range(length):
        following = row[i + 1] if i + 1 < len(row) else (0, -1, 0)
        target = i < len(row) and following[1] == row[i][1]
        asked = target and following[2] >= len(tokens_of(contents[row[i][1]][:2]))
        assert sample.weights[i] == float(target if whole else asked)
        assert sample.targets[i] == (following[0] if sample.weights[i] else 0)
        assert sample.answer[i] == (row[i][1] + 1 if asked else 0)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(1, 30), st.integers(-20, 20))
def test_both_searches_find_the_same_pieces(lengths, count, first):
    ends, at = jnp.cumsum(jnp.array(lengths)), first + jnp.arange(count)
    compared = layout._search(ends, at, first)
    before, layout.COMPARED = layout.COMPARED, 0
    try:
        np.testing.assert_array_equal(layout._search(ends, at, first), compared)
    finally:
        layout.COMPARED = before


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=8))
def test_the_hash_is_the_same_everywhere(numbers):
    once = int(hashed(numbers))
    assert once == int(hashed([np.array([n]) for n in numbers])[0])
    assert once == int(hashed([jnp.int32(n) for n in numbers]))


def test_the_hash_spreads_neighbours():
    found = np.asarray(hashed([np.arange(4096) % 64, np.arange(4096) // 64]))
    counts = np.bincount(found % 8, minlength=8)
    assert counts.min() > 400
    assert len(set(found.tolist())) == 4096


@given(st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=6))
def test_bytes_of_many_texts_at_once(documents):
    texts = [b"a", "é".encode(), b"", b"xyz"]
    found = ByteTable(texts).joined(
        np.array([t for d in documents for t in d], np.int64), np.array([len(d) for d in documents])
    )
    starts = np.concatenate([[0], found.ends[:-1]])
    joined = [bytes(found.data[a:b]) for a, b in zip(starts, found.ends, strict=True)]
    assert joined == [b"".join(texts[t] for t in d) for d in documents]
