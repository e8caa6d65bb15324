// SPDX-License-Identifier: Apache-2.0
// Matrix products as stream tasks: c = alpha * a * b + beta * c. Transposition codes are 0 to 3
// (none, transposed, and both in the blocked format NZ), precision is 0 or 1. Thread-safe.
#pragma once

#include <initializer_list>

#include "base/handle_table.h"
#include "exec/blas.h"

namespace anynpu::service {

using exec::GemmPointers;

Status check_gemm_codes(std::initializer_list<int> transpositions, int precision);

// Leading dimensions are those of `gemm`.
Status submit_gemm(const exec::Gemm& gemm, int precision, const GemmPointers& at, Handle stream);
// A matrix times a vector: b and c are columns with steps `incx` and `incy` (-1 is 1).
Status submit_gemv(exec::Gemm gemm, int incx, int incy, int precision, const GemmPointers& at,
                   Handle stream);

}  // namespace anynpu::service
