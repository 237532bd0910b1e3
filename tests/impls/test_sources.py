"""Every worked example of the five written-up systems, by name. Where a source is wrong, one line says so."""

from __future__ import annotations

import pytest

import impls
from impls import Model, TrainingSpec, UnknownSymbol
from impls.core.text.patterns import NAMED, Splitter

TRAINERS = ["naive", "wordcount", "priority", "bytelevel"]
CHARACTER_TRAINERS = ["naive", "wordcount", "priority"]


def learned(model: Model) -> list[str]:
    """The learned tokens in order, a leading space written Ġ."""
    return [(model.tokens[i] or b"").decode().replace(" ", "Ġ") for i in model.merge_results]


def tokens_of(tokenizer: impls.Tokenizer, text: str) -> list[str]:
    return [tokenizer.decode([i]).replace(" ", "Ġ") for i in tokenizer.encode(text)]


# --- S1: a course, in the manner of minbpe ---------------------------------------------------------------------


def pieces(pattern: str, text: str) -> list[str]:
    return Splitter(NAMED[pattern]).split(text)


@pytest.mark.parametrize("name", TRAINERS)
def test_s1_basic_ids_are_256_plus_the_step_and_ties_go_to_the_pair_met_first(name: str) -> None:
    model = impls.get(name).train_model(["dcba"], TrainingSpec(vocab_size=258, pattern="none", ties="first"))
    assert model.merges == ((100, 99), (256, 98))  # dc, then dcb


def test_s1_regex_cuts_with_the_gpt2_pattern_first() -> None:
    assert pieces("gpt2", "I'll  pay 5 TL!\n ok") == ["I", "'ll", " ", " pay", " 5", " TL", "!", "\n", " ok"]


def test_s1_turkish_pattern_keeps_a_word_with_its_suffix_whole_and_loses_nothing() -> None:
    text = "İstanbul'da 5 kişi,  çok   güzel!\n"
    assert pieces("turkish-s1", text) == [
        "İstanbul'da", " 5", " ", "kişi", ",", "  ", "çok", "   ", "güzel", "!", "\n",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "source_pieces"),
    [
        ("İstanbul’da", ["İstanbul", "’", "da"]),
        ("I\u0307stanbul'da", ["I", "\u0307", "stanbul'da"]),
        ("5'te", ["5", "'", "te"]),
        ("Ankara'nın'ki", ["Ankara'nın", "'", "ki"]),
    ],
    ids=["typographic apostrophe", "combining dot", "suffix of a number", "second apostrophe"],
)
def test_s1_turkish_pattern_tears_this_word_and_our_turkish_keeps_it_whole(text: str, source_pieces: list[str]) -> None:
    assert pieces("turkish-s1", text) == source_pieces
    assert pieces("turkish", text) == [text]


def test_s1_turkish_pattern_joins_a_space_to_digits_only_and_our_turkish_to_letters_as_well() -> None:
    assert pieces("turkish-s1", "bir 2 üç") == ["bir", " 2", " ", "üç"]
    assert pieces("turkish", "bir 2 üç") == ["bir", " 2", " üç"]


@pytest.mark.parametrize("name", [*TRAINERS, "backtracking"])
def test_s1_byte_level_has_its_special_tokens_behind_the_learned_ones_and_encodes_them(name: str) -> None:
    specials = ("<s>", "</s>", "<pad>", "<|user|>", "<|assistant|>")
    spec = TrainingSpec(vocab_size=256 + 4 + 5, special_tokens=specials, ties="first")
    tokenizer = impls.load(name, impls.train("naive", ["merhaba dünya merhaba"], spec).model)
    assert [tokenizer.model.special_tokens[text] for text in specials] == [260, 261, 262, 263, 264]
    text = "<s><|user|>merhaba</s>"
    ids = tokenizer.encode(text, allowed_special="all")
    assert ids[:2] == [260, 263]
    assert ids[2:-1] == tokenizer.encode("merhaba")
    assert ids[-1] == 261
    assert tokenizer.decode(ids) == text


# --- S2: an article with a minimal tokenizer ------------------------------------------------------------------


@pytest.mark.parametrize("name", TRAINERS)
@pytest.mark.parametrize(("ties", "tokens"), [("smallest", ["aa", "ab", "aaab"]), ("first", ["aa", "aaa", "aaab"])])
def test_s2_aaabdaaabac_becomes_xdxac(name: str, ties: str, tokens: list[str]) -> None:
    spec = TrainingSpec(vocab_size=259, pattern="none", ties=ties)  # type: ignore[arg-type]
    tokenizer = impls.train(name, ["aaabdaaabac"], spec)
    assert learned(tokenizer.model) == tokens  # Z = aa, Y = ab, X = ZY in the source; X is the same either way
    assert tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert tokenizer.model.merge_counts == (4, 2, 2)


@pytest.mark.parametrize("name", TRAINERS)
@pytest.mark.parametrize("ties", ["smallest", "first"])
def test_s2_hello_hello_world_to_270_gives_hello_world_back(name: str, ties: str) -> None:
    spec = TrainingSpec(vocab_size=270, pattern="none", ties=ties)  # type: ignore[arg-type]
    tokenizer = impls.train(name, ["hello hello world"], spec)
    assert len(tokenizer.model.merges) == 11  # the whole text is one token by then, and no pair is left for 270
    assert tokenizer.encode("hello hello world") == [266]
    assert tokenizer.decode(tokenizer.encode("hello world")) == "hello world"


@pytest.mark.parametrize("name", TRAINERS)
def test_s2_and_s1_make_two_vocabularies_from_one_text(name: str) -> None:
    text = "hug hug pug pun pun bun hugs"
    first, smallest = (
        impls.get(name).train_model([text], TrainingSpec(vocab_size=262, ties=ties))  # type: ignore[arg-type]
        for ties in ("first", "smallest")
    )
    assert set(learned(first)) == set(learned(smallest))
    assert learned(first) != learned(smallest)


# --- S3: a series, after Sennrich, then after GPT-2 ------------------------------------------------------------

WORDS = ["bayat"] * 5 + ["bayrak"] * 3 + ["kayak"] * 4 + ["kıyak"] * 2


@pytest.mark.parametrize("name", CHARACTER_TRAINERS)
def test_s3a_bayat_bayrak_kayak_kiyak(name: str) -> None:
    spec = TrainingSpec(vocab_size=7 + 5, pattern="none", alphabet="chars", ties="first")
    model = impls.get(name).train_model(WORDS, spec)
    # The source's second step (b,ay) has a count of 8 only; (ay,a) and (a,k) have 9, and (ay,a) is met first.
    assert learned(model) == ["ay", "aya", "baya", "bayat", "ak"]
    assert model.merge_counts == (12, 9, 5, 5, 5)


@pytest.mark.parametrize("name", TRAINERS)
def test_s3a_merging_a_b_does_not_cut_the_symbol_ba(name: str) -> None:
    # The source replaces "a b" by "ab" in the text "ba b", which makes bab of it: that is no occurrence of a+b.
    model = impls.get(name).train_model(["ba"] * 3 + ["bab"] + ["ab"] * 2, TrainingSpec(vocab_size=300))
    assert learned(model) == ["ba", "ab", "bab"]
    assert model.merge_counts == (4, 2, 1)
    assert tokens_of(impls.load(name, model.with_(merges=model.merges[:2], merge_counts=None)), "bab") == ["ba", "b"]


SENTENCES = [
    "Bu bir bpe uygulamasidir.",
    "Bu bolum tokenizasyonla ilgilidir.",
    "Bu bolumde bpe tokenizer algoritmasi gosterilmektedir.",
    "Umarim onlarin nasil egitildigini anlayabilir ve token uretebilirsiniz.",
]
S3B = TrainingSpec(
    vocab_size=50, alphabet="chars", ties="first", special_tokens=("<|endoftext|>",), special_ids="first"
)


@pytest.mark.parametrize("name", CHARACTER_TRAINERS)
def test_s3b_the_26_merges(name: str) -> None:
    model = impls.get(name).train_model(SENTENCES, S3B)
    assert " ".join(learned(model)) == (
        "il ir Ġb la as ni Bu dir Ġt Ġto Ġtok Ġtoke niz nla ri te Ġbp Ġbpe Ġu mas masi Ġbo Ġbol Ġbolu Ġbolum Ġtokeniz"
    )
    assert model.merge_counts is not None
    assert model.merge_counts[0] == 7
    assert model.special_tokens == {"<|endoftext|>": 0}
    assert model.vocab_size == 50


@pytest.mark.parametrize("name", [*CHARACTER_TRAINERS, "backtracking"])
def test_s3b_bu_bir_token_degildir(name: str) -> None:
    tokenizer = impls.load(name, impls.train("wordcount", SENTENCES, S3B).model)
    assert " ".join(tokens_of(tokenizer, "Bu bir token degildir.")) == "Bu Ġb ir Ġtoke n Ġ d e g il dir ."


@pytest.mark.parametrize("name", [*CHARACTER_TRAINERS, "greedy", "backtracking"])
def test_s3b_a_character_outside_the_alphabet_is_a_clear_error_or_the_unknown_token(name: str) -> None:
    # The source fails with a bare lookup error.
    tokenizer = impls.load(name, impls.train("naive", SENTENCES, S3B).model)
    with pytest.raises(
        UnknownSymbol, match=r"'\\xe7' \(U\+00E7\) at character 3 is not in the model's alphabet"
    ) as caught:
        tokenizer.encode("Bu ç")
    assert (caught.value.character, caught.value.offset) == ("ç", 3)
    with_unknown = TrainingSpec(
        vocab_size=51, alphabet="chars", ties="first", special_tokens=("<|endoftext|>",), unknown="<unk>"
    )
    tokenizer = impls.load(name, impls.train("naive", SENTENCES, with_unknown).model)
    assert tokens_of(tokenizer, "Bu çil") == ["Bu", "Ġ", "<unk>", "il"]


@pytest.mark.parametrize("name", TRAINERS)
def test_s3c_the_frequency_of_merges_never_rises_on_its_way_to_the_plateau(name: str) -> None:
    model = impls.get(name).train_model(SENTENCES, TrainingSpec(vocab_size=300))
    counts = list(model.merge_counts or ())
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 7
    assert counts[-10:] == [1] * 10  # the plateau: what is left occurs once


# --- S4: an article, longest match -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRAINERS)
def test_s4_three_steps(name: str) -> None:
    # Token 4 = aa, 5 = aa and a space, 6 = bb; the second step is a tie of three, and the pair met first is taken.
    spec = TrainingSpec(vocab_size=1000, pattern="none", ties="first", min_count=2)
    model = impls.get(name).train_model(["aa aa bb aabb"], spec)
    assert learned(model) == ["aa", "aaĠ", "bb"]
    assert model.merge_counts == (3, 2, 2)
    assert tokens_of(impls.load("greedy", model), "aa aa bb aabb") == ["aaĠ", "aaĠ", "bb", "Ġ", "aa", "bb"]


# --- S5: an article, characters --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHARACTER_TRAINERS)
def test_s5_mama_myla_ramu_training(name: str) -> None:
    def train(**bounds: int) -> Model:
        spec = TrainingSpec(**({"vocab_size": 100} | bounds), pattern="none", alphabet="chars", ties="first")
        return impls.get(name).train_model(["мама мыла раму"], spec)

    # The source goes on with (ма,␠); all eleven pairs now occur once, and (ма,ма) is the earliest.
    assert learned(train(max_merges=2)) == ["ма", "мама"]
    assert train(max_merges=2).merge_counts == (2, 1)
    assert learned(train(vocab_size=7 + 2)) == ["ма", "мама"]
    assert learned(train())[-1] == "мамаĠмылаĠраму"  # no pair is left


def test_s5_what_the_source_prints_for_its_second_merge_would_have_been() -> None:
    letters = [letter.encode() for letter in " амлыру"]
    ids = {token: i for i, token in enumerate([*letters, "ма".encode(), "ма ".encode()])}
    merges = ((ids["м".encode()], ids["а".encode()]), (ids["ма".encode()], ids[b" "]))
    tokenizer = impls.load("naive", Model(tokens=tuple(ids), merges=merges, alphabet="chars"))
    assert tokens_of(tokenizer, "мама мыла раму") == ["ма", "маĠ", *"мылаĠраму"]


def test_s5_longest_match_of_mama_myla_ramu_with_a_vocabulary_that_lacks_single_characters() -> None:
    words = ["ма", "мама", " ", "мыл", "а", "раму"]
    model = Model(tokens=tuple(word.encode() for word in words), alphabet="chars")
    assert tokens_of(impls.load("greedy", model), "мама мыла раму") == ["мама", "Ġ", "мыл", "а", "Ġ", "раму"]


def test_s5_decode_maps_unknown_ids_to_unk() -> None:
    tokens = tuple(token.encode() for token in ("а", "б", "ра"))
    tokenizer = impls.load("greedy", Model(tokens=tokens, alphabet="chars", unknown="[UNK]", unknown_id=3))
    assert tokenizer.decode([0, 1, 2]) == "абра"
    assert tokenizer.decode([0, 99, 2]) == "а[UNK]ра"
