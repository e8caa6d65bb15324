// SPDX-License-Identifier: Apache-2.0
// Graphs of the vendor's operators -> Graph of ONNX operators. Serves .air files and the
// description inside the vendor's .om files, where operators have been fused for the chip, tensors
// may be in its formats and constants are in another part of the file. The chip's formats are
// undone: the graph computes in the formats of the source model.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "import/ge/model_def.h"
#include "import/ge/op_graph.h"

namespace anynpu::ge {

struct Source {
  std::shared_ptr<const void> owner;   // of the memory that the ModelDef was read from
  std::span<const std::byte> weights;  // part 1 of a .om; empty for .air
};

// One message lists all unknown operators and all constants that are missing or whose format cannot
// be undone.
Result<graph::Graph> build_graph(const ModelDef& model, const Source& source,
                                 const InputShapes& shapes = {});

// An .air file's bytes.
Result<graph::Graph> import_air(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                const InputShapes& shapes = {});

// "conv1:0" -> operator and output; "conv1" is output 0. An index of -1 orders operators only.
struct Edge {
  std::string op;
  int64_t index = 0;
};
Edge parse_edge(const std::string& text);

}  // namespace anynpu::ge
