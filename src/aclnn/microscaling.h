// SPDX-License-Identifier: Apache-2.0
// Microscaling (the OCP MX formats): blocks of 32 elements along an axis share a power of two,
// which is stored as one byte (float8_e8m0). The format is public; the layout of the scales and the
// meaning of scaleAlg and roundMode could not be checked against a document (docs/aclnn.md).
#pragma once

#include "aclnn/quantized.h"

namespace anynpu::aclnn {

struct MxRule {
  DType type;  // of the elements
  int64_t block = 32;
  int64_t algorithm =
      0;  // scaleAlg 0: OCP, the exponent of the largest; 1: rounded up, nothing is cut off
};
// Reads dstType (against the type of `out`), roundMode, blocksize, scaleAlg and dstTypeMax where
// the operator has them.
MxRule mx_rule(Recipe& r, Param out);

// Writes `x` (float32) quantised along `axis`, and its scales: pairs of blocks side by side in a
// last axis of two.
void out_mx(Recipe& r, Value x, int64_t axis, const MxRule& rule, Param y, Param scales);

}  // namespace anynpu::aclnn
