"""Tables on disk: CSV, TSV, Parquet, Arrow and Feather, compressed or not, as a whole or in blocks."""

import difflib
import gzip
import io
import os
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from ..files.whole_files import open_whole
from .frames import TableInMemory
from .streams import Replayed, batches_of

# Rows and bytes that are worked on together.
_BLOCK_ROWS = 65_536
_BLOCK_BYTES = 8 * 1024 * 1024
_MAX_LINE = 4 * 1024 * 1024
_SUFFIXES = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".arrow", ".feather")
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]
# With a decimal comma, or integers in groups of three digits.
COMMA_NUMBER = (
    r"^\s*[-+]?(\d+|[1-9]\d{0,2}([. \x{a0}]\d{3})+)?,\d*([eE][-+]?\d+)?\s*$|^\s*[-+]?[1-9]\d{0,2}(\.\d{3})+\s*$"
)


def read_table(
    path: str,
    decimal: str = ".",
    verbatim: Sequence[str] = (),
    advance: Callable[[int], None] = lambda n_rows: None,
) -> pa.Table:
    """A whole table; columns of text files are text."""
    blocks = []
    for block in read_blocks(path, decimal, verbatim):
        blocks.append(block)
        advance(block.num_rows)
    if not blocks or not sum(block.num_rows for block in blocks):
        raise ValueError(f"{path} has no rows.")
    return pa.concat_tables(blocks, promote_options="default")


def read_blocks(path: str, decimal: str = ".", verbatim: Sequence[str] = ()) -> Iterator[pa.Table]:
    """The rows of a table in blocks, in order; columns of text files are text.

    Numbers of text files have a decimal point, but for columns that are taken verbatim, such as labels and ids. A table
    in memory may stand in the place of the path.
    """
    if isinstance(path, TableInMemory):
        yield _checked(path.table, path)
        return
    try:
        with _open(path) as stream:
            for block in _read(stream, path):
                yield block if decimal == "." else _with_points(block, verbatim)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if "UTF8" in str(error):
            raise ValueError(
                f"{path} is no table of UTF-8 text: if it is a table, save it with that encoding."
            ) from None
        raise ValueError(f"{path} cannot be read: {_one_line(error)}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged or cut off: {_one_line(error)}") from None


def estimate_rows(path: str) -> int | None:
    """About how many rows a table has, from its metadata or from its first lines; None where that cannot be told."""
    if path == "-" or not Path(path).is_file():
        return None
    with open(path, "rb") as stream:
        head = stream.read(1_000_000)
    if head[:4] == b"PAR1":
        try:
            return int(pa.parquet.read_metadata(path).num_rows)
        except pa.ArrowInvalid:
            return None
    if head[:2] == b"\x1f\x8b" or head[:6] == b"ARROW1" or not (lines := head.count(b"\n")):
        return None
    return round(os.path.getsize(path) * lines / len(head))


@contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed: name a file, or send the table through a pipe.")
        yield sys.stdin.buffer
        return
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder, not a table.")
    with open(path, "rb") as stream:
        yield stream


def _first_line(stream: Any) -> bytes:
    """At least the first line, unless that is endless."""
    head = b""
    while b"\n" not in head and len(head) < _MAX_LINE and (piece := stream.read1(65_536)):
        head += piece
    return head


def _read(stream: Any, path: str) -> Iterator[pa.Table]:
    head = _first_line(stream)
    if stream.seekable():
        stream.seek(0)
    else:
        stream = io.BufferedReader(Replayed(head, stream))
    if head[:2] == b"\x1f\x8b":
        # Decompressed bytes are never read twice: to go back in them is to decompress them again, if it works at all.
        yield from _read(io.BufferedReader(Replayed(b"", gzip.GzipFile(fileobj=stream))), path)
    elif not head:
        raise ValueError(f"{path} is empty.")
    elif head[:4] == b"PAR1":
        for batch in batches_of(_seekable(stream), lambda lent: pa.parquet.ParquetFile(lent).iter_batches(_BLOCK_ROWS)):
            yield _checked(pa.Table.from_batches([batch]), path)
    elif head[:6] == b"ARROW1" or head[:4] == b"FEA1":
        for table in batches_of(_seekable(stream), lambda lent: iter([pa.feather.read_table(lent)])):
            for start in range(0, table.num_rows, _BLOCK_ROWS):
                yield _checked(table.slice(start, _BLOCK_ROWS), path)
    else:
        yield from _read_text(stream, head, path)


def _seekable(stream: Any) -> Any:
    return stream if stream.seekable() else io.BytesIO(stream.read())


def _read_text(stream: Any, head: bytes, path: str) -> Iterator[pa.Table]:
    """Blocks of lines; every cell is text or missing, so that no block can disagree with another on types."""
    names, delimiter = _header(head, path)
    options = {
        "read_options": pa.csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
        "parse_options": pa.csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
        ),
        "convert_options": pa.csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=_MISSING,
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    }
    for batch in batches_of(stream, lambda lent: iter(pa.csv.open_csv(lent, **options))):
        if batch.num_rows:
            yield _checked(pa.Table.from_batches([batch]), path)


def _header(head: bytes, path: str) -> tuple[list[str], str]:
    if head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise ValueError(
            f"{path} is an archive or a spreadsheet, not a table of text: unpack it, or save the sheet as CSV."
        )
    line = head.partition(b"\n")[0].rstrip(b"\r")
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text: save it with that encoding.") from None
    unquoted = re.sub(r'"[^"]*"', "", text)
    delimiter = max("\t;|,", key=unquoted.count)
    if "\x00" in text:
        raise ValueError(f"{path} is neither text nor a known format.")
    table = pa.csv.read_csv(
        pa.BufferReader(text.encode() + b"\n"),
        parse_options=pa.csv.ParseOptions(delimiter=delimiter),
    )
    return table.column_names, delimiter


def _checked(table: pa.Table, path: str) -> pa.Table:
    repeated = [name for name, count in Counter(table.column_names).items() if count > 1]
    if repeated:
        raise ValueError(f"{path} has more than one column called {repeated[0]!r}: rename them.")
    return _with_plain_text(table)


def _with_plain_text(table: pa.Table) -> pa.Table:
    """Columns of other kinds of text as text, and those that are coded by a dictionary decoded."""
    for i, kind in enumerate(table.schema):
        column = table.column(i)
        is_view = "string_view" in str(column.type)
        if pa.types.is_dictionary(column.type) and not is_view:
            column = column.cast(column.type.value_type)
        if pa.types.is_large_string(column.type):
            column = column.cast(pa.string())
        elif is_view:
            # pyarrow cannot cast it, in older versions or where it is in a dictionary.
            column = pa.array(column.to_pylist(), pa.string())
        if column.type != kind.type:
            table = table.set_column(i, kind.name, column)
    return table


def _with_points(table: pa.Table, verbatim: Sequence[str]) -> pa.Table:
    """Numbers in text with a decimal point instead of a comma; thousands may be set apart by points or blanks."""
    for i, kind in enumerate(table.schema):
        if pa.types.is_string(kind.type) and kind.name not in verbatim:
            plain = pa.compute.replace_substring_regex(table.column(i), r"[. \x{a0}]", "")
            pointed = pa.compute.replace_substring(plain, ",", ".")
            is_number = pa.compute.match_substring_regex(table.column(i), COMMA_NUMBER)
            table = table.set_column(i, kind.name, pa.compute.if_else(is_number, pointed, table.column(i)))
    return table


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def check_suffix(path: str) -> list[str]:
    """The last two suffixes of a file to be written, or ValueError if it is of no known kind."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes[-2:]]
    if suffixes and suffixes[-1] not in _SUFFIXES:
        raise ValueError(f"{path} has no known suffix: take one of {', '.join(_SUFFIXES)}.")
    return suffixes


@contextmanager
def table_writer(path: str) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that adds blocks of rows to a file, in the format of its suffix; "-" is CSV to standard output.

    The file is there when all is written, or not at all.
    """
    suffixes = check_suffix(path)
    with ExitStack() as stack:
        sink = stack.enter_context(_sink(path))
        writer: Any = None

        def write(table: pa.Table) -> None:
            nonlocal writer
            if writer is None:
                writer = _open_writer(stack, sink, table.schema, suffixes)
            writer.write_table(table)

        yield write


def _open_writer(stack: ExitStack, sink: Any, schema: pa.Schema, suffixes: Sequence[str]) -> Any:
    if ".parquet" in suffixes:
        return stack.enter_context(pa.parquet.ParquetWriter(sink, schema))
    if ".arrow" in suffixes or ".feather" in suffixes:
        return stack.enter_context(pa.ipc.new_file(sink, schema))
    if ".gz" in suffixes:
        sink = stack.enter_context(pa.CompressedOutputStream(sink, "gzip"))
    options = pa.csv.WriteOptions(delimiter="\t" if ".tsv" in suffixes else ",", quoting_style="needed")
    return stack.enter_context(pa.csv.CSVWriter(sink, schema, write_options=options))


@contextmanager
def _sink(path: str) -> Iterator[Any]:
    """Where to write: a whole file, or standard output."""
    if path == "-":
        if sys.stdout is None:
            raise ValueError("standard output is closed: name a file with --out.")
        yield sys.stdout.buffer
        return
    with open_whole(path) as stream:
        yield stream


def numbers(column: pa.ChunkedArray) -> np.ndarray | None:
    """A column as numbers with NaN for missing cells; None if some cell is none."""
    if pa.types.is_duration(column.type) or pa.types.is_time(column.type):
        column = column.cast(pa.int64() if column.type.bit_width == 64 else pa.int32())
    if pa.types.is_string(column.type):
        column = pa.compute.utf8_trim_whitespace(column)
    try:
        cast = column.cast(pa.float64())
    # Text that is no number, or a type that is never one.
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return cast.to_numpy().astype(np.float64)


def are_integers(values: np.ndarray) -> bool:
    """Whether all numbers that are known are integers, and small enough to be told from their neighbours."""
    known = values[~np.isnan(values)]
    return bool(((np.abs(known) < 2**53) & (known == np.round(known))).all())


def column_of(table: pa.Table, name: str, path: str) -> pa.ChunkedArray:
    """A column, or ValueError with a hint at what may have been meant."""
    check_name(name, table.column_names, path)
    if pa.types.is_nested(table[name].type):
        raise ValueError(f"{path}: column {name!r} holds {table[name].type} values, which cannot be used.")
    return table[name]


def check_name(name: str, names: Sequence[str], path: str) -> None:
    """Refuse the name of a column that is not there, with a hint at what may have been meant."""
    if name in names:
        return
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    hint = (
        f"Did you mean {' or '.join(map(repr, close))}?" if close else f"There are: {', '.join(map(repr, names[:10]))}."
    )
    raise ValueError(f"{path} has no column {name!r}. {hint}")
