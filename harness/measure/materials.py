"""What a run gives to its processes: models and training files in a temporary folder, corpora, references, cores."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.data import load_corpus, load_model
from harness.measure import placement, worker
from harness.measure.references import CONFIRMING, ENCODERS, References
from harness.measure.texts import Corpora, write_training_file
from harness.measure.workloads import Workload
from harness.outcome import Outcome
from harness.process.limits import without_paths, worker_limits
from harness.process.session import Failed, FailedError, Session, functions
from harness.targets import is_target
from impls import BPEError, Model


class Materials:
    """What the processes of one run get. Use it in a `with` statement, which removes the folder at its end."""

    def __init__(self, cores: Sequence[int] = ()) -> None:
        self.cores, self.limits = cores, worker_limits()
        self.load_model: Callable[[str], Model] = load_model
        self._folder = TemporaryDirectory(prefix="bpebench-run-", ignore_cleanup_errors=True)
        self._scratch = Path(self._folder.name)
        self._temporary = self._scratch / "temporary"
        self._temporary.mkdir()
        self.corpora = Corpora(load_corpus)
        self.models: dict[str, Model] = {}
        self._files: dict[str, str | FailedError] = {}
        self._trainings: dict[str, Path] = {}
        self.unopened: dict[tuple[str, str], Failed] = {}
        """Why an implementation was not built on a model: it is not tried again."""
        self.references = References(self.model_file, ENCODERS, CONFIRMING)

    def __enter__(self) -> Materials:
        return self

    def __exit__(self, *error: object) -> None:
        self.references.close()
        self._folder.cleanup()

    def session(self, threads: int = 1, hash_seed: int = 0) -> Session:
        """Return a session for a contestant; `hash_seed` fixes the order of Python's sets."""
        environment = placement.thread_environment(threads)
        environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self._temporary))
        environment |= {"PYTHONHASHSEED": str(hash_seed), "PYTHONUNBUFFERED": "1"}
        return functions(self.limits, environment)

    def threads(self, workload: Workload) -> int:
        """Return the number of threads of a workload."""
        return max(1, len(self.cores)) if workload.threads == "all" else workload.threads

    def cores_for(self, workload: Workload) -> tuple[int, ...]:
        """Return the cores for a workload: the last one for one thread, else all."""
        return tuple(self.cores[-1:] if self.threads(workload) == 1 else self.cores)

    def shown(self, implementation: str) -> str:
        """Return the name of an implementation in records, which hold no paths."""
        return without_paths(implementation) if is_target(implementation) else implementation

    def model_file(self, name: str) -> str:
        """Return the path of a model in our own format. Raises `FailedError` if the model is not available."""
        if name not in self._files:
            path = self._scratch / f"model-{len(self._files)}.json"
            try:
                with reading():
                    model = self.load_model(name)
                    model.save(path)
                    model = Model.load(path)  # fills the cache of parsed files before any implementation is timed
                    if model.merge_rule == "concatenation":
                        _ = model.recovered_merges  # derived once, not in each process whose library needs merges
                    worker.derived_file(path).write_bytes(pickle.dumps(model))
                self.models[name], self._files[name] = model, str(path)
            except FailedError as error:
                self._files[name] = error
        path_or_error = self._files[name]
        if isinstance(path_or_error, FailedError):
            raise path_or_error
        return path_or_error

    def round_trip(self, name: str) -> str:
        """Return `Model.round_trip` of a model already loaded, or an empty string."""
        return self.models[name].round_trip if name in self.models else ""

    def training_file(self, workload: Workload) -> Path:
        """Return the file to train from, written once. Raises `FailedError`."""
        key = f"{workload.corpus} {workload.split} {workload.call_bytes}"
        if key not in self._trainings:
            path = self._scratch / f"training-{len(self._trainings)}.txt"
            with reading():
                write_training_file(path, self.corpora, workload)
            self._trainings[key] = path
        return self._trainings[key]


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Raise `FailedError`, as something is missing, if the model or corpus read in the body cannot be read."""
    try:
        yield
    except (BPEError, OSError, ValueError) as error:
        raise FailedError(Failed(Outcome.MISSING, without_paths(" ".join(str(error).split())))) from None


def kernels_compiled() -> None:
    """Compile the kernels of `compiled` that are missing in the user's cache, so that no timed process does it."""
    from impls import Unsupported
    from impls.compiled.codegen.build import prepare

    with contextlib.suppress(Unsupported):  # its own outcome reports it
        prepare()
