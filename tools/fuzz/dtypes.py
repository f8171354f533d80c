"""Constructs over dtypes, conversions and numbers that are not finite.

What may be refused stands in `outcome(lambda: ...)`, so that a mode that refuses it differs from
one that answers, and the program goes on.
"""

from __future__ import annotations

from tools.fuzz.expressions import fill
from tools.fuzz.generator import Generator, construct

WHOLE = ("uint8", "int8", "uint16", "int16", "int32", "int64", "uint32", "uint64")
FRACTIONS = ("float16", "bfloat16", "float32", "float64")
DTYPES = ("bool", *WHOLE, *FRACTIONS, "complex64", "complex128")

# `z` is a vector of three of a dtype, `{o}` a number, list or tensor beside it, `{D}` a dtype.
ARITHMETIC = (
    "z + {o}", "z - {o}", "z * {o}", "z / {o}", "z // {o}", "z % {o}", "z ** 2", "z & {o}", "z | {o}",
    "z ^ {o}", "z < {o}", "z >= {o}", "z == {o}", "z != {o}", "{o} * z", "{o} - z", "{o} // z",
    "{o} / z", "-z", "~z", "abs(z)", "tf.add(z, {o})", "tf.multiply(z, {o})", "tf.maximum(z, {o})",
    "tf.where([True, False, True], z, {o})", "tf.pow(z, 3)", "tf.math.floordiv(z, {o})",
    "tf.truediv(z, {o})", "tf.math.divide_no_nan(z, {o})", "tf.equal(z, {o})", "[z, z] * {o}",
)  # fmt: skip
ALONE = (
    "tf.reduce_sum(z)", "tf.reduce_mean(z)", "tf.reduce_prod(z)", "tf.reduce_max(z)", "tf.cumsum(z)",
    "tf.sort(z)", "tf.argsort(z)", "tf.argmax(z)", "tf.abs(z)", "tf.sign(z)", "tf.square(z)",
    "tf.cast(z, tf.{D})", "tf.saturate_cast(z, tf.{D})", "tf.clip_by_value(z, 1, 3)", "tf.sqrt(z)",
    "tf.concat([z, [1, 0, 1]], 0)", "tf.stack([z, [0, 1, 1]])", "tf.one_hot([0, 2], 3, dtype=z.dtype)",
    "tf.range(3, dtype=z.dtype)", "tf.ones([2, 0], z.dtype)", "tf.zeros_like(z)", "tf.fill([2], z[0])",
    "tf.unique(z)[0]", "tf.math.bincount(z)", "tf.matmul(z[None], z[:, None])", "tf.round(z)",
    "tf.tensordot(z, z, 1)", "tf.math.segment_sum(z, tf.constant([0, 0, 1], tf.{D}))", "tf.floor(z)",
    "tf.math.unsorted_segment_max(z, tf.constant([1, 0, 1], tf.{D}), 2)", "tf.reverse(z, [0])",
    "tf.gather(z, tf.constant([2, 0], tf.{D}))", "tf.boolean_mask(z, [True, False, True])", "z[::-1]",
    "tf.tensor_scatter_nd_add(z, [[1]], z[:1])", "tf.scatter_nd([[2]], z[:1], [4])", "tf.roll(z, 1, 0)",
    "tf.bitcast(z, tf.{D})", "tf.transpose(z[None])", "tf.pad(z, [[1, 0]])", "tf.norm(z)",
    "tf.eye(2, dtype=z.dtype)", "tf.math.top_k(z, 2)", "tf.reduce_any(z)", "tf.not_equal(z, z[:1])",
    "tf.math.cumprod(z, exclusive=True)", "tf.linspace(z[0], z[1], 3)", "tf.exp(z)", "tf.floor(z)",
    "tf.math.reduce_std(z)", "tf.nn.relu(z)", "tf.math.count_nonzero(z)", "tf.repeat(z, [1, 0, 2])",
    "tf.linalg.diag(z)", "tf.linalg.set_diag(tf.linalg.diag(z), z)", "tf.broadcast_to(z, [2, 3])",
    "tf.bitwise.left_shift(z, z)", "tf.bitwise.right_shift(z, z)", "tf.bitwise.invert(z)",
    "tf.searchsorted(tf.sort(z), z)", "tf.math.is_finite(z)", "tf.foldl(lambda p, q: p + q, z)",
    "tf.map_fn(lambda q: q + q, z)", "tf.scan(lambda p, q: p + q, z)", "tf.nest.map_structure(abs, z)",
    "tf.add_n([z, z])", "tf.math.accumulate_n([z, z])", "tf.dynamic_partition(z, [0, 1, 0], 2)",
    "tf.linalg.band_part(z[None], 0, 1)", "tf.math.conj(z)", "tf.math.real(z)", "tf.identity(z)",
)  # fmt: skip


@construct()
def arithmetic(g: Generator, depth: int) -> None:
    """One operation on a tensor of any dtype, with a Python number, a list or a tensor."""
    z, dtype = g.fresh("z"), g.pick("bool", "uint8", "int16", *DTYPES)
    x = g.expr("v", 1)
    g.write(f"{z} = tf.cast({x} > 0.0, tf.bool)" if dtype == "bool" else
            f"{z} = tf.cast(tf.stop_gradient(tf.round(tf.tanh({x}) * 4.0) + 5.0), tf.{dtype})")  # fmt: skip
    for _ in range(3):
        _operation(g, z, dtype)


def _operation(g: Generator, z: str, dtype: str) -> None:
    other = g.pick("2", "3", "True", "2.5", "-3", "(1 + 1j)", "[1, 2, 3]", "z", "z[:1]", "np.int64(2)",
                   "np.float32(2)", "tf.constant(2)", "np.array([1, 2, 3])", "tf.constant(2.0)")  # fmt: skip
    text = g.pick(g.pick(*ARITHMETIC), g.pick(*ALONE))
    if text.startswith("[") and other.startswith("np."):
        other = "2"  # with an array of NumPy's a list becomes one, which needs values
    if dtype.startswith("uint") and other == "-3":
        other = "3"  # docs/differences.md
    text = text.replace("{o}", other).replace("{D}", g.pick(*DTYPES)).replace("z", z)
    text = text.replace(f"{z}eros", "zeros").replace(f"non{z}ero", "nonzero")
    if dtype in ("float16", "bfloat16") or "float16" in text:
        g.tolerance = max(g.tolerance, 5e-2)
    elif dtype in ("float32", "complex64") or "float32" in text or "mplex64" in text:
        g.tolerance = max(g.tolerance, 1e-4)
    g.needs |= {"dtypes"}
    if any(word in text for word in ("unique", "boolean_mask", "repeat", "bincount", "partition")):
        g.needs.add("sizes")
    g.let("outcome", f"outcome(lambda: {text}, F)")


CONVERTED = (
    "tf.convert_to_tensor([{s}, {s}], dtype=tf.{E})", "tf.convert_to_tensor([{i}, 1], dtype=tf.{D})",
    "tf.convert_to_tensor([{i}, {i}])", "tf.concat(([0, 0], [tf.cast({i}, tf.int64)]), 0)",
    "tf.convert_to_tensor([[{s}, 1.0], [{s}, {s}]])", "tf.convert_to_tensor([[{i}, 2], [3, {i}]], tf.{D})",
    "tf.stack([{i}, 2])", "tf.stack([{v}, [1.0, 2.0, 3.0]])", "tf.concat([[{s}], {v}], 0)",
    "tf.cast([{s}, 1.0], tf.{D})", "tf.cast([{i}, 1], tf.{D})", "tf.add([{s}, 1.0], {s})",
    "tf.fill([{i}, 2], {s})", "tf.zeros([{i}, 2], tf.{D})", "tf.reshape({v}, [1, {i} * 0 + 3])",
    "tf.constant([True, False])", "tf.constant([[1, 2], [3, 4]], dtype=tf.{D})", "tf.constant(Rows())",
    "tf.constant([1, 2.5])", "tf.constant(np.array([1, 2], np.int16))", "tf.convert_to_tensor(({s}, 2.0))",
    "tf.maximum({s}, [0.1, 0.2])", "tf.tile([{s}], [{i}])", "tf.range({i})", "tf.range(0, {i} * 2, 2)",
    "tf.where({s} > 0.0, [1, 2], [3, 4])", "tf.matmul({m}, [[{s}], [1.0], [2.0]])",
    "tf.convert_to_tensor([tf.cast({i}, tf.int64), {i}])", "tf.convert_to_tensor([tf.cast({s}, tf.float32)])",
    "tf.nest.map_structure(lambda q: q * 2, Pair({s}, [{v}, {i}]))", "tf.one_hot([{i3}, 1], {i})",
    "tf.gather({v}, [{i3}, 0])", "tf.gather({m}, [{i3} % 2, 1], batch_dims=0)", "tf.sequence_mask([{i}, 1], 4)",
    "tf.nest.map_structure(lambda q: q * 2, Flat({v}, {s})).parts", "tf.nest.flatten(dict([(b.ref(), {v}), (a.ref(), {s})]))",
    "tf.convert_to_tensor(a)", "tf.stack([a, b])", "tf.ragged.constant([[1], [2, 3]])", "tf.linspace(0.0, 1.0, 3)",
    "tf.convert_to_tensor([a, b], dtype=tf.{E})", "tf.tensor_scatter_nd_update({v}, [[0], [{i3}]], [1.0, {s}])",
    "tf.gather_nd({v}, [[{i}]], bad_indices_policy='IGNORE')", "tf.transpose({m}, [1, {i3} * 0])",
    "tf.nn.compute_average_loss([1, 2], global_batch_size={i})", "tf.nn.compute_average_loss({v})",
    "tf.math.bincount(tf.ragged.constant([[1], [2, 2]]), maxlength={i}, axis=-1)",
    "tf.math.bincount([{i}, 1, {i}], minlength=2, maxlength=3)", "tf.math.bincount([[{i}, 1]], axis=-1)",
    "tf.strings.ngrams([['a', 'b'], ['c', 'd']], 3, pad_values=('l', 'r'), preserve_short_sequences=True)",
    "tf.strings.ngrams(tf.ragged.constant([['a'], ['b', 'c', 'd']]), 2, preserve_short_sequences=True)",
    "tf.math.confusion_matrix([{i}, 1], [1, {i}], 4)", "tf.meshgrid([1, 2], [{i}, 4])", "tf.shape({r}, tf.int64)",
)  # fmt: skip


@construct()
def converted(g: Generator, depth: int) -> None:
    """Lists of numbers and tensors where a tensor is wanted, and small habits of conversion."""
    for _ in range(3):
        _conversion(g)


def _conversion(g: Generator) -> None:
    text = g.pick(*CONVERTED).replace("{D}", g.pick("int32", "int64", *DTYPES))
    text = fill(g, text.replace("{E}", g.pick(*FRACTIONS, *DTYPES[-2:])), 1)
    g.needs |= {"sizes", "dtypes"}
    if "strings" in text:
        g.needs.add("strings")
    if "float16" in text:
        g.tolerance = max(g.tolerance, 5e-2)
    if "float32" in text or "mplex64" in text or "bfloat16" in text:
        g.tolerance = max(g.tolerance, 1e-4)
    g.let("outcome", f"outcome(lambda: tf.nest.map_structure(tf.stop_gradient, {text}), F)")


@construct()
def far_casts(g: Generator, depth: int) -> None:
    """Casts to whole numbers of what is far outside their range, in arrays of some size."""
    far = g.pick("9.0", "300.0", "700.0", "4e4", "7e6", "3e12")
    wide = f"tf.cast(tf.tile(tf.tanh({g.expr('v', 1)}), [32]) * {far}, tf.float32)"
    g.let("s", f"digest(tf.cast(tf.stop_gradient({wide}), tf.{g.pick(*WHOLE[:6])}), F)")


@construct()
def comparison(g: Generator, depth: int) -> None:
    """Vectors that are perhaps not of one length, compared."""
    one, other = (f"{g.expr('r', 1)}[:, 0]" for _ in range(2))
    call = g.pick("{} != {}", "{} != {}", "{} == {}", "tf.not_equal({}, {})", "{} < {}")
    g.needs |= {"sizes"} if "=" in call else {"sizes", "errors"}
    g.let("s", f"tf.cast(tf.reduce_all({call.format(one, other)}), F)")


MATRICES = (
    "tf.linalg.det({})", "tf.linalg.slogdet({})", "tf.linalg.inv({})", "tf.linalg.logdet({})", "tf.linalg.lu({})",
    "tf.linalg.solve({}, tf.ones([3, 1], F))", "tf.linalg.triangular_solve({}, tf.ones([3, 1], F))",
    "tf.linalg.trace({})", "tf.norm({})", "{} @ {}", "tf.reduce_max({}, 0)", "tf.sort({}, 1)", "tf.argmax({}, 1)",
    "tf.nn.softmax({})", "tf.cumsum({}, 1)", "tf.reduce_min({})", "tf.math.reduce_std({}, 0)", "tf.reduce_sum({}, 1)",
    "tf.clip_by_value({}, -1.0, 1.0)", "tf.math.is_finite({})", "tf.cast({}, tf.int32)", "tf.sign({})", "tf.round({})",
    "tf.reduce_logsumexp({}, 1)", "tf.math.divide_no_nan({}, {})", "tf.nn.relu({})", "tf.math.xlogy({}, {})",
    "tf.maximum({}, 0.5)", "tf.reduce_prod({}, 0)", "tf.where({} > 0.0, {}, 1.0)", "tf.linalg.expm({})",
    "tf.linalg.cholesky({})", "tf.linalg.svd({}, compute_uv=False)", "tf.linalg.eigvalsh({})", "tf.linalg.qr({})",
    "tf.linalg.matrix_rank({})", "tf.linalg.pinv({})", "tf.linalg.adjoint({})", "tf.math.floormod({}, 2.0)",
    "tf.nn.log_softmax({})", "tf.math.l2_normalize({}, 1)", "tf.math.erf({})", "tf.linalg.matvec({}, {}[0])",
    "tf.einsum('ij,jk->ik', {}, {})", "tf.tensordot({}, {}, 2)", "tf.linalg.normalize({})", "tf.equal({}, {})",
)  # fmt: skip


@construct()
def not_finite(g: Generator, depth: int) -> None:
    """Matrices with a NaN or an infinity, which no operation may lose."""
    z, odd = g.fresh("z"), g.pick("nan", "nan", "inf", "-inf", "1.5")
    g.write(
        f"{z} = tf.linalg.diag({g.expr('v', 1)}) + tf.matmul({g.expr('m', 1)}, m, transpose_a=True)"
    )
    at = f"[[{g.expr('i3', 1)}, {g.expr('i3', 1)}]]"
    g.write(f"{z} = tf.tensor_scatter_nd_update({z}, {at}, [tf.constant(float('{odd}'), F)])")
    g.write(f"{z} = tf.stop_gradient({z})")
    for _ in range(3):
        call = g.pick(*MATRICES[: g.pick(8, len(MATRICES))])
        if odd != "1.5" and (".lu(" in call or "cholesky" in call):  # docs/differences.md
            continue
        if "inf" in odd and "det(" in call:  # infinity minus infinity, in another order
            continue
        g.let("outcome", f"outcome(lambda: {call.replace('{}', z)}, F)")


@construct()
def assigned(g: Generator, depth: int) -> None:
    """Values assigned to slices of variables, of the slice's shape or of one that broadcasts."""
    i, s = g.expr("i3", 1), f"tf.tanh({g.expr('s', 1)})"
    place, value = g.pick(
        (f"[{i}]", f"[{s}]"), (f"[{i}]", s), ("[1:]", f"[{s}, {s}]"), ("[::2]", f"[{s}]"), ("[:]", s),
        (f"[{i}:{i}]", "tf.zeros([0], F)"), ("[..., 0]", s), ("[::-1]", f"tf.tanh({g.expr('v', 1)})"),
    )  # fmt: skip
    v = g.pick("a", "b")
    g.let("outcome", f"outcome(lambda: {v}{place}.assign({value}), F)")
