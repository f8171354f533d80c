"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.linear_operators.banded import LinearOperatorToeplitz as LinearOperatorToeplitz
from wengert.linear_operators.banded import LinearOperatorTridiag as LinearOperatorTridiag
from wengert.linear_operators.base import LinearOperator as LinearOperator
from wengert.linear_operators.blocks import LinearOperatorBlockDiag as LinearOperatorBlockDiag
from wengert.linear_operators.blocks import (
    LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
)
from wengert.linear_operators.circulant import LinearOperatorCirculant as LinearOperatorCirculant
from wengert.linear_operators.circulant import (
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
)
from wengert.linear_operators.circulant import (
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
)
from wengert.linear_operators.composition import (
    LinearOperatorComposition as LinearOperatorComposition,
)
from wengert.linear_operators.dense import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from wengert.linear_operators.dense import (
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from wengert.linear_operators.diagonal import LinearOperatorDiag as LinearOperatorDiag
from wengert.linear_operators.diagonal import LinearOperatorIdentity as LinearOperatorIdentity
from wengert.linear_operators.diagonal import (
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
)
from wengert.linear_operators.kronecker import LinearOperatorKronecker as LinearOperatorKronecker
from wengert.linear_operators.low_rank import (
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
)
from wengert.linear_operators.special import LinearOperatorHouseholder as LinearOperatorHouseholder
from wengert.linear_operators.special import LinearOperatorPermutation as LinearOperatorPermutation
from wengert.linear_operators.wrappers import LinearOperatorAdjoint as LinearOperatorAdjoint
from wengert.linear_operators.wrappers import LinearOperatorInversion as LinearOperatorInversion
from wengert.linear_operators.zeros import LinearOperatorZeros as LinearOperatorZeros
from wengert.ops.create import eye as eye
from wengert.ops.decompose import cholesky as cholesky
from wengert.ops.decompose import qr as qr
from wengert.ops.diagonal import band_part as band_part
from wengert.ops.diagonal import diag as diag
from wengert.ops.diagonal import diag_part as diag_part
from wengert.ops.diagonal import set_diag as set_diag
from wengert.ops.diagonal import tensor_diag as tensor_diag
from wengert.ops.diagonal import tensor_diag_part as tensor_diag_part
from wengert.ops.diagonal import trace as trace
from wengert.ops.eigen import eig as eig
from wengert.ops.eigen import eigh as eigh
from wengert.ops.eigen import eigvals as eigvals
from wengert.ops.eigen import eigvalsh as eigvalsh
from wengert.ops.eigen import expm as expm
from wengert.ops.eigen import logm as logm
from wengert.ops.eigen import sqrtm as sqrtm
from wengert.ops.einsum import einsum as einsum
from wengert.ops.lu import lu as lu
from wengert.ops.lu import lu_matrix_inverse as lu_matrix_inverse
from wengert.ops.lu import lu_reconstruct as lu_reconstruct
from wengert.ops.lu import lu_solve as lu_solve
from wengert.ops.matmul import matmul as matmul
from wengert.ops.matmul import matvec as matvec
from wengert.ops.normalization import l2_normalize as l2_normalize
from wengert.ops.norms import global_norm as global_norm
from wengert.ops.norms import norm as norm
from wengert.ops.solve import banded_triangular_solve as banded_triangular_solve
from wengert.ops.solve import cholesky_solve as cholesky_solve
from wengert.ops.solve import det as det
from wengert.ops.solve import inv as inv
from wengert.ops.solve import logdet as logdet
from wengert.ops.solve import lstsq as lstsq
from wengert.ops.solve import slogdet as slogdet
from wengert.ops.solve import solve as solve
from wengert.ops.solve import triangular_solve as triangular_solve
from wengert.ops.svd import matrix_rank as matrix_rank
from wengert.ops.svd import normalize as normalize
from wengert.ops.svd import pinv as pinv
from wengert.ops.svd import svd as svd
from wengert.ops.tensordot import adjoint as adjoint
from wengert.ops.tensordot import cross as cross
from wengert.ops.tensordot import matrix_transpose as matrix_transpose
from wengert.ops.tensordot import tensordot as tensordot
from wengert.ops.tridiagonal import eigh_tridiagonal as eigh_tridiagonal
from wengert.ops.tridiagonal import tridiagonal_matmul as tridiagonal_matmul
from wengert.ops.tridiagonal import tridiagonal_solve as tridiagonal_solve
