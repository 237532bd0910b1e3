"""The JSON API: what columns answer, explanations, steps, training, models that are uploaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

import impls
from harness.data import load_corpus
from harness.play.store import Store
from impls.registry import learn

MODEL = "tiny.json"
TEXT = "hello unhappiness 👩🏽‍🚀 öğrendik"


def asked(client: TestClient, text: str, *columns: tuple[str, str], **more: Any) -> list[dict[str, Any]]:
    named = [{"implementation": implementation, "model": model} for implementation, model in columns]
    answer = client.post("/api/encode", json={"text": text, "columns": named, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()["columns"]


def test_columns_answer_in_order_with_ids_spans_and_pieces(client: TestClient, model_file: Path, bpebench: Any) -> None:
    priority, greedy = asked(client, TEXT, ("priority", MODEL), ("greedy", MODEL))
    for name, column in (("priority", priority), ("greedy", greedy)):
        tokenizer = impls.load(name, impls.Model.load(model_file))
        assert column["ids"] == tokenizer.encode(TEXT)
        assert column["error"] is None
        assert b"".join(TEXT.encode()[s[0] : s[1]] for s in column["spans"]).decode() == TEXT
        assert len(column["pieces"]) == len(tokenizer.pieces(TEXT))
    printed = json.loads(bpebench("encode", TEXT, "-m", str(model_file), "-e", "greedy", "--json").out)
    assert printed["ids"] == greedy["ids"]


def test_special_tokens_are_text_unless_they_are_allowed(client: TestClient) -> None:
    (as_text,) = asked(client, "a<s>b", ("priority", MODEL))
    (allowed,) = asked(client, "a<s>b", ("priority", MODEL), allow_special=True)
    assert len(allowed["ids"]) == 3 < len(as_text["ids"])
    assert allowed["spans"][1] == [1, 4, 1, 4]


def test_a_slow_column_is_ended_and_holds_up_no_other(client: TestClient) -> None:
    text = "".join(load_corpus("samples/tr").documents()) * 60
    slow, fast = asked(client, text, ("naive", "unsplit.json"), ("compiled", MODEL), pieces=False)
    assert (slow["verdict"], slow["ids"]) == ("timeout", [])
    assert "took longer than 2 s" in slow["error"]
    assert fast["verdict"] == "ok"
    (again,) = asked(client, "abab", ("naive", "unsplit.json"))
    assert again["verdict"] == "ok"


def test_explain_says_where_two_columns_differ(client: TestClient) -> None:
    columns = [{"implementation": name, "model": MODEL} for name in ("greedy", "priority")]
    text = " unhappinessunhappiness hhello worldhello"
    found = client.post("/api/explain", json={"text": text, "columns": columns}).json()
    one, two = asked(client, text, ("greedy", MODEL), ("priority", MODEL))
    assert found["agree"] is (one["ids"] == two["ids"])
    same = client.post("/api/explain", json={"text": "hello", "columns": [columns[0], columns[0]]}).json()
    assert same["agree"] is True


def steps(client: TestClient, text: str, **more: Any) -> dict[str, Any]:
    found = client.post("/api/steps", json={"text": text, "model": MODEL, **more})
    assert found.status_code == 200, found.text
    return {one["algorithm"]: one for one in found.json()["derivations"]}


def test_steps_lead_from_bytes_to_the_ids_of_each_implementation(client: TestClient, model_file: Path) -> None:
    found = steps(client, "hello unhappiness", piece=1)
    model = impls.Model.load(model_file)
    for name, implementation in (
        ("naive", "naive"), ("heap", "priority"), ("backtracking", "backtracking"), ("greedy", "greedy"),
    ):  # fmt: skip
        one = found[name]
        assert one["ids"] == impls.load(implementation, model).encode_piece(" unhappiness")
        assert one["reproduces"] is True
        assert one["states"][0]["ids"] == model.symbols(" unhappiness")
        assert one["states"][-1]["ids"] == one["ids"]
        assert len(one["states"]) == len(one["steps"]) + 1
    for before, step in zip(found["heap"]["states"], found["heap"]["steps"], strict=False):
        assert step["rank"] == min(rank for rank in before["ranks"] if rank is not None)
    assert set(found["heap"]["states"][-1]["ranks"]) <= {None}


def test_the_longest_piece_that_can_be_shown_is_chosen(client: TestClient) -> None:
    request = {"text": "hello unhappiness " + "x" * 300, "model": MODEL}
    found = client.post("/api/steps", json=request).json()
    assert (found["piece"], found["pieces"][1]) == (1, " unhappiness")
    too_long = client.post("/api/steps", json=request | {"piece": 2}).json()
    assert too_long["derivations"] == []
    assert "301 characters" in too_long["note"]
    assert client.post("/api/steps", json=request | {"piece": 3}).status_code == 422
    assert client.post("/api/steps", json=request | {"text": ""}).json()["derivations"] == []


def test_training_gives_its_merges_and_a_column(client: TestClient, tmp_path: Path) -> None:
    text = "evlerimizden evlerinize, hello world hello" * 3
    answer = client.post("/api/train", json={"text": text, "vocab_size": 320, "pattern": "gpt2", "ties": "first"})
    assert answer.status_code == 200, answer.text
    merges, model = answer.json()["merges"], answer.json()["model"]
    file = tmp_path / "model.json"
    file.write_bytes(client.get(f"/api/models/{model['model']}").content)
    learned = learn("priority", [text], impls.TrainingSpec(vocab_size=320, ties="first"))
    assert impls.Model.load(file).digest == learned.digest
    assert tuple(count for *_, count, _ in merges) == learned.merge_counts
    (column,) = asked(client, text, ("priority", model["model"]))
    assert column["ids"] == impls.load("priority", learned).encode(text)


def test_an_uploaded_file_becomes_a_column_with_its_own_errors(client: TestClient, tmp_path: Path) -> None:
    model = impls.Model(tokens=(b"a", b"b", b"ab"), merges=((0, 1),), alphabet="chars")
    model.save(tmp_path / "few.json")
    content, headers = (tmp_path / "few.json").read_bytes(), {"content-type": "application/octet-stream"}
    held = client.post("/api/models?label=<b>mine", content=content, headers=headers).json()
    assert (held["format"], held["label"]) == ("bpebench", "<b>mine")
    fine, refused = asked(client, "abba", ("priority", held["model"]), ("rustbpe", held["model"]))
    (other,) = asked(client, "abc", ("priority", held["model"]))
    assert (fine["ids"], fine["spans"]) == ([2, 1, 0], [[0, 2, 0, 2], [2, 3, 2, 3], [3, 4, 3, 4]])
    assert (refused["verdict"], other["verdict"]) == ("unsupported", "error")
    assert "'c'" in other["error"]


def test_choices_and_samples_are_listed(client: TestClient) -> None:
    found = client.get("/api/choices").json()
    assert {"name": MODEL, "label": MODEL} in found["models"]
    assert {"compiled", "naive"} <= {one["name"] for one in found["implementations"]}
    assert found["beginning"]["columns"][0] == {"implementation": "compiled", "model": MODEL}
    samples = client.get("/api/samples").json()
    assert len([name for name in samples if len(name) == 2]) >= 20
    sentences = client.get("/sentences.json").json()
    assert len(sentences) >= 20
    assert len(set(sentences.values())) == len(sentences)


def test_a_model_of_the_hub_that_is_not_there_is_refused_by_name(client: TestClient) -> None:
    answer = client.post("/api/hub", json={"name": "nobody/nothing"})
    assert answer.status_code == 422
    assert "hf:nobody/nothing: " in answer.json()["detail"]
    assert client.post("/api/hub", json={"name": "../etc/passwd"}).status_code == 422


def test_nothing_is_shown_that_nobody_asked_for(model_file: Path) -> None:
    store = Store([str(model_file)])
    assert [column.implementation for column in store.beginning().columns] == ["compiled"]
    assert [column.implementation for column in store.beginning(["naive", "greedy"]).columns] == ["naive", "greedy"]
