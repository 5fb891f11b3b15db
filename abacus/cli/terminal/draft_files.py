"""Documents that are to be published, read from files: TOML, or JSON where the file's name ends with `.json`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from abacus.core.document_text import read_json, read_toml
from abacus.core.fields import DocumentFaults, Fault

Value = TypeVar("Value")
Parse = Callable[[Mapping[str, object]], Value]  # raises `DocumentFaults`

_JSON: Final = ".json"


class FileFault(NamedTuple):
    """A fault and the file that has it."""

    file: Path
    fault: Fault


def read_files(files: Sequence[Path], parse: Parse[Value]) -> tuple[list[tuple[str, Value]], list[FileFault]]:
    """The values of the files without faults, each with its file's name, and the faults of the others."""
    values: list[tuple[str, Value]] = []
    faults: list[FileFault] = []
    for file in files:
        try:
            values.append((str(file), parse(document_in(file))))
        except DocumentFaults as error:
            faults += [FileFault(file, fault) for fault in error.faults]
    return values, faults


def refuse(faults: Sequence[FileFault]) -> None:
    """Raises `DocumentFaults` if there is any."""
    if (error := error_of(faults)) is not None:
        raise error


def error_of(faults: Sequence[FileFault]) -> DocumentFaults | None:
    if not faults:
        return None
    return DocumentFaults(Fault(f"{file}: {fault.path}", fault.message) for file, fault in faults)


def fault_documents(faults: Sequence[FileFault]) -> list[dict[str, str]]:
    """The faults for `--json`."""
    return [{"file": str(file), **fault._asdict()} for file, fault in faults]


def document_in(file: Path) -> Mapping[str, object]:
    """The document of a file. Raises `DocumentFaults`."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentFaults([Fault("document", f"not UTF-8 at byte {error.start}")]) from None
    except OSError as error:
        raise DocumentFaults([Fault("document", error.strerror or str(error))]) from None
    if file.suffix.lower() != _JSON:
        return read_toml(text)
    document = read_json(text)
    if not isinstance(document, Mapping):
        raise DocumentFaults([Fault("document", "not a JSON object")])
    return document
