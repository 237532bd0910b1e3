"""Published vocabularies by content: their names, and the pattern and special tokens their rank files lack.

A vocabulary is identified by the SHA-256 of its rank file: its tokens in order of id, as tiktoken writes them. It is
thus recognised in every format and under every file name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Known:
    """A published vocabulary."""

    name: str
    pattern: str | None = None
    """Name of the pattern its rank file is used with; None if its own format has one."""
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    """The special tokens its rank file is used with."""


def _numbered(first: int, names: Sequence[str]) -> dict[str, int]:
    return {f"<|{name}|>": first + index for index, name in enumerate(names)}


_END = "<|endoftext|>"
_FIM = _numbered(100258, ["fim_prefix", "fim_middle", "fim_suffix"])
_RESERVED = [f"reserved_special_token_{n}" for n in range(246)]
_LLAMA3 = _numbered(
    128000,
    [
        *("begin_of_text", "end_of_text", *_RESERVED[:2], "finetune_right_pad_id", "step_id", "start_header_id"),
        *("end_header_id", "eom_id", "eot_id", "python_tag", "image", *_RESERVED[2:]),
    ],
)
_QWEN = _numbered(151643, ["endoftext", "im_start", "im_end", *(f"extra_{n}" for n in range(205))])
_QWEN3_6 = (
    "<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|> "
    "<|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|> "
    "<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|> "
    "<tool_response> </tool_response> <think> </think> <|audio_start|> <|audio_end|> <tts_pad> <tts_text_bos> "
    "<tts_text_eod> <tts_text_bos_single> <|audio_pad|>"
)
_SPOKEN = (
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml "
    "cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am "
    "yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su"
)
_WHISPER = _numbered(
    50257,
    ["endoftext", "startoftranscript"]
    + _SPOKEN.split()
    + ["translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"]
    + [f"{n * 0.02:.2f}" for n in range(1501)],
)

KNOWN: dict[str, Known] = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": Known("r50k_base", "gpt2", {_END: 50256}),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": Known("p50k_base", "gpt2", {_END: 50256}),
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": Known(
        "cl100k_base", "cl100k", {_END: 100257, **_FIM, "<|endofprompt|>": 100276}
    ),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": Known(
        "o200k_base", "o200k", {_END: 199999, "<|endofprompt|>": 200018}
    ),
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": Known("llama3", "llama3", _LLAMA3),
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": Known("qwen", "qwen", _QWEN),
    "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd": Known(
        "qwen3.6", "qwen3.6", {name: 248044 + index for index, name in enumerate(_QWEN3_6.split())}
    ),
    "e601c3eb93ff531d545cf3c4f73e1ad59da1c456c538ba2368733ec157315b23": Known("tekken"),
    "a3fb8fe76aef917c241ae3396574e1854031867d60ba21ae94028a9da0ba60ae": Known("mistral-v1"),
    "781e3bbbdbcc40eb34c6e2013ef07f0936dc9afccf8f9d23fbc40481f9dfa574": Known("mistral-v3"),
    "316413f0a5497a8219e48697be7faac30a90c0756680c24114266233fba152af": Known("whisper", "gpt2", _WHISPER),
    # As in tokenizer.json, where its control symbols are added tokens.
    "c93715aea8537c2c5fa4fe8a4318c432ec9d29338dee7e600f6a3d7689a1ccdd": Known("mistral-v3"),
}
"""SHA-256 of the rank file -> the vocabulary."""
