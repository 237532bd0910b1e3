"""The compression of the texts a run has timed, by the ids of its references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.measure.compression import add_text, uncounted
from harness.measure.protocol import Job
from harness.measure.run.materials import Materials, Unavailable
from harness.measure.run.references import References
from harness.measure.schedule import Plan
from harness.measure.texts import read_texts
from harness.measure.workloads import Workload, short_corpus, short_name
from harness.records import AnyRecord, Compression, of_kind


def compressions(
    plan: Plan, materials: Materials, references: References, done: Iterable[AnyRecord]
) -> Iterator[Compression]:
    """Yield the record of every model and real text timed that is not in `done`."""
    seen = {(record.model, record.corpus) for record in of_kind(done, Compression)}
    for workload in plan.workloads:
        corpus = "/".join(filter(None, (short_corpus(workload.corpus), workload.split)))
        record = uncounted(short_name(workload.model), corpus)
        is_text = (workload.task, workload.state) == ("encode", "warm-same") and not workload.corpus.startswith("gen/")
        if is_text and (record.model, corpus) not in seen:
            seen.add((record.model, corpus))
            try:
                _count(record, workload, materials, references)
            except Unavailable as error:
                record.status, record.reason = "missing", error.failed.reason
            yield record


def _count(record: Compression, workload: Workload, materials: Materials, references: References) -> None:
    texts, model = materials.texts(workload), materials.model(workload.model)
    expected = references.expected(Job(task="encode", state="warm-same", texts=texts.path), workload.model)
    if expected is None:
        record.status, record.reason = "unsupported", "no reference can run this model on this text"
        return
    for content in read_texts(Path(texts.path)):
        add_text(record, content.decode("utf-8", "surrogatepass"))
    record.implementation, record.n_tokens = expected.reference, expected.n_tokens
    record.vocab_size, record.round_trip = model.n_tokens, model.round_trip
