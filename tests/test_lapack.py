"""Large matrices go to SciPy's LAPACK on one thread, and get what NumPy gives."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.ops import lapack

SIZES = [lapack.LARGE - 1, lapack.LARGE + 4]


def matrices(n: int, dtype: str, *lead: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    x = rng.standard_normal((*lead, n, n))
    if dtype.startswith("complex"):
        x = x + 1j * rng.standard_normal(x.shape)
    return (x / np.sqrt(n) + 2 * np.eye(n)).astype(dtype)


def definite(n: int, dtype: str, *lead: int) -> np.ndarray:
    a = matrices(n, dtype, *lead)
    return a @ np.conj(a.mT) + np.eye(n, dtype=dtype)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("lead", [(), (2, 1)])
def test_large_matrices_equal_numpy(n: int, dtype: str, lead: Any) -> None:
    near: dict[str, Any] = {"rtol": 2e-3, "atol": 2e-3} if dtype == "float32" else {"atol": 1e-9}
    a, d = matrices(n, dtype, *lead), definite(n, dtype, *lead)
    b = matrices(n, dtype, *lead)[..., :7]
    np.testing.assert_allclose(lapack.cholesky(d), np.linalg.cholesky(d), **near)
    np.testing.assert_allclose(lapack.inv(a), np.linalg.inv(a), **near)
    np.testing.assert_allclose(lapack.solve(a, b), np.linalg.solve(a, b), **near)
    np.testing.assert_allclose(lapack.slogdet(a)[0], np.linalg.slogdet(a)[0], **near)
    np.testing.assert_allclose(lapack.slogdet(a)[1], np.linalg.slogdet(a)[1], **near)
    np.testing.assert_allclose(lapack.eigvalsh(d), np.linalg.eigvalsh(d), **near)
    np.testing.assert_allclose(lapack.svd(a, compute_uv=False), np.linalg.svd(a)[1], **near)
    for full in (False, True):
        wide = a[..., : n - 3, :]
        u, s, vh = lapack.svd(wide, full)
        assert [y.shape for y in (u, s, vh)] == [y.shape for y in np.linalg.svd(wide, full)]
        np.testing.assert_allclose(
            (u[..., : n - 3] * s[..., None, :]) @ vh[..., : n - 3, :], wide, **near
        )
        q, r = lapack.qr(a[..., : n - 3], "complete" if full else "reduced")
        np.testing.assert_allclose(q @ r, a[..., : n - 3], **near)
    e, v = lapack.eigh(d)
    np.testing.assert_allclose((v * e[..., None, :]) @ np.conj(v.mT), d, **near)
    assert all(y.dtype == dtype for y in (lapack.inv(a), lapack.cholesky(d), u, q, v))


def test_only_the_lower_triangle_counts() -> None:
    d = definite(120, "float64")
    spoilt = d + np.triu(np.ones_like(d), 1)
    np.testing.assert_allclose(lapack.cholesky(spoilt), lapack.cholesky(d))
    np.testing.assert_allclose(lapack.eigh(spoilt)[0], lapack.eigh(d)[0], atol=1e-9)


def test_large_matrices_that_have_no_answer() -> None:
    zero = tf.zeros([120, 120])
    for f in (tf.linalg.inv, lambda x: tf.linalg.solve(x, x)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            f(zero)
    assert np.isnan(np.diagonal(tf.linalg.cholesky(-tf.eye(120)))).all()
    assert float(tf.linalg.det(zero)) == 0
    assert np.isneginf(tf.linalg.slogdet(zero)[1])
    broken = tf.constant(np.where(np.eye(120) > 0, np.nan, 1).astype(np.float32))
    assert np.isnan(tf.linalg.inv(broken).numpy()).all()
    assert np.isnan(tf.linalg.svd(broken, compute_uv=False).numpy()).all()


def test_the_number_of_threads_is_given_back() -> None:
    control = lapack._openblas()
    if control is None:
        pytest.skip("SciPy has another BLAS")
    before = control[0]()
    a = matrices(200, "float32")
    callers = [threading.Thread(target=lapack.inv, args=(a,)) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    with lapack.one_thread():
        assert control[0]() == 1
    assert control[0]() == before
