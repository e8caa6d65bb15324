// SPDX-License-Identifier: Apache-2.0
// A sparse matrix applied along one axis: every output is a weighted sum of a few inputs (taps).
// Interpolation, reflect/replicate padding and average pooling are of this form; the gradient is
// the transposed matrix. The operator WeightedAxis (weighted_axis.cpp) applies it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace anynpu::ops {

struct AxisWeights {
  int64_t in = 0;
  std::vector<std::vector<std::pair<int64_t, double>>> rows;  // of each output: index, weight

  AxisWeights transposed() const {
    AxisWeights turned;
    turned.in = static_cast<int64_t>(rows.size());
    turned.rows.resize(static_cast<size_t>(in));
    for (size_t o = 0; o < rows.size(); ++o) {
      for (const auto& [place, weight] : rows[o])
        turned.rows[static_cast<size_t>(place)].emplace_back(static_cast<int64_t>(o), weight);
    }
    return turned;
  }

  // The constants of WeightedAxis: all rows padded to the taps of the longest. A shorter row
  // repeats its last index with the weight halved each time, so that it reads no other element; a
  // row without taps gets one of weight 0.
  struct Taps {
    int64_t per_output = 1;
    std::vector<int64_t> places;
    std::vector<double> weights;
  };
  Taps taps() const {
    Taps made;
    for (const auto& row : rows)
      made.per_output = std::max(made.per_output, static_cast<int64_t>(row.size()));
    for (const auto& row : rows) {
      for (const auto& [place, weight] : row) {
        made.places.push_back(place);
        made.weights.push_back(weight);
      }
      for (auto k = static_cast<int64_t>(row.size()); k < made.per_output; ++k) {
        made.places.push_back(row.empty() ? 0 : row.back().first);
        made.weights.push_back(row.empty() ? 0 : made.weights.back() /= 2);
      }
    }
    return made;
  }
};

}  // namespace anynpu::ops
