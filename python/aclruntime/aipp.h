// SPDX-License-Identifier: Apache-2.0
// The parameters of a dynamic AIPP input, as the setters of the interface collect them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "aclruntime/failure.h"
#include "aclruntime/model.h"

namespace anynpu::aclruntime {

struct Aipp {
  bool active = false;
  uint64_t batch = 1;
  int format = 0;  // aclAippInputFormat
  std::array<int, 2> image{};
  int rbuv_swap = 0, ax_swap = 0;
  std::array<int, 16> csc{};     // switch, matrix by rows, output bias, input bias
  std::array<int, 5> crop{};     // switch, start w, start h, width, height
  std::array<int, 5> padding{};  // switch, top, bottom, left, right
  std::array<int, 4> mean{};
  std::array<float, 4> least{}, reciprocal{};
};

// Sets the parameters for one execution on `dataset`.
Failure apply(const Aipp& aipp, const Model& model, aclmdlDataset* dataset);

}  // namespace anynpu::aclruntime
