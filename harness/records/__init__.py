"""What is recorded of a run, and its files. Everything shown to a person is made from these."""

from __future__ import annotations

from harness.records.schema import (
    Agreement,
    AgreementClass,
    AnyRecord,
    Compression,
    Counterexample,
    Difference,
    Disagreement,
    FirstDifference,
    Measurement,
    MergeChoice,
    Record,
    Status,
    Text,
    Trained,
    TrainerAgreement,
    Verdict,
)
from harness.records.store import (
    COUNTEREXAMPLES_FILE,
    MACHINE_FILE,
    RECORDS_FILE,
    RecordError,
    RecordWriter,
    encode_record,
    of_kind,
    read_lines,
    read_records,
)
from impls.formats.files import write_atomically

__all__ = [
    "COUNTEREXAMPLES_FILE",
    "MACHINE_FILE",
    "RECORDS_FILE",
    "Agreement",
    "AgreementClass",
    "AnyRecord",
    "Compression",
    "Counterexample",
    "Difference",
    "Disagreement",
    "FirstDifference",
    "Measurement",
    "MergeChoice",
    "Record",
    "RecordError",
    "RecordWriter",
    "Status",
    "Text",
    "Trained",
    "TrainerAgreement",
    "Verdict",
    "encode_record",
    "of_kind",
    "read_lines",
    "read_records",
    "write_atomically",
]
