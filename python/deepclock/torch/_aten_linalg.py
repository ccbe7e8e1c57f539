# SPDX-License-Identifier: Apache-2.0
"""Rows of linear algebra: factorisations, and solvers that use them.

FLOPs of the direct methods are the operation counts of LAPACK (J. Dongarra et al., LAPACK Working Note 41,
appendix C), for each matrix of a batch. Eigenvalues and singular values are found by iterations whose
number depends on the values: their FLOPs are the customary ones of G. Golub and C. Van Loan, Matrix
Computations (sections 5.4, 7.5 and 8.3 of the third edition). They have no MACs, which only products have.
"""

from fractions import Fraction

from ._operators import Unpriced, first_out, formula, product, row, spec


def getrf(m, n):
    """L U of m x n."""
    m, n = max(m, n), min(m, n)
    return m * n ** 2 - Fraction(n ** 3, 3) - Fraction(n ** 2, 2) + Fraction(5 * n, 6)


def getrs(n, columns):
    return columns * (2 * n ** 2 - n)


def getri(n):
    """The inverse from L U."""
    return Fraction(4 * n ** 3, 3) - n ** 2 + Fraction(5 * n, 3)


def potrf(n):
    """The Cholesky factor."""
    return Fraction(n ** 3, 3) + Fraction(n ** 2, 2) + Fraction(n, 6)


def potri(n):
    """The inverse from the Cholesky factor."""
    return Fraction(2 * n ** 3, 3) + Fraction(n ** 2, 2) + Fraction(5 * n, 6)


def geqrf(m, n):
    """Q R by Householder's reflections."""
    if m >= n:
        return 2 * m * n ** 2 - Fraction(2 * n ** 3, 3) + m * n + n ** 2 + Fraction(14 * n, 3)
    return 2 * n * m ** 2 - Fraction(2 * m ** 3, 3) + 3 * n * m - m ** 2 + Fraction(14 * m, 3)


def orgqr(m, n, k):
    """The first n columns of the product of k reflections of length m."""
    return (4 * m * n * k - 2 * (m + n) * k ** 2 + Fraction(4 * k ** 3, 3) + 3 * n * k - m * k - k ** 2
            - Fraction(4 * k, 3))


def ormqr(m, columns, k):
    """The product of k reflections of length m with a matrix of m x columns."""
    return 4 * m * columns * k - 2 * columns * k ** 2 + 3 * columns * k


def svd(m, n, vectors, full):
    m, n = max(m, n), min(m, n)
    if not vectors:
        return 4 * m * n ** 2 - Fraction(4 * n ** 3, 3)
    return 4 * m ** 2 * n + 8 * m * n ** 2 + 9 * n ** 3 if full else 14 * m * n ** 2 + 8 * n ** 3


def eigh(n, vectors):
    return 9 * n ** 3 if vectors else Fraction(4 * n ** 3, 3)


def eig(n, vectors):
    return 25 * n ** 3 if vectors else 10 * n ** 3


# --- rows

def _matrices(t):
    """(how many matrices, rows, columns)"""
    shape = spec(t)[1]
    return product(shape[:-2]), shape[-2], shape[-1]


def _formula(type_, times, flops):
    return [formula(type_, round(times * flops))]


def _columns(t, batch, n):
    """Of a right-hand side, which may be one vector for each matrix."""
    return product(spec(t)[1]) // max(1, batch * n)


def of_matrix(type_, flops):
    """A row of a call whose FLOPs follow from the sizes of its first argument."""
    def build(a):
        t = next(v for v in (a.x, a.A, a.input) if v is not None)
        batch, m, n = _matrices(t)
        return _formula(type_, batch, flops(m, n))
    return build


row("linalg_lu_factor_ex", "linalg_lu", "_lu_with_info", "linalg_lu_factor")(
    of_matrix("LU", getrf))
row("linalg_inv_ex", "linalg_inv", "inverse")(of_matrix("Inverse", lambda m, n: getrf(m, n) + getri(n)))
row("linalg_cholesky_ex", "linalg_cholesky", "cholesky")(of_matrix("Cholesky", lambda m, n: potrf(n)))
row("cholesky_inverse")(of_matrix("Inverse", lambda m, n: potri(n)))
row("geqrf")(of_matrix("QR", geqrf))
row("_linalg_det", "linalg_det", "_linalg_slogdet")(of_matrix("Det", lambda m, n: getrf(m, n) + n))
row("linalg_eig", "_linalg_eig")(of_matrix("Eig", lambda m, n: eig(n, True)))
row("linalg_eigvals", "_linalg_eigvals")(of_matrix("Eig", lambda m, n: eig(n, False)))


@row("_linalg_solve_ex")
def _solve(a):
    batch, n, _ = _matrices(a.A)
    return _formula("Solve", batch, getrf(n, n) + getrs(n, _columns(first_out(a), batch, n)))


@row("linalg_lu_solve", "lu_solve", "cholesky_solve")
def _solve_factored(a):
    """Two triangular systems."""
    factor = next(v for v in (a.LU, a.LU_data, a.input2) if v is not None)
    batch, n, _ = _matrices(factor)
    columns = _columns(first_out(a), batch, n)
    return _formula("Solve", batch, 2 * n ** 2 * columns if a.name_ == "cholesky_solve" else getrs(n, columns))


@row("linalg_solve_triangular", "triangular_solve")
def _solve_triangular(a):
    batch, n, _ = _matrices(a.A if a.name_ == "triangular_solve" else a.x)
    return _formula("Solve", batch, n ** 2 * _columns(first_out(a), batch, n))


@row("linalg_qr")
def _qr(a):
    batch, m, n = _matrices(a.A)
    k = min(m, n)
    made = {"r": 0, "complete": orgqr(m, m, k)}.get(a.mode, orgqr(m, k, k))
    return _formula("QR", batch, geqrf(m, n) + made)


@row("linalg_householder_product")
def _householder_product(a):
    batch, m, n = _matrices(a.input)
    return _formula("QR", batch, orgqr(m, n, spec(a.tau)[1][-1]))


@row("ormqr")
def _ormqr(a):
    batch, m, n = _matrices(a.input2)
    return _formula("QR", batch, ormqr(m, n, spec(a.input2 if a.tau is None else a.tau)[1][-1]))


@row("linalg_lstsq")
def _lstsq(a):
    """Q R, its product with the right-hand side, a triangular system (LAPACK's gelsy and gels)."""
    batch, m, n = _matrices(a.x)
    k = min(m, n)
    columns = _columns(a.b if a.b is not None else a.B, batch, m)
    return _formula("Solve", batch, geqrf(max(m, n), k) + ormqr(max(m, n), columns, k) + k ** 2 * columns)


@row("_linalg_svd")
def _svd(a):
    batch, m, n = _matrices(a.A)
    return _formula("SVD", batch, svd(m, n, a.compute_uv is not False, a.full_matrices))


@row("linalg_matrix_exp")
def _matrix_exp(a):
    raise Unpriced("how many products it takes depends on the norm of the matrix")


@row("_linalg_eigh", "linalg_eigh")
def _eigh(a):
    batch, n, _ = _matrices(a.A)
    return _formula("Eigh", batch, eigh(n, a.compute_v is not False))
