"""The names of `tf.linalg`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.linear_operators.banded import LinearOperatorToeplitz, LinearOperatorTridiag
from wengert.linear_operators.base import LinearOperator
from wengert.linear_operators.blocks import (
    LinearOperatorBlockDiag,
    LinearOperatorBlockLowerTriangular,
)  # fmt: skip
from wengert.linear_operators.circulant import (
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
)  # fmt: skip
from wengert.linear_operators.composition import LinearOperatorComposition
from wengert.linear_operators.dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from wengert.linear_operators.diagonal import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
)  # fmt: skip
from wengert.linear_operators.kronecker import LinearOperatorKronecker
from wengert.linear_operators.low_rank import LinearOperatorLowRankUpdate
from wengert.linear_operators.special import LinearOperatorHouseholder, LinearOperatorPermutation
from wengert.linear_operators.wrappers import LinearOperatorAdjoint, LinearOperatorInversion
from wengert.linear_operators.zeros import LinearOperatorZeros
from wengert.ops.create import eye
from wengert.ops.decompose import cholesky, qr
from wengert.ops.diagonal import (
    band_part,
    diag,
    diag_part,
    set_diag,
    tensor_diag,
    tensor_diag_part,
    trace,
)  # fmt: skip
from wengert.ops.eigen import eig, eigh, eigvals, eigvalsh, expm, logm, sqrtm
from wengert.ops.einsum import einsum
from wengert.ops.lu import lu, lu_matrix_inverse, lu_reconstruct, lu_solve
from wengert.ops.matmul import matmul, matvec
from wengert.ops.normalization import l2_normalize
from wengert.ops.norms import global_norm, norm
from wengert.ops.solve import (
    banded_triangular_solve,
    cholesky_solve,
    det,
    inv,
    logdet,
    lstsq,
    slogdet,
    solve,
    triangular_solve,
)  # fmt: skip
from wengert.ops.svd import matrix_rank, normalize, pinv, svd
from wengert.ops.tensordot import adjoint, cross, matrix_transpose, tensordot
from wengert.ops.tridiagonal import eigh_tridiagonal, tridiagonal_matmul, tridiagonal_solve

__getattr__, __dir__ = _namespace("tf.linalg", globals())
