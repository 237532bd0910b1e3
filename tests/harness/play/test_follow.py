"""Text that is edited: after every edit the tokens are those of the whole text, whatever part of them is answered."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import impls
from harness.play import follow
from harness.play.follow import Followed, Spelling

MODEL = "tiny.json"
WORDS = ["hello", " unhappiness", "öğrendik ", "👩🏽‍🚀", "\n", "zq"]


def unpacked(answer: bytes) -> dict[str, Any]:
    size = int.from_bytes(answer[:4], "little")
    head: dict[str, Any] = json.loads(answer[4 : 4 + size])
    at = 4 + size
    for name, length in head["arrays"].items():
        head[name] = np.frombuffer(answer, "<u4", length, at).tolist()
        at += 4 * length
    assert at == len(answer)
    return head


class Page:
    """What the page makes of answers."""

    def __init__(self) -> None:
        self.tokens: list[list[int]] = []
        self.n_bytes = 0
        self.n_parts = 0

    def take(self, head: dict[str, Any], text: str) -> None:
        new = [list(token) for token in zip(head["ids"], head["starts"], head["ends"], strict=True)]
        if head["n_removed"] is None:
            self.tokens = new
        else:
            self.n_parts += 1
            shift = len(text.encode()) - self.n_bytes
            after = self.tokens[head["n_kept"] + head["n_removed"] :]
            behind = [[i, start + shift, end + shift] for i, start, end in after]
            self.tokens = [*self.tokens[: head["n_kept"]], *new, *behind]
        self.n_bytes = len(text.encode())


@pytest.mark.parametrize("most_split", [0, 1 << 18])
@pytest.mark.parametrize("name", ["compiled", "priority", "greedy"])
def test_after_each_edit_the_tokens_are_those_of_the_text(
    model_file: Path, monkeypatch: pytest.MonkeyPatch, name: str, most_split: int
) -> None:
    monkeypatch.setattr(follow, "MOST_SPLIT_BYTES", most_split)
    model = impls.Model.load(model_file)
    tokenizer, spelling = impls.load(name, model), Spelling(model)
    random, page, text = Random(3), Page(), ""
    followed = Followed(tokenizer, spelling)
    for _ in range(60):
        start = random.randrange(len(text) + 1)
        stop = random.randrange(start, min(len(text), start + 20) + 1)
        new = "".join(random.choices(WORDS, k=random.randrange(5)))
        head = unpacked(followed.change(start, stop, new))
        text = text[:start] + new + text[stop:]
        page.take(head, text)
        ids = tokenizer.encode(text)
        ends = np.cumsum(spelling.joined(np.array(ids, np.int64))[1]).tolist()
        assert page.tokens == [list(token) for token in zip(ids, [0, *ends], ends, strict=False)]
    assert (page.n_parts > 40) is (most_split == 0)


def followed(client: TestClient, **request: Any) -> dict[str, Any]:
    column = {"implementation": "compiled", "model": MODEL}
    defaults = {"column": column, "follower": "a page", "base": None, "start": 0, "stop": 0}
    answer = client.post("/api/follow", json=defaults | request)
    assert answer.status_code == 200, answer.text
    return unpacked(answer.content)


def test_an_edit_of_what_is_not_held_is_asked_for_again(client: TestClient) -> None:
    first = followed(client, text="hello")
    assert first["pieces"] == [0]
    second = followed(client, text=" hello", base=first["version"], start=5, stop=5)
    (whole,) = client.post(
        "/api/encode", json={"text": "hello hello", "columns": [{"implementation": "compiled", "model": MODEL}]}
    ).json()["columns"]
    assert second["ids"] == whole["ids"]
    assert followed(client, text="x", base=first["version"], start=5, stop=5)["again"] is True  # an older version
    assert followed(client, text="x", base=1, follower="another")["again"] is True


def test_what_goes_wrong_is_said_and_the_next_edit_is_asked_for_again(client: TestClient) -> None:
    first = followed(client, text="hello world " * 87_381)
    over = followed(client, text="ééé", base=first["version"])
    assert (over["verdict"], over["arrays"]) == ("error", {})
    assert "1,048,578 bytes" in over["error"]
    assert followed(client, text="x", base=first["version"])["again"] is True
    outside = followed(client, text="x", base=followed(client, text="ab")["version"], start=7, stop=9)
    assert "start and stop must satisfy" in outside["error"]
