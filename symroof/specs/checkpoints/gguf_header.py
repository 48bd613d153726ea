"""The header of a GGUF file: metadata and tensor infos, never the tensors' data; and the types of tensors (``specs/checkpoints/ggml.yaml``).

Format: github.com/ggml-org/ggml, docs/gguf.md; versions 2 and 3, little-endian. Everything is bounded before it is read: bytes,
counts, lengths. What is not needed is skipped without being decoded.
"""

import os
import struct
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from symroof.errors import InputError, Problem
from symroof.resources import data_folder
from symroof.strict_yaml import load


class GgmlType(NamedTuple):
    """A type's name, weights in a block, bytes of a block, and the number format it is nearest to."""

    name: str
    block: int
    bytes: int
    format: str

    @property
    def bits(self) -> Fraction:
        """Bits of a weight, its share of the block's scales included."""
        return Fraction(8 * self.bytes, self.block)


TABLE: Any = load(data_folder("specs") / "checkpoints" / "ggml.yaml").data
TYPES = {number: GgmlType(name, *rest) for name, (number, *rest) in TABLE["types"].items()}
"""Types by their id."""
FILE_TYPES: dict[int, str] = {i: name for i, name in enumerate(TABLE["file_types"]) if name}
"""``general.file_type``: what most of a file's matrices are."""


MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_BYTES = 64 << 20
"""A header with a vocabulary of 256 thousand tokens and their merges has about 10 MB."""
CHUNK = 1 << 20
"""Bytes read at once."""
MOST_KEYS, MOST_TENSORS, MOST_STRINGS = 10_000, 100_000, 2_000_000
LONGEST_NAME, LONGEST_KEPT, LONGEST_LIST = 1024, 1024, 10_000
MOST_DIMENSIONS, MOST_ELEMENTS = 4, 10**13

SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
STRING, ARRAY = 8, 9

Value = int | float | bool | str | list[int] | list[float] | list[bool]


@dataclass(frozen=True)
class Tensor:
    """One tensor: its name, its extents (inputs of a matrix first), its type."""

    name: str
    shape: tuple[int, ...]
    type: GgmlType

    @property
    def elements(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def bytes(self) -> int:
        return self.elements // self.type.block * self.type.bytes


@dataclass(frozen=True)
class Header:
    """Metadata by key, the length of every array, and the tensors by name."""

    file: str
    metadata: dict[str, Value]
    lengths: dict[str, int]
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def problem(self, where: str, message: str, hint: str = "") -> InputError:
        """An error at a key or a tensor of this file."""
        return InputError(Problem(self.file, message, path=where, hint=hint))


def read_header(path: str | os.PathLike[str]) -> Header:
    """The header of a GGUF file.

    Raises:
        InputError: no such file, not GGUF, a version or byte order that is not read, a header that ends early or is out of bounds.
    """
    name = str(path)
    try:
        if Path(path).is_dir():
            raise InputError(Problem(name, "is a directory, not a file"))
        with open(path, "rb") as handle:
            return _HeaderReader(name, handle).header()
    except OSError as error:
        raise InputError(Problem(name, f"cannot be read: {error.strerror or error}")) from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(Problem(repr(name), "is not a file name")) from None


class _HeaderReader:
    """A cursor over the first bytes of a file; it reads on in chunks, up to the bound."""

    def __init__(self, name: str, handle: BinaryIO) -> None:
        self.name, self.handle = name, handle
        self.buffer, self.at, self.strings = bytearray(), 0, 0
        self.where = "header"

    def stop(self, message: str, hint: str = "") -> InputError:
        return InputError(Problem(self.name, message, path=self.where, hint=hint))

    # ------------------------------------------------------------------------------------------------- bytes and numbers

    def need(self, count: int) -> None:
        """Have so many more bytes in the buffer."""
        end = self.at + count
        if end > MOST_BYTES:
            raise self.stop(f"goes beyond the {MOST_BYTES >> 20} MiB that a header may have")
        while len(self.buffer) < end:
            more = self.handle.read(max(CHUNK, end - len(self.buffer)))
            if not more:
                raise self.stop("the file ends here", "it may be an incomplete download")
            self.buffer += more

    def skip(self, count: int) -> None:
        self.need(count)
        self.at += count

    def number(self, code: str) -> int:
        return self.numbers(1, code)[0]

    def numbers(self, count: int, code: str) -> tuple[int, ...]:
        """So many numbers at once: an array may have thousands."""
        size = struct.calcsize(f"<{count}{code}")
        self.need(size)
        values = struct.unpack_from(f"<{count}{code}", self.buffer, self.at)
        self.at += size
        return values

    def text(self, longest: int) -> str | None:
        """A string; None where it is longer than anybody needs."""
        length = self.number("Q")
        if length > longest:
            self.skip(length)
            return None
        self.need(length)
        raw = bytes(self.buffer[self.at : self.at + length])
        self.at += length
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise self.stop("is not UTF-8 text") from None

    def name_of(self, what: str) -> str:
        name = self.text(LONGEST_NAME)
        if not name:
            raise self.stop(f"the name of a {what} is empty or longer than {LONGEST_NAME:,} bytes")
        return name

    # -------------------------------------------------------------------------------------------------------- the header

    def header(self) -> Header:
        self.where = "magic"
        self.skip(len(MAGIC))
        if self.buffer[: len(MAGIC)] != MAGIC:
            raise self.stop("is not a GGUF file: it does not begin with GGUF")
        self.where = "version"
        self.version(self.number("I"))
        self.where = "tensor_count"
        tensors = self.count(MOST_TENSORS)
        self.where = "metadata_kv_count"
        keys = self.count(MOST_KEYS)
        header = Header(self.name, {}, {})
        for i in range(keys):
            self.where = f"metadata[{i}]"
            self.pair(header)
        for i in range(tensors):
            self.where = f"tensors[{i}]"
            self.tensor(header)
        return header

    def version(self, version: int) -> None:
        if version in VERSIONS:
            return
        if version == 1:
            raise self.stop("is version 1, which is not read", "a current llama.cpp converts it")
        if int.from_bytes(version.to_bytes(4, "little"), "big") in (1, *VERSIONS):
            raise self.stop("is big-endian, which is not read")
        raise self.stop(f"is {version}; {' and '.join(map(str, VERSIONS))} are read")

    def count(self, most: int) -> int:
        number = self.number("Q")
        if number > most:
            raise self.stop(f"is {number:,}; at most {most:,} are read")
        return number

    def pair(self, header: Header) -> None:
        key = self.name_of("key")
        if key in header.metadata or key in header.lengths:
            raise self.stop(f"duplicate key {key[:80]!r}")
        self.where = key[:80]
        kind = self.number("I")
        if kind == ARRAY:
            header.lengths[key], values = self.array()
            if values is not None:
                header.metadata[key] = values
        elif kind == STRING:
            text = self.text(LONGEST_KEPT)
            header.metadata[key] = "" if text is None else text
        else:
            header.metadata[key] = self.number(self.code(kind))

    def code(self, kind: int) -> str:
        if kind not in SCALARS:
            raise self.stop(f"has a value of type {kind}, which does not exist")
        return SCALARS[kind]

    def array(self) -> tuple[int, list[int] | None]:
        """The length of an array, and its numbers where there are few enough to be one a layer."""
        kind, length = self.number("I"), self.number("Q")
        if kind == ARRAY:
            raise self.stop("is an array of arrays, which is not read")
        if kind == STRING:
            self.strings += length
            if self.strings > MOST_STRINGS:
                raise self.stop(f"has {length:,} texts; at most {MOST_STRINGS:,} are read")
            for _ in range(length):
                self.skip(self.number("Q"))
            return length, None
        code = self.code(kind)
        if length > LONGEST_LIST:
            self.skip(length * struct.calcsize(f"<{code}"))
            return length, None
        return length, list(self.numbers(length, code))

    def tensor(self, header: Header) -> None:
        name = self.name_of("tensor")
        self.where = name[:80]
        if name in header.tensors:
            raise self.stop("duplicate tensor")
        dimensions = self.number("I")
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            raise self.stop(f"has {dimensions:,} dimensions; 1 to {MOST_DIMENSIONS} are read")
        shape = tuple(self.number("Q") for _ in range(dimensions))
        kind = self.number("I")
        self.number("Q")  # where its data begin: not needed
        if kind not in TYPES:
            raise self.stop(f"has a type of number {kind}, which is not known")
        tensor = Tensor(name, shape, TYPES[kind])
        if not 0 < tensor.elements <= MOST_ELEMENTS:
            raise self.stop(f"has {tensor.elements:,} elements; 1 to {MOST_ELEMENTS:,} are read")
        if shape[0] % tensor.type.block:
            raise self.stop(
                f"has rows of {shape[0]:,} weights, no multiple of the {tensor.type.block} in a block of {tensor.type.name}"
            )
        header.tensors[name] = tensor
