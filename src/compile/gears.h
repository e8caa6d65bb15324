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
// less than 2 or more than 100 gears, gears that are there twice and numbers below 1.
Result<Gears> parse_gears(const std::string& batch, const std::string& image,
                          const std::string& dims);

// `gears` against the open extents of the graph's inputs, in the form that om::Meta keeps. `shapes`
// gives the order in which the numbers of --dynamic_dims are meant.
Result<std::vector<std::vector<int64_t>>> fit_gears(const Gears& gears,
                                                    const std::vector<InputShape>& shapes,
                                                    const graph::Graph& graph, Format format);

// The shapes of the graph's inputs in one gear of om::Meta::gears. Fails for a gear that does not
// fill every open extent.
Result<std::vector<Shape>> gear_shapes(const graph::Graph& graph, om::GearKind kind,
                                       const std::vector<int64_t>& gear);

// Which of `gears` gives the model's inputs the most bytes, the first of several: the one that
// counts when none is chosen. Fails as gear_shapes() does.
Result<size_t> largest_gear(const graph::Graph& graph, om::GearKind kind,
                            const std::vector<std::vector<int64_t>>& gears);

}  // namespace anynpu::compile
