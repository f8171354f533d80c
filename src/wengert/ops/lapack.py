"""NumPy's `linalg` for large matrices: SciPy's LAPACK, matrix by matrix, on one thread.

The signatures are NumPy's. Its own code copies matrices and calls OpenBLAS with all threads, which
for factorisations of up to some thousand rows wait for each other more than they work, and, where
the cores are shared, take ten times as long. Matrices of fewer rows than `LARGE` go to NumPy.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from wengert.core.locks import new_lock

# Rows from which the calls of SciPy pay.
LARGE = 96
_lock = new_lock()


@functools.cache
def _openblas() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Reads and sets the number of threads of the OpenBLAS in SciPy's wheel, if it is there."""
    import scipy

    root = Path(scipy.__file__).parent
    for place in (root.parent / "scipy.libs", root / ".dylibs"):
        for path in place.glob("libscipy_openblas*"):
            try:
                library: Any = ctypes.CDLL(str(path))
                read = library.scipy_openblas_get_num_threads
                return read, library.scipy_openblas_set_num_threads
            except (OSError, AttributeError):
                continue
    return None


class _Users:
    """How many callers want one thread now, and how many threads there were before them."""

    def __init__(self) -> None:
        self.count = 0
        self.before = 1


_users = _Users()


@contextmanager
def one_thread() -> Iterator[None]:
    """Runs SciPy's BLAS and LAPACK on one thread; their number belongs to the process."""
    control = _openblas()
    if control is None:
        yield
        return
    read, write = control
    with _lock:
        if not _users.count:
            _users.before = read()
            write(1)
        _users.count += 1
    try:
        yield
    finally:
        with _lock:
            _users.count -= 1
            if not _users.count:
                write(_users.before)


def _routine(name: str, *arrays: np.ndarray) -> Any:
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs((name,), arrays)[0]


def _is_large(x: np.ndarray) -> bool:
    return x.ndim >= 2 and min(x.shape[-2:]) >= LARGE and x.dtype.char in "fdFD" and x.size > 0


def _each(f: Callable[..., Any], x: np.ndarray, *rest: np.ndarray) -> Any:
    """`f` of each matrix of a stack; it may return several arrays."""
    with one_thread(), np.errstate(all="ignore"):
        if x.ndim == 2:
            return f(x, *rest)
        lead = x.shape[:-2]
        results = [f(*matrices) for matrices in zip(*[_flat(y) for y in (x, *rest)], strict=True)]
    if not isinstance(results[0], tuple):
        return np.stack(results).reshape(*lead, *results[0].shape)
    return tuple(
        np.stack(parts).reshape(*lead, *parts[0].shape) for parts in zip(*results, strict=True)
    )


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1, *x.shape[-2:])


def _must(info: int, what: str) -> None:
    if info:
        raise np.linalg.LinAlgError(what)


def cholesky(x: np.ndarray) -> np.ndarray:
    """The lower factors; only the lower triangles are read."""
    if not _is_large(x):
        return np.linalg.cholesky(x)

    def one(a: np.ndarray) -> np.ndarray:
        # In Fortran's order the matrix is its transpose, and the factor comes out transposed.
        factor, info = _routine("potrf", a)(np.ascontiguousarray(a).T, lower=0, clean=1)
        _must(info, "Matrix is not positive definite")
        return factor.T

    return _each(one, x)


def _factors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """LU factors of the transpose, and which rows were exchanged."""
    factors, swaps, _ = _routine("getrf", a)(np.ascontiguousarray(a).T)
    return factors, swaps


def _solved(a: np.ndarray, b: np.ndarray, transpose: int) -> np.ndarray:
    factors, swaps = _factors(a)
    _must(int((np.diagonal(factors) == 0).any()), "Singular matrix")
    return _routine("getrs", a, b)(factors, swaps, b, trans=transpose)[0]


def inv(x: np.ndarray) -> np.ndarray:
    """The inverses."""
    if not _is_large(x):
        return np.linalg.inv(x)
    unit = np.eye(x.shape[-1], dtype=x.dtype, order="F")
    return _each(lambda a: _solved(a, unit, 0).T, x)


def solve(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solutions of equations with several right-hand sides, stacks of one size."""
    if not _is_large(x) or b.ndim != x.ndim or b.shape[:-1] != x.shape[:-1] or b.dtype != x.dtype:
        return np.linalg.solve(x, b)
    return _each(lambda a, y: np.ascontiguousarray(_solved(a, y, 1)), x, b)


def slogdet(x: np.ndarray) -> tuple[Any, Any]:
    """The signs and the logarithms of the sizes of the determinants."""
    if not _is_large(x):
        sign, size = np.linalg.slogdet(x)
        return sign, size

    def one(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        factors, swaps = _factors(a)
        pivots = np.diagonal(factors)
        if not pivots.all():
            return np.zeros((), a.dtype), np.asarray(-np.inf, np.real(pivots).dtype)
        size = np.abs(pivots)
        odd = np.count_nonzero(swaps != np.arange(len(swaps))) % 2
        sign = np.multiply.reduce(pivots / size)
        return np.asarray(-sign if odd else sign), np.asarray(np.add.reduce(np.log(size)))

    sign, size = _each(one, x)
    return sign, size


def det(x: np.ndarray) -> np.ndarray:
    """The determinants."""
    if not _is_large(x):
        return np.asarray(np.linalg.det(x))
    with np.errstate(all="ignore"):
        sign, size = slogdet(x)
        return np.asarray(sign * np.exp(size).astype(sign.dtype))


def qr(x: np.ndarray, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal columns and upper triangles; `mode` is NumPy's."""
    if not _is_large(x):
        q, r = np.linalg.qr(x, "complete" if mode == "complete" else "reduced")
        return q, r
    from scipy.linalg import qr as decompose

    named = "full" if mode == "complete" else "economic"

    def one(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        factors: Any = decompose(a, mode=named, check_finite=False)
        q, r = factors
        return np.ascontiguousarray(q), np.ascontiguousarray(r)

    return _each(one, x)


def svd(x: np.ndarray, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """u, singular values and vh; the values alone without `compute_uv`."""
    if not _is_large(x):
        return np.linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)

    options: dict[str, Any] = {"compute_uv": compute_uv, "full_matrices": full_matrices}

    def one(a: np.ndarray) -> Any:
        run = _routine("gesdd", a)
        room = _routine("gesdd_lwork", a)(*a.shape, **options)[0]
        u, s, vh, info = run(a, lwork=int(np.real(room)), **options)
        _must(info, "SVD did not converge")
        return (np.ascontiguousarray(u), s, np.ascontiguousarray(vh)) if compute_uv else s

    return _each(one, x)


def eigh(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, rising, and eigenvectors of Hermitian matrices given by their lower triangles."""
    if not _is_large(x):
        e, v = np.linalg.eigh(x)
        return e, v

    def one(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        e, v, info = _routine("heevd" if a.dtype.kind == "c" else "syevd", a)(a, lower=1)
        _must(info, "Eigenvalues did not converge")
        return e, np.ascontiguousarray(v)

    return _each(one, x)


def eigvalsh(x: np.ndarray) -> np.ndarray:
    """Eigenvalues, rising, of Hermitian matrices given by their lower triangles."""
    if not _is_large(x):
        return np.linalg.eigvalsh(x)

    def one(a: np.ndarray) -> np.ndarray:
        run = _routine("heevd" if a.dtype.kind == "c" else "syevd", a)
        e, _, info = run(a, compute_v=0, lower=1)
        _must(info, "Eigenvalues did not converge")
        return e

    return _each(one, x)
