"""Compressed sparse rows as `keras.ops.matmul` uses them: sparse tensors stay as they are."""

from __future__ import annotations

from typing import Any

from wengert.composite.sparse_tensor import SparseTensor


def sparse_tensor_to_csr_sparse_matrix(indices: Any, values: Any, dense_shape: Any) -> Any:
    """The sparse tensor of these parts."""
    return SparseTensor(indices, values, dense_shape)


def csr_sparse_matrix_to_sparse_tensor(sparse_matrix: Any, type: Any) -> Any:
    """The sparse tensor itself."""
    return sparse_matrix


def sparse_matrix_sparse_mat_mul(a: Any, b: Any, type: Any = None) -> Any:
    """The product of two sparse matrices."""
    from wengert.composite.sparse_rows import sparse_sparse_matmul

    return sparse_sparse_matmul(a, b)
