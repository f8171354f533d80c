"""The operations of the sweep that PyTorch has, under its names."""

from __future__ import annotations

import functools

from benchmarks.sweep_data import Arrays

# From TensorFlow's name to PyTorch's, where they differ.
_NAMES = {
    "divide": "div",
    "realdiv": "div",
    "negative": "neg",
    "pow": "pow",
    "math.expm1": "expm1",
    "math.lgamma": "lgamma",
    "math.log_sigmoid": "nn.functional.logsigmoid",
    "math.softplus": "nn.functional.softplus",
    "math.softsign": "nn.functional.softsign",
    "math.bessel_i0": "special.i0",
    "math.bessel_i1": "special.i1",
    "greater": "gt",
    "less": "lt",
    "equal": "eq",
    "not_equal": "ne",
    "reduce_sum": "sum",
    "reduce_mean": "mean",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_prod": "prod",
}
_FORMS = {
    "abs": lambda t, d: t.abs(d.signed),
    "argsort": lambda t, d: t.argsort(d.x, -1),
    "sort": lambda t, d: t.sort(d.x, -1),
    "cast": lambda t, d: d.i.to(t.float32),
    "concat": lambda t, d: t.cat([d.x, d.y], 0),
    "cumsum": lambda t, d: t.cumsum(d.x, 1),
    "math.cumprod": lambda t, d: t.cumprod(d.x, 1),
    "einsum": lambda t, d: t.einsum("ij,jk->ik", d.a, d.a2),
    "matmul": lambda t, d: d.a @ d.a2,
    "gather": lambda t, d: t.index_select(d.x, 0, d.rows),
    "math.top_k": lambda t, d: t.topk(d.x, min(d.n, 10)),
    "math.softmax": lambda t, d: t.softmax(d.x, -1),
    "math.log_softmax": lambda t, d: t.log_softmax(d.x, -1),
    "math.lgamma": lambda t, d: t.lgamma(d.large),
    "math.digamma": lambda t, d: t.digamma(d.large),
    "transpose": lambda t, d: d.x.t().contiguous(),
    "where": lambda t, d: t.where(d.b, d.x, d.y),
    "tile": lambda t, d: t.tile(d.x[: d.n // 2], (2, 1)),
    "one_hot": lambda t, d: t.nn.functional.one_hot(d.classes.long(), d.n).float(),
    "unique": lambda t, d: t.unique(d.many),
    "nn.bias_add": lambda t, d: d.feature + d.channels,
    **{
        f"nn.{name}": lambda t, d, name=name: getattr(t.nn.functional, name)(d.signed)
        for name in ("elu", "leaky_relu", "relu", "relu6", "selu", "silu")
    },
    "nn.gelu": lambda t, d: t.nn.functional.gelu(d.signed, approximate="tanh"),
    "linalg.cholesky": lambda t, d: t.linalg.cholesky(d.definite),
    "linalg.eigh": lambda t, d: t.linalg.eigh(d.definite),
    "linalg.inv": lambda t, d: t.linalg.inv(d.a),
    "linalg.det": lambda t, d: t.linalg.det(d.a),
    "linalg.qr": lambda t, d: t.linalg.qr(d.tall),
    "linalg.solve": lambda t, d: t.linalg.solve(d.a, d.side),
    "linalg.svd": lambda t, d: t.linalg.svd(d.a, False),
    "linalg.expm": lambda t, d: t.linalg.matrix_exp(d.small_norm),
    "linalg.triangular_solve": lambda t, d: t.linalg.solve_triangular(
        d.triangle, d.side, upper=False
    ),
    "linalg.matvec": lambda t, d: d.a @ d.vector,
    "signal.fft": lambda t, d: t.fft.fft(d.wave),
    "signal.ifft": lambda t, d: t.fft.ifft(d.wave),
    "signal.rfft": lambda t, d: t.fft.rfft(d.signal),
    "signal.fft2d": lambda t, d: t.fft.fft2(d.plane),
    "random.normal": lambda t, d: t.randn(d.n, d.n),
    "random.uniform": lambda t, d: t.rand(d.n, d.n),
}
_PLACES = ("", "special.", "linalg.", "nn.functional.")
_OF_ONE_OR_TWO = {"x": ["x"], "x y": ["x", "y"]}


class _Given:
    def __init__(self, torch, size):
        self._torch, self._arrays, self.tensors = torch, Arrays(size), {}

    def __getattr__(self, name):
        if hasattr(self._arrays, name):
            return getattr(self._arrays, name)
        if name not in self.tensors:
            self.tensors[name] = self._torch.tensor(self._arrays.get(name))
        return self.tensors[name]


def _function(torch, name):
    for path in (_NAMES.get(name), *[place + name.split(".")[-1] for place in _PLACES]):
        if path is not None:
            try:
                return functools.reduce(getattr, path.split("."), torch)
            except AttributeError:
                continue
    raise LookupError(f"PyTorch has no {name}")


def _call(torch, name, form):
    if name in _FORMS:
        return lambda d: _FORMS[name](torch, d)
    f = _function(torch, name)
    return lambda d: f(*[getattr(d, part) for part in _OF_ONE_OR_TWO[form]])


def operation(torch, name, form, size, gradient, traced):
    """A step of an operation; PyTorch has no functions, so only its eager steps are told."""
    if traced:
        raise LookupError("eager only")
    call, given = _call(torch, name, form), _Given(torch, size)
    call(given)
    sources = [x for x in given.tensors.values() if x.is_floating_point() or x.is_complex()]

    def forward():
        out = call(given)
        return [out] if torch.is_tensor(out) else list(out)

    def with_gradient():
        outs = [x for x in forward() if x.requires_grad]
        ones = [torch.ones_like(x) for x in outs]
        return torch.autograd.grad(outs, sources, ones, allow_unused=True)

    if not gradient:
        return lambda: forward()[0]
    for x in sources:
        x.requires_grad_(True)
    return lambda: with_gradient()[0]
