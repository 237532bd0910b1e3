"""The records of runs, and their files. All tables and charts are made from these."""

from harness.records.comparisons import (
    Agreement,
    AgreementClass,
    Difference,
    Disagreement,
    NotCompared,
)
from harness.records.schema import (
    Clock,
    Compression,
    Counterexample,
    Measurement,
    Pass,
    Text,
    Trained,
    Verdict,
)
from harness.records.store import (
    MACHINE_FILE,
    RECORDS_FILE,
    AnyRecord,
    RecordError,
    RecordWriter,
    encode_record,
    of_kind,
    read_lines,
    read_machine,
    read_records,
    write_machine,
)
from impls.formats.files import write_atomically
