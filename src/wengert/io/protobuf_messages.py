"""Messages in the wire format of protocol buffers; `examples` has those of `tf.train`.

They have the methods of protocol buffer messages that programs with records use. A part that was
never given counts as there as soon as something is in it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from wengert.core.errors import at_site, describe
from wengert.io import protobuf_wire

if TYPE_CHECKING:
    from wengert.io.examples import Feature


class Field(NamedTuple):
    """A field: its number, whether it is one message, a list, or a map of them, and of which."""

    number: int
    kind: str
    message: Any


class Message:
    """A message: fields by name, each made when it is first asked for."""

    _fields: ClassVar[dict[str, Field]] = {}
    _oneof: ClassVar[str | None] = None

    def __init__(self, **fields: Any) -> None:
        self._held: dict[str, Any] = {}
        self._given: set[str] = set()
        for name, value in fields.items():
            if name not in self._fields:
                raise at_site(ValueError(self._unknown(name)))
            if value is not None:
                self._put(name, value)

    def _unknown(self, name: str) -> str:
        known = ", ".join(self._fields)
        return f"{type(self).__name__}: there is no field {name!r}; its fields are {known}."

    def _put(self, name: str, value: Any) -> None:
        kind, message = self._fields[name].kind, self._fields[name].message
        if kind == "one":
            if isinstance(value, dict):
                value = message(**value)
            if not isinstance(value, message):
                words = f"`{name}` is a {message.__name__}; got {describe(value)}"
                raise at_site(TypeError(f"{type(self).__name__}: {words}."))
            if self._oneof is not None:
                self._given.clear()
                self._held.clear()
            self._given.add(name)
            self._held[name] = value._copied()
        else:
            self._fill(self._at(name), name, value)

    def _fill(self, held: _Map | _Values, name: str, value: Any) -> None:
        try:
            items = dict(value) if isinstance(held, dict) else list(value)
        except TypeError as error:
            many = "a dict" if isinstance(held, dict) else "a list"
            words = f"{type(self).__name__}: `{name}` takes {many}; got {describe(value)}."
            raise at_site(TypeError(words)) from error
        held.clear()
        held.update(items) if isinstance(held, dict) else held.extend(items)

    def _copied(self) -> Message:
        result = type(self)()
        result._given = set(self._given)
        for name, held in self._held.items():
            result._held[name] = held._copied()
        return result

    def _at(self, name: str) -> Any:
        if name not in self._held:
            field = self._fields[name]
            self._held[name] = _EMPTY[field.kind](field.message)
        return self._held[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._fields:
            raise AttributeError(self._unknown(name))
        return self._at(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            words = f"{type(self).__name__}: `{name}` cannot be assigned"
            raise at_site(AttributeError(f"{words}. Use CopyFrom, append or extend."))
        super().__setattr__(name, value)

    def _has(self, name: str) -> bool:
        held = self._held.get(name)
        if held is None:
            return False
        return name in self._given or (held._filled() if isinstance(held, Message) else bool(held))

    def _filled(self) -> bool:
        return any(map(self._has, self._fields))

    def HasField(self, field_name: str) -> bool:
        """Whether a part is there."""
        if self._fields.get(field_name, Field(0, "", None)).kind != "one":
            raise at_site(ValueError(f"{type(self).__name__}: {field_name!r} is no single part."))
        return self._has(field_name)

    def WhichOneof(self, oneof_group: str) -> str | None:
        """The name of the one part that is there."""
        if oneof_group != self._oneof:
            raise at_site(ValueError(f"{type(self).__name__}: there is no group {oneof_group!r}."))
        return next((name for name in self._fields if self._has(name)), None)

    def ClearField(self, field_name: str) -> None:
        """Takes a part away."""
        self._held.pop(field_name, None)
        self._given.discard(field_name)

    def Clear(self) -> None:
        """Takes everything away."""
        self._held.clear()
        self._given.clear()

    def CopyFrom(self, other_msg: Message) -> None:
        """Makes this message equal to another one."""
        self.ParseFromString(other_msg.SerializeToString())

    def MergeFrom(self, other_msg: Message) -> None:
        """Adds what another message holds."""
        self.MergeFromString(other_msg.SerializeToString())

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:
        """The message as bytes."""
        out = []
        for name, field in self._fields.items():
            if self._has(name):
                out.append(_WRITE[field.kind](field, self._held[name]))
        return b"".join(out)

    def ByteSize(self) -> int:
        """How many bytes the message takes."""
        return len(self.SerializeToString())

    def ParseFromString(self, serialized: bytes) -> int:
        """Reads the message from bytes; says how many there were."""
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized: bytes) -> int:
        """Adds what bytes say; says how many there were."""
        try:
            self._merge(bytes(serialized))
        except (protobuf_wire.DecodeError, UnicodeDecodeError) as error:
            words = f"{type(self).__name__}: the bytes are no such message ({error})"
            raise at_site(ValueError(f"{words}.")) from error
        return len(serialized)

    def _merge(self, data: bytes) -> None:
        names = {field.number: name for name, field in self._fields.items()}
        for number, kind, content in protobuf_wire.fields(data):
            name = names.get(number)
            if name is None or (
                kind != protobuf_wire.BYTES and self._fields[name].kind != "values"
            ):
                continue
            field = self._fields[name]
            if field.kind == "one" and self._oneof is not None and not self._has(name):
                self.Clear()
            if field.kind == "one":
                self._given.add(name)
            _READ[field.kind](field, self._at(name), kind, content)

    @classmethod
    def FromString(cls, s: bytes) -> Message:
        """The message that bytes say."""
        result = cls()
        result.ParseFromString(s)
        return result

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]  # messages change

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        for name, field in self._fields.items():
            if self._has(name):
                yield from _TEXT[field.kind](name, self._held[name])

    def __reduce__(self) -> Any:
        return type(self).FromString, (self.SerializeToString(),)


class _Values(list[Any]):
    """The numbers or byte strings of a list, each checked as it comes."""

    def __init__(self, of: type) -> None:
        super().__init__()
        self._of = of

    def _copied(self) -> _Values:
        result = _Values(self._of)
        list.extend(result, self)
        return result

    def append(self, value: int) -> None:
        super().append(self._of(value))

    def extend(self, values: Iterable[Any]) -> None:
        super().extend([self._of(value) for value in values])

    def insert(self, index: Any, value: Any) -> None:
        super().insert(index, self._of(value))

    def __setitem__(self, index: Any, value: Any) -> None:
        checked = [self._of(v) for v in value] if isinstance(index, slice) else self._of(value)
        super().__setitem__(index, checked)

    def __iadd__(self, values: Any) -> Any:
        self.extend(values)
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(list(self), self._of.numpy if dtype is None else dtype)


class _Messages(list[Any]):
    """A list of messages."""

    def __init__(self, of: type) -> None:
        super().__init__()
        self._of = of

    def _copied(self) -> Any:
        result = _Messages(self._of)
        result.extend(message._copied() for message in self)
        return result

    def add(self, **fields: Any) -> Feature:
        """Appends a new message, and returns it."""
        self.append(self._of(**fields))
        return self[-1]


class _Map(dict[str, Any]):
    """Messages by name; one that is asked for and not there is made."""

    def __init__(self, of: type) -> None:
        super().__init__()
        self._of = of

    def _copied(self) -> _Map:
        result = _Map(self._of)
        for key, message in self.items():
            dict.__setitem__(result, key, message._copied())
        return result

    def __missing__(self, key: str) -> Message:
        self[key] = self._of()
        return self[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str) or not isinstance(value, self._of):
            words = f"a map holds a {self._of.__name__} per name; got {describe(value)}"
            raise at_site(TypeError(f"{self._of.__name__}: {words} for {describe(key)}."))
        super().__setitem__(key, value)

    def update(self, *others: Any, **named: Any) -> None:
        for key, value in dict(*others, **named).items():
            self[key] = value

    def get_or_create(self, key: str) -> Any:
        """The message with a name."""
        return self[key]


def _write_map(field: Field, held: _Map) -> bytes:
    entries = [
        protobuf_wire.field(1, key.encode()) + protobuf_wire.field(2, value.SerializeToString())
        for key, value in held.items()
    ]
    return b"".join(protobuf_wire.field(field.number, entry) for entry in entries)


def _read_map(field: Field, held: _Map, kind: int, content: bytes) -> None:
    key, value = "", b""
    for number, part in protobuf_wire.parts(content):
        if number == 1:
            key = part.decode()
        elif number == 2:
            value = part
    result = field.message()
    result._merge(value)
    held[key] = result


def _read_list(field: Field, held: Any, kind: int, content: Any) -> None:
    result = field.message()
    result._merge(content)
    held.append(result)


def _inner(name: str, message: Message) -> Iterator[str]:
    yield f"{name} {{"
    yield from (f"  {line}" for line in message._lines())
    yield "}"


def _map_lines(name: str, held: _Map) -> Iterator[str]:
    for key in sorted(held):
        yield f"{name} {{"
        yield f"  key: {_quoted(key.encode())}"
        yield from (f"  {line}" for line in _inner("value", held[key]))
        yield "}"


_ESCAPES = {
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    ord("\t"): "\\t",
    ord('"'): '\\"',
    ord("'"): "\\'",
    ord("\\"): "\\\\",
}


def _quoted(data: bytes) -> str:
    inner = "".join(_ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in data)
    return f'"{inner}"'


def _shown(value: bytes | float) -> str:
    if isinstance(value, bytes):
        return _quoted(value)
    if isinstance(value, float):
        short = float(f"{value:.6g}")
        same = struct.pack("<f", short) == struct.pack("<f", value)
        return f"{value:.6g}" if same else f"{value:.9g}"
    return str(value)


_EMPTY: dict[str, Any] = {
    "one": lambda message: message(), "list": _Messages, "map": _Map, "values": _Values
}  # fmt: skip
_WRITE: dict[str, Any] = {
    "one": lambda f, held: protobuf_wire.field(f.number, held.SerializeToString()),
    "list": lambda f, held: b"".join(
        protobuf_wire.field(f.number, m.SerializeToString()) for m in held
    ),
    "map": _write_map,
    "values": lambda f, held: f.message.write(f.number, held),
}
_READ: dict[str, Any] = {
    "one": lambda f, held, kind, content: held._merge(content),
    "list": _read_list,
    "map": _read_map,
    "values": lambda f, held, kind, content: list.extend(held, f.message.read(kind, content)),
}
_TEXT: dict[str, Any] = {
    "one": _inner,
    "list": lambda name, held: (line for m in held for line in _inner(name, m)),
    "map": _map_lines,
    "values": lambda name, held: (f"{name}: {_shown(v)}" for v in held),
}
