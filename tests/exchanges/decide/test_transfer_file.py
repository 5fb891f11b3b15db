"""Files: the same orders make the same bytes, and nothing is believed of a file with one fault."""

from datetime import UTC, date, datetime
from uuid import UUID

import pytest

from abacus.exchanges.decide.heard import Cancelled, Credited, NotTakenBack, Rejected, TakenBack
from abacus.exchanges.decide.transfer_file import (
    FileFault,
    FileName,
    Line,
    Orders,
    Receipt,
    Result,
    digest,
    digest_text,
    file_text,
    read_file,
    read_name,
    read_receipt,
    read_results,
    read_statement,
)
from abacus.exchanges.types import Account, StatementState, Transfer

NAME = FileName("skyline", date(2026, 11, 28), 3)
AT = datetime(2026, 11, 28, 9, 0, tzinfo=UTC)
SHA256 = digest(b"a file")
LONG, HUGE = "x" * 101, 2**63
IDS = [UUID(int=n) for n in range(1, 6)]
ORDERS = Orders(
    [
        Transfer(IDS[1], Account("SK-2", 'O"Hara, Ann'), 400, 1000, "skymiles@3", AT),
        Transfer(IDS[0], Account("SK-1"), 1000, 2500, "skymiles@3", AT),
    ],
    cancels=[IDS[2]],
    reversals=[IDS[3]],
)
TEXT = (
    "HEADER,1,skyline,20261128,0003,2026-11-28T09:00:00Z\r\n"
    f"TRANSFER,{IDS[0]},SK-1,,1000,2500,skymiles@3\r\n"
    f'TRANSFER,{IDS[1]},SK-2,"O""Hara, Ann",400,1000,skymiles@3\r\n'
    f"CANCEL,{IDS[2]}\r\n"
    f"REVERSE,{IDS[3]}\r\n"
    "TRAILER,4,1400\r\n"
).encode()
ASKED = {IDS[0]: Line.TRANSFER, IDS[1]: Line.TRANSFER, IDS[2]: Line.CANCEL, IDS[3]: Line.REVERSE}
HEADER = "HEADER,1,skyline,20261128,0003,2026-11-28T20:00:00Z\n"


def test_orders_as_a_file() -> None:
    assert file_text(NAME, AT, ORDERS) == TEXT
    assert file_text(NAME, AT, ORDERS._replace(transfers=ORDERS.transfers[::-1])) == TEXT
    assert file_text(NAME, AT, Orders()) == b"HEADER,1,skyline,20261128,0003,2026-11-28T09:00:00Z\r\nTRAILER,0,0\r\n"


def test_names() -> None:
    assert (str(NAME), NAME.digest_file) == ("skyline_20261128_0003.csv", "skyline_20261128_0003.csv.sha256")
    assert (NAME.receipt, NAME.results) == ("skyline_20261128_0003.receipt.csv", "skyline_20261128_0003.results.csv")
    assert read_name(str(NAME)) == NAME
    assert digest_text(NAME, b"") == f"{digest(b'')}  skyline_20261128_0003.csv\n".encode()


@pytest.mark.parametrize("text", ["skyline.csv", "skyline_20261340_0001.csv", "skyline_20261128_1.csv", "../x", ""])
def test_no_name(text: str) -> None:
    with pytest.raises(FileFault):
        read_name(text)


def test_receipts() -> None:
    assert read_receipt(NAME, f"RECEIPT,{NAME},{SHA256.upper()},accepted".encode()) == Receipt(
        SHA256, accepted=True, reason=None
    )
    assert read_receipt(NAME, f"RECEIPT,{NAME},{SHA256},refused,wrong\0sum{'!' * 1000}\n".encode()) == Receipt(
        SHA256, accepted=False, reason=f"wrong sum{'!' * 191}"
    )


@pytest.mark.parametrize(
    "text",
    [
        b"",
        f"RECEIPT,other.csv,{SHA256},accepted".encode(),
        f"RECEIPT,{NAME},{SHA256},maybe".encode(),
        f"RECEIPT,{NAME},abc,accepted".encode(),
        f"RECEIPT,{NAME},{SHA256[:-1]}\0,accepted".encode(),
        b"\xff",
        b"a\nb",
    ],
)
def test_no_receipt(text: bytes) -> None:
    with pytest.raises(FileFault):
        read_receipt(NAME, text)


def _results(*lines: str, trailer: str | None = None, credited: int = 0) -> bytes:
    end = f"TRAILER,{len(lines)},{credited}" if trailer is None else trailer
    return (HEADER + "".join(f"RESULT,{line}\n" for line in lines) + end).encode()


def test_results() -> None:
    text = _results(
        f"{IDS[0]},credited,1000,M-1",
        f"{IDS[1]},credited,400,,SK-9",
        f"{IDS[2]},cancelled",
        f"{IDS[3]},reversed",
        credited=1400,
    )
    assert read_results(NAME, text, ASKED) == {
        IDS[0]: Result(Credited(1000, "M-1")),
        IDS[1]: Result(Credited(400), merged_into="SK-9"),
        IDS[2]: Result(Cancelled()),
        IDS[3]: Result(TakenBack()),
    }
    text = _results(f"{IDS[0]},rejected,account-closed,closed in May", f"{IDS[3]},not-reversed,spent")
    assert read_results(NAME, text, ASKED) == {
        IDS[0]: Result(Rejected("account-closed", "closed in May")),
        IDS[3]: Result(NotTakenBack("spent")),
    }
    text = _results(f"{IDS[0]},credited,{HUGE - 2},{LONG[1:]}", f"{IDS[1]},credited,1,", credited=HUGE - 1)
    assert read_results(NAME, text, ASKED) == {
        IDS[0]: Result(Credited(HUGE - 2, LONG[1:])),
        IDS[1]: Result(Credited(1)),
    }


def test_words_for_people_are_one_short_line() -> None:
    why = f"why\0\x1b[2J{'!' * 1000}"
    text = _results(f"{IDS[0]},rejected,account-closed,{why}", f"{IDS[3]},not-reversed,\0")
    said = f"why [2J{'!' * 192}"
    assert read_results(NAME, text, ASKED) == {
        IDS[0]: Result(Rejected("account-closed", said)),
        IDS[3]: Result(NotTakenBack(None)),
    }


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (_results(f"{IDS[0]},credited,1000,M-1", credited=999), "the trailer says 1 lines and 999"),
        (_results(f"{IDS[0]},cancelled", trailer="TRAILER,2,0"), "the trailer says 2 lines"),
        (_results(f"{IDS[0]},cancelled", trailer=""), "cut off"),
        (_results(f"{IDS[4]},cancelled"), "does not stand in skyline_20261128_0003.csv"),
        (_results(f"{IDS[0]},cancelled", f"{IDS[0]},cancelled"), "line 3: .* stands twice"),
        (_results(f"{IDS[0]},credited,-5,x"), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},credited"), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},lost"), "line 2: RESULT,ID"),
        (_results("5,cancelled"), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},credited,0,x"), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},credited,{HUGE},x", credited=HUGE), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},credited,{'9' * 5000},x"), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},credited,{HUGE - 1},", f"{IDS[1]},credited,1,", credited=HUGE), f"sum up to {HUGE}"),
        (_results(f"{IDS[0]},credited,1,M\0", credited=1), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},credited,1,{LONG}", credited=1), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},credited,1,M,{LONG}", credited=1), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},rejected,{LONG}"), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},rejected,closed\0"), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},rejected,"), "line 2: RESULT,ID"),
        (_results(f"{IDS[0]},cancelled", trailer="TRAILER,\0,0"), "the trailer says  lines and 0; there are 1"),
        (HEADER.replace("0003", "0004").encode() + b"TRAILER,0,0", "the header is not"),
        (b"", "the header is not"),
        (b'HEADER,"1', "not CSV"),
    ],
)
def test_results_that_are_not_believed(text: bytes, fault: str) -> None:
    with pytest.raises(FileFault, match=fault):
        read_results(NAME, text, ASKED)


def test_statements() -> None:
    text = (
        "HEADER,1,skyline,20261128,2026-11-29T01:00:00Z\n"
        f"ENTRY,{IDS[0]},credited,1000,2026-11-28T10:00:00Z,M-1\nENTRY,{IDS[1]},rejected,0,2026-11-28T10:00:00Z\n"
        "TRAILER,2,1000\n"
    )
    read = read_statement("skyline", NAME.day, text.encode())
    assert [(each.id, each.state, each.amount, each.reference) for each in read.lines] == [
        (str(IDS[0]), StatementState.CREDITED, 1000, "M-1"),
        (str(IDS[1]), StatementState.REJECTED, 0, None),
    ]
    for wrong in ("2,1000", "1,1000"), ("credited,1000", "credited,1001"), ("10:00:00Z", "10:00:00"), ("ENTRY", "LINE"):
        with pytest.raises(FileFault):
            read_statement("skyline", NAME.day, text.replace(*wrong).encode())


def test_the_lines_of_a_statement_are_no_more_than_a_row_holds() -> None:
    at = "2026-11-28T10:00:00Z"
    lines = f"ENTRY,A,credited,{HUGE - 1},{at}\nENTRY,B,rejected,{HUGE - 1},{at}\n"
    text = f"HEADER,1,skyline,20261128,x\n{lines}"
    assert len(read_statement("skyline", NAME.day, f"{text}TRAILER,2,{HUGE - 1}\n".encode()).lines) == 2
    more = f"{text}ENTRY,C,credited,1,{at}\nTRAILER,3,{HUGE}\n"
    with pytest.raises(FileFault, match=f"statement.csv: the lines sum up to {HUGE}, which is more than {HUGE - 1}"):
        read_statement("skyline", NAME.day, more.encode())


@pytest.mark.parametrize(
    "entry",
    [
        "T\0,rejected,0,2026-11-28T10:00:00Z",
        f"{LONG},rejected,0,2026-11-28T10:00:00Z",
        ",rejected,0,2026-11-28T10:00:00Z",
        "T,rejected,-1,2026-11-28T10:00:00Z",
        f"T,rejected,{HUGE},2026-11-28T10:00:00Z",
        "T,rejected,\u0661,2026-11-28T10:00:00Z",
        "T,rejected,0,0001-01-01T00:00:00+14:00",
        "T,rejected,0,9999-12-31T23:59:59-14:00",
        "T,rejected,0,2026-11-28T10:00:00Z,M\0",
        f"T,rejected,0,2026-11-28T10:00:00Z,{LONG}",
    ],
)
def test_entries_that_are_not_believed(entry: str) -> None:
    text = f"HEADER,1,skyline,20261128,x\nENTRY,{entry}\nTRAILER,1,0\n"
    with pytest.raises(FileFault, match="line 2: ENTRY,ID"):
        read_statement("skyline", NAME.day, text.encode())


def test_an_order_of_more_than_any_account_holds_is_not_read() -> None:
    line = f"TRANSFER,{IDS[0]},SK-1,,{HUGE},1,skymiles@3"
    with pytest.raises(FileFault, match="line 2: TRANSFER,ID"):
        read_file(NAME, f"{HEADER}{line}\nTRAILER,1,{HUGE}".encode())
