"""Every worked example of the five written-up systems, by name. Where a source is wrong, one line says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tables import rows_of

import impls
from impls import Model, TrainingSpec, UnknownSymbol
from impls.core.text.patterns import NAMED, Splitter

TRAINERS = ["naive", "wordcount", "priority", "bytelevel"]
CHARACTER_TRAINERS = ["naive", "wordcount", "priority"]
PLAIN: dict[str, Any] = {"pattern": "none", "ties": "first"}
CHARS: dict[str, Any] = {"alphabet": "chars", "ties": "first"}
WORDS = ["bayat"] * 5 + ["bayrak"] * 3 + ["kayak"] * 4 + ["kıyak"] * 2
SENTENCES = [
    "Bu bir bpe uygulamasidir.",
    "Bu bolum tokenizasyonla ilgilidir.",
    "Bu bolumde bpe tokenizer algoritmasi gosterilmektedir.",
    "Umarim onlarin nasil egitildigini anlayabilir ve token uretebilirsiniz.",
]
S3B = CHARS | {"vocab_size": 50, "special_tokens": ("<|endoftext|>",), "special_ids": "first"}
MERGES_3B = (
    "il ir Ġb la as ni Bu dir Ġt Ġto Ġtok Ġtoke niz nla ri te Ġbp Ġbpe Ġu mas masi Ġbo Ġbol Ġbolu Ġbolum Ġtokeniz"
)
HUGS = ["hug hug pug pun pun bun hugs"]
MAMA = ["мама мыла раму"]


def learned(model: Model) -> str:
    """The learned tokens in order, a leading space written Ġ."""
    return " ".join((model.tokens[i] or b"").decode().replace(" ", "Ġ") for i in model.merge_results)


def tokens_of(tokenizer: impls.Tokenizer, text: str) -> str:
    return " ".join(tokenizer.decode([i]).replace(" ", "Ġ") for i in tokenizer.encode(text))


@pytest.mark.parametrize(
    ("texts", "fields", "tokens", "counts"),
    [
        (["dcba"], PLAIN | {"vocab_size": 258}, "dc dcb", None),  # S1: ids are 256 plus the step, ties go to the first
        # S2: Z = aa, Y = ab, X = ZY in the source; X is the same either way
        (["aaabdaaabac"], PLAIN | {"vocab_size": 259, "ties": "smallest"}, "aa ab aaab", (4, 2, 2)),
        (["aaabdaaabac"], PLAIN | {"vocab_size": 259}, "aa aaa aaab", (4, 2, 2)),
        # S2 and S1 make two vocabularies from one text
        (HUGS, {"vocab_size": 262, "ties": "first"}, "ug hug Ġp un Ġhug Ġpun", None),
        (HUGS, {"vocab_size": 262}, "ug Ġp hug un Ġhug Ġpun", None),
        # S3: the source's second step (b,ay) has a count of 8 only; (ay,a) and (a,k) have 9, and (ay,a) is met first
        (WORDS, CHARS | {"vocab_size": 12, "pattern": "none"}, "ay aya baya bayat ak", (12, 9, 5, 5, 5)),
        # S3: the source replaces "a b" by "ab" in the text "ba b", which makes bab of it: that is no occurrence of a+b
        (["ba"] * 3 + ["bab"] + ["ab"] * 2, {"vocab_size": 300}, "ba ab bab", (4, 2, 1)),
        (SENTENCES, S3B, MERGES_3B, None),
        # S4: the second step is a tie of three, and the pair met first is taken
        (["aa aa bb aabb"], PLAIN | {"vocab_size": 1000, "min_count": 2}, "aa aaĠ bb", (3, 2, 2)),
        # S5: the source goes on with (ма,␠); all eleven pairs now occur once, and (ма,ма) is the earliest
        (MAMA, PLAIN | CHARS | {"vocab_size": 100, "max_merges": 2}, "ма мама", (2, 1)),
        (MAMA, PLAIN | CHARS | {"vocab_size": 7 + 2}, "ма мама", (2, 1)),
    ],
)
def test_what_is_learned(texts: list[str], fields: dict[str, Any], tokens: str, counts: tuple[int, ...] | None) -> None:
    for name in CHARACTER_TRAINERS if "alphabet" in fields else TRAINERS:
        model = impls.get(name).train_model(texts, TrainingSpec(**fields))
        assert learned(model) == tokens, name
        assert counts in (None, model.merge_counts), name


# --- S1: a course, in the manner of minbpe ---------------------------------------------------------------------


@pytest.mark.parametrize(("pattern", "text", "pieces"), rows_of(__file__, "s1_pieces.tsv"))
def test_s1_how_text_is_cut(pattern: str, text: str, pieces: str) -> None:
    assert Splitter(NAMED[pattern]).split(json.loads(text)) == json.loads(pieces).split("|")


def test_s1_byte_level_has_its_special_tokens_behind_the_learned_ones_and_encodes_them() -> None:
    specials = ("<s>", "</s>", "<pad>", "<|user|>", "<|assistant|>")
    spec = TrainingSpec(vocab_size=256 + 4 + 5, special_tokens=specials, ties="first")
    model = impls.train("naive", ["merhaba dünya merhaba"], spec).model
    assert [model.special_tokens[text] for text in specials] == [260, 261, 262, 263, 264]
    text = "<s><|user|>merhaba</s>"
    for name in (*TRAINERS, "backtracking"):
        tokenizer = impls.load(name, model)
        ids = tokenizer.encode(text, allowed_special="all")
        assert ids == [260, 263, *tokenizer.encode("merhaba"), 261]
        assert tokenizer.decode(ids) == text


# --- S2: an article with a minimal tokenizer ------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["smallest", "first"])
def test_s2_aaabdaaabac_becomes_xdxac_and_hello_world_comes_back(ties: str) -> None:
    for name in TRAINERS:
        spec = TrainingSpec(vocab_size=259, pattern="none", ties=ties)  # type: ignore[arg-type]
        assert impls.train(name, ["aaabdaaabac"], spec).encode("aaabdaaabac") == [258, 100, 258, 97, 99]
        spec = TrainingSpec(vocab_size=270, pattern="none", ties=ties)  # type: ignore[arg-type]
        tokenizer = impls.train(name, ["hello hello world"], spec)
        assert len(tokenizer.model.merges) == 11  # the whole text is one token by then, and no pair is left for 270
        assert tokenizer.encode("hello hello world") == [266]
        assert tokenizer.decode(tokenizer.encode("hello world")) == "hello world"


# --- S3: a series, after Sennrich, then after GPT-2 ------------------------------------------------------------


def test_s3_what_is_encoded() -> None:
    model = impls.train("wordcount", SENTENCES, TrainingSpec(**S3B)).model
    assert (model.vocab_size, model.merge_counts and model.merge_counts[0]) == (50, 7)
    assert model.special_tokens == {"<|endoftext|>": 0}
    torn = impls.get("naive").train_model(["ba"] * 3 + ["bab"] + ["ab"] * 2, TrainingSpec(vocab_size=258))
    for name in (*CHARACTER_TRAINERS, "backtracking"):
        assert tokens_of(impls.load(name, model), "Bu bir token degildir.") == "Bu Ġb ir Ġtoke n Ġ d e g il dir ."
        assert tokens_of(impls.load(name, torn), "bab") == "ba b"


def test_s3b_a_character_outside_the_alphabet_is_a_clear_error_or_the_unknown_token() -> None:
    # The source fails with a bare lookup error.
    model = impls.train("naive", SENTENCES, TrainingSpec(**S3B)).model
    known = impls.train("naive", SENTENCES, TrainingSpec(**S3B | {"vocab_size": 51, "unknown": "<unk>"})).model
    for name in (*CHARACTER_TRAINERS, "greedy", "backtracking"):
        with pytest.raises(UnknownSymbol, match=r"'\\xe7' \(U\+00E7\) at character 3 is not in the model's alphabet"):
            impls.load(name, model).encode("Bu ç")
        assert tokens_of(impls.load(name, known), "Bu çil") == "Bu Ġ <unk> il"


def test_s3c_the_frequency_of_merges_never_rises_on_its_way_to_the_plateau() -> None:
    for name in TRAINERS:
        counts = list(impls.get(name).train_model(SENTENCES, TrainingSpec(vocab_size=300)).merge_counts or ())
        assert counts == sorted(counts, reverse=True)
        assert (counts[0], counts[-10:]) == (7, [1] * 10)  # the plateau: what is left occurs once


# --- S4 and S5: articles, longest match and characters ---------------------------------------------------------


def test_s4_longest_match() -> None:
    model = impls.get("naive").train_model(["aa aa bb aabb"], TrainingSpec(**PLAIN, vocab_size=1000, min_count=2))
    assert tokens_of(impls.load("greedy", model), "aa aa bb aabb") == "aaĠ aaĠ bb Ġ aa bb"


def of_words(*words: str, **fields: Any) -> Model:
    return Model(tokens=tuple(word.encode() for word in words), alphabet="chars", **fields)


def test_s5_mama_myla_ramu() -> None:
    model = impls.get("naive").train_model(MAMA, TrainingSpec(**PLAIN | CHARS, vocab_size=100))
    assert learned(model).endswith(" мамаĠмылаĠраму")  # no pair is left
    # What the source prints for its second merge, ма and a space, would have been:
    printed = of_words(*" амлыру", "ма", "ма ", merges=((2, 1), (7, 0)))
    assert tokens_of(impls.load("naive", printed), MAMA[0]) == "ма маĠ м ы л а Ġ р а м у"
    without_letters = of_words("ма", "мама", " ", "мыл", "а", "раму")
    assert tokens_of(impls.load("greedy", without_letters), MAMA[0]) == "мама Ġ мыл а Ġ раму"


def test_s5_decode_maps_unknown_ids_to_unk() -> None:
    tokenizer = impls.load("greedy", of_words("а", "б", "ра", unknown="[UNK]", unknown_id=3))
    assert tokenizer.decode([0, 1, 2]) == "абра"
    assert tokenizer.decode([0, 99, 2]) == "а[UNK]ра"
