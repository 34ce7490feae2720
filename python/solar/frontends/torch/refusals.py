"""Why some operators have no lowering, and what to do instead."""

from __future__ import annotations

_OUTSIDE = "; compute it outside of `forward` and pass the result"
_ITERATIVE = f"how much it computes depends on the values of its matrix{_OUTSIDE}"
_FACTORING = f"factorizations of matrices are not in the language's vocabulary{_OUTSIDE}"
_RANDOM_PLACES = "it draws the places of its windows at random; use a pooling with a fixed window"
_QUANTIZED = "integers that stand for other numbers by a scale; trace the model before it is quantized"
_ALIGNMENT = "its recurrence runs over lengths that are data; leave the loss out of `forward`"
_SPARSE = "tensors that are stored sparsely; write it with index_select and index_add"

_REASONS = {
    "_linalg_eigh": _ITERATIVE,
    "_linalg_svd": _ITERATIVE,
    "linalg_eig": _ITERATIVE,
    "linalg_lstsq": _ITERATIVE,
    "linalg_matrix_exp": _ITERATIVE,
    "linalg_pinv": _ITERATIVE,
    "fractional_max_pool2d": _RANDOM_PLACES,
    "fractional_max_pool3d": _RANDOM_PLACES,
    "ctc_loss": _ALIGNMENT,
    "_ctc_loss": _ALIGNMENT,
    "dequantize": _QUANTIZED,
    "quantize_per_tensor": _QUANTIZED,
    "quantize_per_channel": _QUANTIZED,
    "fake_quantize_per_tensor_affine": _QUANTIZED,
    "_to_sparse": _SPARSE,
    "_sparse_mm": _SPARSE,
    "sparse_coo_tensor": _SPARSE,
} | dict.fromkeys(
    (
        "linalg_cholesky_ex", "cholesky", "cholesky_inverse", "cholesky_solve", "linalg_inv_ex", "_linalg_solve_ex",
        "linalg_solve_triangular", "triangular_solve", "_linalg_det", "_linalg_slogdet", "linalg_lu",
        "linalg_lu_factor_ex", "linalg_lu_solve", "lu_unpack", "linalg_qr", "geqrf", "ormqr",
        "linalg_householder_product", "linalg_ldl_factor_ex", "linalg_ldl_solve",
    ),
    _FACTORING,
)  # fmt: skip


def refusal(operator: str) -> str:
    """The reason for `aten.linalg_qr.default`; empty where there is none but that nobody wrote it."""
    parts = operator.split(".")
    return _REASONS.get(parts[1], "") if len(parts) > 1 else ""
