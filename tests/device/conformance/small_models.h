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

}  // namespace conformance
