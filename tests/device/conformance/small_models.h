// SPDX-License-Identifier: Apache-2.0
// Models of a few operators, compiled here: the bytes of .om files.
#pragma once

#include <cstddef>
#include <vector>

namespace conformance {

constexpr size_t kRows = 4, kColumns = 64;

// y = relu(x) + x; x and y are float[4, 64].
std::vector<std::byte> relu_add_model();
// The places of the elements of x that are not 0: a shape that the run decides.
std::vector<std::byte> non_zero_model();

// y = softmax(relu(x) x weights) + x over the same shape: an operator in the middle that a back end
// with few kernels leaves to the host. Element (i, j) of the weights is mixed_weight(i, j).
std::vector<std::byte> mixed_model();
inline float mixed_weight(size_t row, size_t column) {
  return static_cast<float>((row * 7 + column * 3) % 11) * 0.01F - 0.05F;
}
// y = x[rows]: rows are int64[4], each a row of x.
std::vector<std::byte> rows_model();
// y = x + x if the sum of x is above 0, else relu(x).
std::vector<std::byte> branch_model();

}  // namespace conformance
