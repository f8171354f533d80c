"""Which operations the sweep measures: the public functions, each once, with a form of call."""

from __future__ import annotations

import sys
import warnings
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.sweep_data import SIZES
from benchmarks.sweep_forms import FORMS, PROBES, TEXT
from benchmarks.sweep_steps import Given, find, operation

NAMESPACES = (
    "",
    "math",
    "nn",
    "linalg",
    "image",
    "signal",
    "random",
    "bitwise",
    "math.special",
    "quantization",
    "strings",
    "io",
)
_PYTHON = "runs Python, or concerns graphs, types or the context"
_CHECK = "a check, without a result"
_SIZES = "computes with sizes alone"
_FILES = "reads or writes files or messages (benchmarks of datasets)"
_SAMPLING = "a loss with sampled classes: made of operations that have rows"
_COMPOSITE = "works on sparse or ragged tensors"
_SAME = "the same operation under another name, or made of operations that have rows"
# What is left out, by reason.
_LEFT_OUT = {
    _PYTHON: "as_dtype case cond constant control_dependencies convert_to_tensor custom_gradient "
    "executing_eagerly foldl foldr function get_current_name_scope get_logger get_static_value "
    "grad_pass_through gradients group hessians init_scope inside_function is_symbolic_tensor "
    "is_tensor map_fn no_gradient no_op numpy_function print py_function recompute_grad "
    "register_tensor_conversion_function scan switch_case timestamp tuple type_spec_from_value "
    "variable_creator_scope "
    "vectorized_map while_loop random.create_rng_state random.fold_in random.get_global_generator "
    "random.set_global_generator random.set_seed random.split signal.inverse_stft_window_fn",
    _CHECK: "Assert assert_equal assert_greater assert_less assert_rank math.approximate_equal",
    _SIZES: "broadcast_dynamic_shape broadcast_static_shape rank required_space_to_batch_paddings "
    "shape shape_n size",
    _FILES: "io.decode_compressed io.matching_files io.parse_example io.parse_sequence_example "
    "io.parse_single_example io.parse_single_sequence_example io.parse_tensor io.read_file "
    "io.serialize_tensor io.write_file image.decode_and_crop_jpeg image.decode_bmp "
    "image.decode_gif image.decode_image image.decode_webp image.extract_jpeg_shape image.is_jpeg "
    "image.random_jpeg_quality image.stateless_random_jpeg_quality",
    _SAMPLING: "nn.nce_loss nn.sampled_softmax_loss",
    _COMPOSITE: "edit_distance nn.collapse_repeated nn.ctc_beam_search_decoder "
    "nn.ctc_greedy_decoder nn.embedding_lookup_sparse nn.safe_embedding_lookup_sparse "
    "strings.unicode_decode_with_offsets strings.unicode_split_with_offsets "
    "strings.unsorted_segment_join",
    _SAME: "image.sample_distorted_bounding_box image.stateless_sample_distorted_bounding_box "
    "image.ssim_multiscale image.non_max_suppression_overlaps signal.inverse_mdct",
}
LEFT_OUT = {name: why for why, names in _LEFT_OUT.items() for name in names.split()}
# Their results are random, so they are not compared.
_RANDOM = ("random.", "image.random", "image.stateless", "nn.dropout", "nn.fractional")


@dataclass(frozen=True)
class Cell:
    """One thing that is measured: an operation at a size, alone or with its gradient."""

    name: str
    form: str | None
    size: str
    gradient: bool
    traced: bool

    def __str__(self) -> str:
        way = "with gradient" if self.gradient else "forward"
        return f"{self.name} {self.size} {way} {'function' if self.traced else 'eager'}"

    @property
    def is_text(self) -> bool:
        return self.name in TEXT

    @property
    def is_random(self) -> bool:
        return self.name.startswith(_RANDOM)

    def arguments(self) -> dict[str, Any]:
        return asdict(self)


def public_names(tf: Any) -> list[str]:
    """Every public function of the namespaces, under the first name that it has."""
    seen: set[int] = set()
    names: list[str] = []
    for space in NAMESPACES:
        module = find(tf, space) if space else tf
        for name in sorted(n for n in dir(module) if not n.startswith("_")):
            value = getattr(module, name)
            if callable(value) and not isinstance(value, type) and id(value) not in seen:
                seen.add(id(value))
                names.append(f"{space}.{name}" if space else name)
    return names


def form_of(tf: Any, name: str) -> str | None:
    """The form of `PROBES` that suits; `None` if the operation has one of its own.

    Raises `LookupError` for one that needs a form of its own.
    """
    if name in FORMS:
        return None
    for form, call in PROBES.items():
        try:
            if tf.nest.flatten(call(find(tf, name), Given(tf, "small"))):
                return form
        except Exception:  # it does not suit; which error says so does not matter
            continue
    raise LookupError(name)


def _has_gradient(tf: Any, name: str, form: str | None) -> bool:
    try:
        operation(tf, name, form, "small", True, False)
    except Exception:  # what refuses a gradient does so in many ways
        return False
    return True


def all_cells(tf: Any, only: list[str], sizes: tuple[str, ...] = SIZES) -> list[Cell]:
    """The cells of all operations, or of those whose names start so.

    New names that no form suits are told, and left out until `FORMS` or `LEFT_OUT` has them.
    """
    cells = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in public_names(tf):
            if name in LEFT_OUT or not name.startswith(tuple(only or [""])):
                continue
            try:
                form = form_of(tf, name)
            except LookupError:
                print(
                    f"sweep: no form suits {name!r}; see benchmarks/sweep_forms.py", file=sys.stderr
                )
                continue
            ways = [False, True] if _has_gradient(tf, name, form) else [False]
            cells += [
                Cell(name, form, size, gradient, traced)
                for size in sizes
                for gradient in ways
                for traced in (False, True)
            ]
    return cells
