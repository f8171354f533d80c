"""`tf.DeviceSpec`: the parts of the name of a device, such as `/job:worker/device:GPU:1`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from dataclasses import replace as _replace
from typing import Any

from wengert.core.errors import at_site, shown

_PART = re.compile(
    r"/(?:(job):([^/:]+)|(replica|task):(\d+)|(?:device:)?(\w+):(\d+|\*))", re.IGNORECASE
)


@dataclass(frozen=True)
class DeviceSpec:
    """The parts of the name of a device; those that are `None` are left open.

    >>> tf.DeviceSpec.from_string("/job:worker/device:GPU:1").device_index
    1
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    def __post_init__(self) -> None:
        if self.device_type is not None:
            object.__setattr__(self, "device_type", self.device_type.upper())

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """The parts of a name.

        Args:
            spec: the name.

        Raises:
            ValueError: the name has another form.
        """
        parts: dict[str, Any] = {}
        rest = spec
        while rest:
            match = _PART.match(rest)
            if match is None:
                text = (
                    f"DeviceSpec: {shown(spec)} is not the name of a device. Write '/device:GPU:0'."
                )
                raise at_site(ValueError(text))
            job, name, number, count, kind, index = match.groups()
            if job:
                parts["job"] = name
            elif number:
                parts[number.lower()] = int(count)
            else:
                parts["device_type"] = kind
                parts["device_index"] = None if index == "*" else int(index)
            rest = rest[match.end() :]
        return cls(**parts)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """`from_string`."""
        return type(self).from_string(spec)

    def to_string(self) -> str:
        """The name."""
        parts = [("job", self.job), ("replica", self.replica), ("task", self.task)]
        text = "".join(f"/{name}:{value}" for name, value in parts if value is not None)
        if self.device_type is None:
            return text
        index = "*" if self.device_index is None else self.device_index
        return f"{text}/device:{self.device_type}:{index}"

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """The parts of `dev`, and where these are open those of this one."""
        return _replace(self, **{n: v for n, v in vars(dev).items() if v is not None})

    def replace(self, **parts: str | int | None) -> DeviceSpec:
        """The same with other parts."""
        return _replace(self, **parts)  # type: ignore[arg-type]  # its own fields
