"""A target that speaks the protocol by hand, right or wrong in the way its argument names."""

from __future__ import annotations

import json
import os
import sys
import time


def write(content: str | bytes) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    while data:
        data = data[os.write(1, data) :]


def forever(content: bytes) -> None:
    while True:
        write(content)


def said(number: int, rest: str) -> str:
    return f'{{"id": {number}, {rest}}}\n'


def result(number: int, answer: object) -> str:
    return json.dumps({"id": number, "result": answer}) + "\n"


def misbehave(how: str, number: int) -> bool:
    """Answer in the way `how`; False where there is no such way, and a right answer is due."""
    ids = {"nan": "NaN", "float": "1.5", "negative": "-1", "huge": "1" + "0" * 400, "infinite": "1e999", "word": '"a"'}
    if how in ids:
        write(said(number, f'"result": [{ids[how]}]'))
    elif how == "flood":
        forever(b"x" * 65536)
    elif how == "flood-lines":
        forever(b"{}\n" * 20000)
    elif how == "cut":
        write(said(number, '"resu')[:-2])
        os._exit(0)
    elif how == "no-line-end":
        write(result(number, [1])[:-1])
        time.sleep(60)
    elif how == "words":
        write("good morning\n")
    elif how == "not-utf8":
        write(b'{"id": %d, "result": "\xff"}\n' % number)
    elif how == "twice":
        write(result(number, [1]) * 2)
    elif how == "nested":
        write(said(number, '"result": ' + "[" * 100_000))
    elif how == "nested-elsewhere":
        write(said(number, '"x": ' + "[" * 100_000 + "]" * 100_000 + ', "result": [1]'))
    elif how == "another-id":
        write(result(number + 1, [1]))
    elif how == "no-result":
        write(said(number, '"x": 1'))
    elif how == "a-list":
        write("[1, 2]\n")
    elif how == "null":
        write(result(number, None))
    elif how == "late":
        time.sleep(3)
        write(result(number, [1]))
    elif how == "closes-stdout":
        os.close(1)
        time.sleep(60)
    elif how == "exits":
        print("the weather is too bad\nand that is an error in /some/secret/folder/file.c", file=sys.stderr)
        os._exit(3)
    elif how == "answers-and-exits":
        write(result(number, [1]))
        os._exit(0)
    elif how == "does-not-read":
        time.sleep(60)
    else:
        return False
    return True


def main(how: str) -> None:
    if how == "exits-at-once":
        sys.exit("there is nothing to load")
    if how == "never-starts":
        time.sleep(60)
    for line in sys.stdin:
        request = json.loads(line)
        number, operation = request["id"], request["op"]
        if operation == "encode":
            if how == "closes-stdin":
                os.close(0)
                write(result(number, [1]))
                time.sleep(60)
            if not misbehave(how, number):
                write(result(number, list(request["text"].encode("utf-8", "replace"))))
        elif operation == "decode" and how == "surrogate":
            write(said(number, '"result": "a\\ud83d"'))
        elif operation == "decode":
            write(result(number, bytes(request["ids"]).decode("utf-8", "replace")))
        else:
            write(json.dumps({"id": number, "error": "unknown operation"}) + "\n")


main(sys.argv[1])
