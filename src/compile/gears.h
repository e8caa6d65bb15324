// SPDX-License-Identifier: Apache-2.0
// Gears: the input shapes that --dynamic_batch_size, --dynamic_image_size or --dynamic_dims let a
// program choose from at run time.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compile/input_shape.h"
#include "graph/graph.h"
#include "om/model.h"

namespace anynpu::compile {

struct Gears {
  om::GearKind kind = om::GearKind::none;
  // As written: one number per gear (batch), two (image), one per -1 of --input_shape (dims).
  std::vector<std::vector<int64_t>> values;
};

// The values of the three options, "" when one was not given. Fails when more than one was, and for
// less than 2 or more than 100 gears, repeated gears and numbers below 1.
Result<Gears> parse_gears(const std::string& batch, const std::string& image,
                          const std::string& dims);

// Matches `gears` with the unknown dimensions of the graph's inputs, in the form of om::Meta.
// `shapes` gives the order of the numbers of --dynamic_dims.
Result<std::vector<std::vector<int64_t>>> fit_gears(const Gears& gears,
                                                    const std::vector<InputShape>& shapes,
                                                    const graph::Graph& graph, Format format);

// The shapes of the graph's inputs in one gear of om::Meta::gears. Fails for a gear that does not
// set every unknown dimension.
Result<std::vector<Shape>> gear_shapes(const graph::Graph& graph, om::GearKind kind,
                                       const std::vector<int64_t>& gear);

// The gear with the largest inputs (the first of several): the default when none is chosen. Fails
// like gear_shapes().
Result<size_t> largest_gear(const graph::Graph& graph, om::GearKind kind,
                            const std::vector<std::vector<int64_t>>& gears);

}  // namespace anynpu::compile
