"""Answers kept between runs: what was worked out once from the same definitions and the same files is told again, byte for byte.

An entry is JSON under a digest of the question, of everything symroof is made from (source, words, catalogue, by content) and of
what is installed beside it. It names every file that was looked at, and holds only while all of them are as they were. An entry
that is torn, foreign or changed is no entry. Only the command line keeps answers; from Python everything is worked out.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from symroof.shipped import roots
from symroof.witness import unchanged, watching

FORM = "symroof/answer/1"
LARGEST_ENTRY, LARGEST_ROOM = 16_000_000, 128_000_000
"""Bytes of one entry, and of all of them; the oldest go first."""
ENDING = ".json"
ENVIRONMENT = ("SOURCE_DATE_EPOCH",)
"""Variables that an answer may depend on."""


@dataclass(frozen=True)
class Answer:
    """What a command has to say: text for standard output, files by plain name, an exit code."""

    text: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    code: int = 0


def kept(question: Mapping[str, Any], work_out: Callable[[], Answer], sound: Callable[[Answer], bool] = lambda answer: not answer.files) -> Answer:
    """The answer to a question: as it was kept, or worked out now and kept.

    ``question`` is plain data that says everything the answer depends on, but for the definitions and the files it is read
    from, which are seen to here. ``sound`` tells an answer that may be told, by the names of its files. What raises an error
    is not kept.
    """
    room = folder()
    if room is None:
        return work_out()
    try:
        made_from = definitions()
        place = os.path.join(room, f"{_key(question, made_from)}{ENDING}")
    except OSError:  # no working directory, a file of ours that cannot be read: nothing to compare with
        return work_out()
    found = _load(place)
    if found is not None and sound(found):
        return found
    with watching() as witness:
        answer = work_out()
    if witness.holds() and definitions() == made_from:
        _store(place, answer, witness.seen)
    return answer


def folder() -> str | None:
    """Where answers are kept: ``SYMROOF_CACHE``, or ``symroof`` in the user's cache folder; None where it is off or there is none."""
    said = os.environ.get("SYMROOF_CACHE")
    if said is not None:
        return None if said.strip().lower() in ("off", "") else said
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "symroof") if os.path.isabs(base) else None


def definitions() -> str:
    """A digest of everything an answer is made from: symroof's own files by path and content, Python, and the packages that are installed."""
    digest = hashlib.sha256(f"{FORM}\n{sys.version}\n{sys.path}\n".encode("utf-8", "surrogateescape"))
    for root in roots():
        for path in _files(root):
            with open(path, "rb", buffering=0) as handle:
                content = handle.read()
            digest.update(f"{path}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
            digest.update(content)
    for name in _installed():
        digest.update(f"{name}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _files(root: str) -> Iterator[str]:
    """Every file below a folder in a fixed order, but for what Python compiles beside its source."""
    for entry in sorted(os.scandir(root), key=lambda entry: entry.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        elif entry.is_file():
            yield entry.path


def _installed() -> Iterator[str]:
    """Names and versions of the packages in reach, from the names of their records."""
    for place in sys.path:
        with contextlib.suppress(OSError):
            yield from sorted(name for name in os.listdir(place or ".") if name.endswith((".dist-info", ".egg-info")))


def _key(question: Mapping[str, Any], made_from: str) -> str:
    around = {"definitions": made_from, "folder": os.getcwd(), "environment": {name: os.environ.get(name) for name in ENVIRONMENT}}
    return hashlib.sha256(json.dumps([question, around], sort_keys=True).encode()).hexdigest()


def _load(place: str) -> Answer | None:
    """The answer of an entry, where it is whole, ours, and every file it rests on is as it was."""
    try:
        raw = _read_own(place)
        mark, _, body = raw.partition(b"\n")
        if mark.decode() != _mark(place, body):
            return None
        entry = json.loads(body)
        if entry["form"] != FORM or not unchanged(entry["seen"]):
            return None
        files = {name: _bytes(content) for name, content in entry["files"].items() if _plain(name)}
        answer = Answer(str(entry["text"]), files, int(entry["code"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    with contextlib.suppress(OSError):
        os.utime(place)  # what is asked for stays
    return answer if len(files) == len(entry["files"]) else None


def _read_own(place: str) -> bytes:
    """The bytes of a plain file of this user, within bounds.

    Raises:
        OSError: there is none.
        ValueError: somebody else's, no plain file, or too large.
    """
    handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(handle, "rb") as stream:
        found = os.fstat(handle)
        owned = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        if not (stat.S_ISREG(found.st_mode) and owned and found.st_size <= LARGEST_ENTRY):
            raise ValueError(f"{place} is no entry")
        return stream.read(LARGEST_ENTRY)


def _store(place: str, answer: Answer, seen: Mapping[str, str]) -> None:
    """Keep an answer whole or not at all; where nothing can be written nothing is kept, and nobody is told."""
    entry = {"form": FORM, "seen": seen, "text": answer.text, "files": {name: _text(content) for name, content in answer.files.items()}, "code": answer.code}
    body = json.dumps(entry).encode()
    raw = _mark(place, body).encode() + b"\n" + body
    if len(raw) > LARGEST_ENTRY:
        return
    import tempfile

    room = os.path.dirname(place)
    with contextlib.suppress(OSError):
        os.makedirs(room, mode=0o700, exist_ok=True)
        _make_room(room, LARGEST_ROOM - len(raw))
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=ENDING, dir=room)
        try:
            with open(handle, "wb") as stream:
                stream.write(raw)
            os.replace(temporary, place)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def _make_room(room: str, bound: int) -> None:
    """Delete the oldest entries until the rest takes no more than so many bytes."""
    entries = [entry for entry in os.scandir(room) if entry.name.endswith(ENDING) and entry.is_file(follow_symlinks=False)]
    aged = sorted((entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in entries)
    taken = sum(size for _, size, _ in aged)
    for _, size, path in aged:
        if taken <= bound:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        taken -= size


def _mark(place: str, body: bytes) -> str:
    """What tells a whole entry from a torn one, and from one of another question."""
    return hashlib.sha256(os.path.basename(place).encode() + body).hexdigest()


def _plain(name: str) -> bool:
    """Whether a name stays in the folder it is written to."""
    return bool(name) and not name.startswith(".") and all(c.isascii() and (c.isalnum() or c in "._-") for c in name)


def _text(content: bytes) -> str | dict[str, str]:
    """Bytes as JSON takes them: as text where they are text."""
    import base64

    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _bytes(content: str | dict[str, str]) -> bytes:
    import base64

    return content.encode() if isinstance(content, str) else base64.b64decode(content["base64"], validate=True)
