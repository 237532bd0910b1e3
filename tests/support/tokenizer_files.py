r"""Random files tokenizer.json as Hugging Face's library reads them, each with texts that reach its rules.

    document = tokenizer_file(Random(7))         # normalizer x pre-tokenizer x added tokens x flags of the model
    texts = file_texts(document, Random(7), 10)

The library loads nearly every document, and panics on about one in a hundred of them, or on a text. Vocabularies are
small, over few letters, so that merges, unknown characters and added tokens meet often.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from random import Random
from typing import Any

from impls.core.text.byte_alphabet import to_printable

Document = dict[str, Any]

PARTS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""What files, and texts for them, are made of."""


def tokenizer_file(random: Random) -> Document:
    """Return a random document: byte-level, over characters, or over words with a suffix."""
    kind = random.choice(("bytes", "bytes", "chars", "chars", "marks", "words"))
    model = _model(kind, random)
    normalizer = _sequence(_steps(random, "normalizer", (0.35, 0.35, 0.2, 0.1)), "normalizers")
    if kind == "marks":
        marks = [PARTS["marks"]["replace"]]
        if random.random() < 0.6:
            marks.insert(random.randrange(2), PARTS["marks"]["prepend"])
        before = [step for step in [normalizer] if step is not None and random.random() < 0.5]
        normalizer = _sequence([*before, *marks], "normalizers")
    return {
        "version": "1.0", "truncation": None, "padding": None, "normalizer": normalizer, "model": model,
        "added_tokens": _added_tokens(model, random, byte_level=kind == "bytes"),
        "pre_tokenizer": _pre_tokenizer(random, kind),
        "post_processor": _drawn(random, PARTS["after"].get(kind)) or None,
        "decoder": _drawn(random, PARTS["decoder"][kind]) or None,
    }  # fmt: skip


def file_texts(document: Document, random: Random, n_texts: int) -> list[str]:
    """Return texts of the letters of the vocabulary, its tokens, its added tokens, and characters that rules change."""
    tokens = [entry["content"] for entry in document["added_tokens"]]
    words = [word for word in document["model"]["vocab"] if len(word) > 1 and not word.startswith("<")]
    words = [word.replace("Ġ", " ") for word in words]
    letters = PARTS["letters"]
    pools = [letters, letters, PARTS["other_parts"], *[words or letters], *[tokens or letters] * 2]
    return ["".join(random.choice(random.choice(pools)) for _ in range(_length(random))) for _ in range(n_texts)]


def _length(random: Random) -> int:
    return random.randint(1, 8) if random.random() < 0.85 else random.choice((0, 20, 60))


def _one_in(random: Random, n: int) -> bool:
    return random.randrange(n) == 0


def _sequence(steps: list[Document], key: str) -> Document | None:
    return steps[0] if len(steps) == 1 else {"type": "Sequence", key: steps} if steps else None


def _drawn(random: Random, form: Any) -> Any:
    """Return a document of a form, as `tokenizer_files.toml` says."""
    match form:
        case dict():
            return {name: _drawn(random, value) for name, value in form.items()}
        case list():
            chosen = random.choice(form)
            return chosen if isinstance(chosen, list) else _drawn(random, chosen)
        case str() if form.startswith("@"):
            return _drawn(random, PARTS[form[1:]])
    return form


def _steps(random: Random, form: str, weights: tuple[float, ...]) -> list[Document]:
    """Return random steps, n of them with the n-th weight."""
    (n_steps,) = random.choices(range(len(weights)), weights)
    return [_drawn(random, PARTS[form]) for _ in range(n_steps)]


# --- the model ---------------------------------------------------------------------------------------------------


def _model(kind: str, random: Random) -> Document:
    suffix = "</w>" if kind == "words" else None
    letters = list(random.sample(PARTS["letters"], random.randint(3, len(PARTS["letters"]))))
    if kind == "marks" and "▁" not in letters:
        letters.append("▁")
    unknown = None if kind == "bytes" and not _one_in(random, 8) else random.choice((None, "<unk>", "<unk>", "<unk>"))
    vocab: dict[str, int] = {}
    symbols = [to_printable(letter.encode()) for letter in letters] if kind == "bytes" else letters
    if kind == "bytes":
        base = [to_printable(bytes([byte])) for byte in range(256)]
        symbols = list(dict.fromkeys("".join(symbols)))
    else:
        base = symbols = [*symbols, *(letter + suffix for letter in symbols if suffix)]
    if unknown is not None and not _one_in(random, 4):
        vocab[unknown] = 0
    for symbol in base:
        vocab.setdefault(symbol, len(vocab))
    merges = _merges(list(symbols), vocab, random, suffix or "")
    for _ in range(random.choice((0, 0, 1, 2))):  # tokens that no merge makes
        vocab.setdefault("".join(random.choices(symbols, k=random.randint(2, 4))), len(vocab))
    if unknown is not None:
        vocab.setdefault(unknown, len(vocab))
    byte_fallback = kind in ("chars", "marks") and _one_in(random, 2)
    if byte_fallback:
        missing = random.sample(range(256), 12) if _one_in(random, 4) else ()
        for byte in range(256):
            if byte not in missing:
                vocab.setdefault(f"<0x{byte:02X}>", len(vocab))
    return {
        "type": "BPE", "dropout": None, "unk_token": unknown, "continuing_subword_prefix": None,
        "end_of_word_suffix": suffix, "fuse_unk": _one_in(random, 2) and kind != "words", "vocab": vocab,
        "byte_fallback": byte_fallback, "ignore_merges": kind != "words" and _one_in(random, 5), "merges": merges,
    }  # fmt: skip


def _merges(symbols: list[str], vocab: dict[str, int], random: Random, suffix: str) -> list[list[str]]:
    """Return merges of symbols and their results, mostly in order; add the results to `vocab`."""
    merges: list[list[str]] = []
    for _ in range(random.randint(0, 24)):
        left, right = random.choices(symbols, k=2)
        if (suffix and left.endswith(suffix)) or len(left + right) > 12:
            continue
        if [left, right] not in merges:
            merges.append([left, right])
            vocab.setdefault(left + right, len(vocab))
            symbols.append(left + right)
    if len(merges) > 1 and _one_in(random, 5):
        random.shuffle(merges)
    if merges and _one_in(random, 12):
        merges.insert(random.randrange(len(merges)), random.choice(merges))
    return merges


def _pre_tokenizer(random: Random, kind: str) -> Document | None:
    steps = _steps(random, "splitting_step", (0.3, 0.4, 0.2, 0.1))
    if kind == "bytes":
        steps.append(_drawn(random, PARTS["before"]["bytes"]))
    elif kind != "marks" and _one_in(random, 2):
        steps.insert(0, _drawn(random, PARTS["before"]["chars"]))
    return _sequence(steps, "pretokenizers")


def _added_tokens(model: Document, random: Random, *, byte_level: bool) -> list[Document]:
    """Return added tokens with the ids that the library gives them; some are tokens of the vocabulary."""
    vocab: dict[str, int] = model["vocab"]
    plain = model["end_of_word_suffix"] is None
    known = [token for token in vocab if plain and not token.startswith("<0x")]
    if byte_level:  # other tokens are not written as texts are
        known = [token for token in known if token.isascii()]
    pools = [PARTS["added_tokens"], known or PARTS["added_tokens"]]
    texts = [random.choice(random.choice(pools)) for _ in range(random.choice((0, 0, 1, 2, 4)))]
    if model["unk_token"] is not None and _one_in(random, 2):
        texts.append(model["unk_token"])
    added: list[Document] = []
    free = len(vocab)
    for text in dict.fromkeys(texts):
        i = vocab.get(text, free)
        free += i == free
        flags = {name: _one_in(random, 4) for name in ("single_word", "lstrip", "rstrip")}
        special = _one_in(random, 2)
        normalized = _one_in(random, 5) if special else not _one_in(random, 4)
        added.append({"id": i, "content": text, **flags, "normalized": normalized, "special": special})
    return sorted(added, key=lambda entry: entry["id"])
