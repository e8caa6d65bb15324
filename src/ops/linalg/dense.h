// SPDX-License-Identifier: Apache-2.0
// Decompositions of one matrix of doubles in row order, in place.
#pragma once

#include <cstdint>

namespace anynpu::ops::linalg {

// L and U in one, rows exchanged: order[i] is the row that stands at i. Returns the sign of the
// exchanges; a singular matrix has a 0 on the diagonal.
int decompose_lu(double* m, int64_t n, int64_t* order);
// Solves L U x = b for `columns` right sides, which are exchanged like the rows already.
void solve_lu(const double* lu, int64_t n, double* x, int64_t columns);
// The lower triangle, with 0 above; false when the matrix is not positive.
bool decompose_cholesky(double* m, int64_t n);
// Triangular systems by substitution; `adjoint` solves with the transposed matrix.
void solve_triangular(const double* m, int64_t n, double* x, int64_t columns, bool lower,
                      bool adjoint);
// Householder's: m (rows x columns) becomes R, q (rows x rows) the product of the reflections.
void decompose_qr(double* m, int64_t rows, int64_t columns, double* q);
// Jacobi's: eigenvalues of a symmetric matrix, ascending. `m` is used up.
void eigenvalues(double* m, int64_t n, double* values);
// Singular values of a matrix (rows >= columns), descending. `m` is used up.
void singular_values(double* m, int64_t rows, int64_t columns, double* values);

}  // namespace anynpu::ops::linalg
