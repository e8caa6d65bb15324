// SPDX-License-Identifier: Apache-2.0
// Decompositions of matrices (domain anynpu), computed in double: Cholesky, Qr, Svd, TriangularSolve,
// Inverse. Leading axes are batches.
#pragma once

#include "ops/registry.h"

namespace anynpu::ops::linalg {

void register_decompositions(Registry& registry);

}  // namespace anynpu::ops::linalg
