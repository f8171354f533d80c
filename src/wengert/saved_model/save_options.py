"""Options of saving and loading, as TensorFlow names them, and names that go with them."""

from __future__ import annotations

import enum
from typing import Any

from wengert.checkpoint.trackable import Trackable
from wengert.core.errors import UnimplementedError, at_site


class VariablePolicy(enum.Enum):
    """Whether devices and copies of variables are written; here a variable has one of each."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"


class SaveOptions:
    """Options of `save`. They are about TensorFlow's own format, and accepted."""

    def __init__(
        self,
        namespace_whitelist: Any = None,
        save_debug_info: bool = False,
        function_aliases: dict[str, Any] | None = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: str | None = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None,
        extra_tags: Any = None,
    ) -> None:
        self.namespace_whitelist = list(namespace_whitelist or [])
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = VariablePolicy(experimental_variable_policy)
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


class LoadOptions:
    """Options of `load`. They are about TensorFlow's own format, and accepted."""

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ) -> None:
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = VariablePolicy(experimental_variable_policy)
        self.experimental_load_function_aliases = experimental_load_function_aliases


class Asset(Trackable):
    """A file that goes with a model; exported functions read no files."""

    def __init__(self, path: Any) -> None:
        raise at_site(
            UnimplementedError(
                None,
                None,
                "Asset: exported functions read no files. Pass what the file holds as an "
                "argument, or keep it in a variable.",
            )
        )


class TrackableResource(Trackable):
    """The base of lookup tables and their kin, by which Keras looks for them."""
