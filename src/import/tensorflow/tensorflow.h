// SPDX-License-Identifier: Apache-2.0
// A frozen GraphDef of TensorFlow (1.x or 2.x) -> Graph. Weights stay views into the mapped file,
// which the graph keeps alive, unless they must be transposed. A bad file gives a Status that says
// where; one message lists all unsupported operators.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace anynpu::tensorflow {

struct ImportOptions {
  // Shapes of inputs by name, -1 for unknown dimensions; override the model's.
  std::map<std::string, Shape> shapes;
  // "node:index" each; empty: the tensors that no node reads.
  std::vector<std::string> outputs;
};

// The graph is verified; its outputs are the requested ones, in this order.
Result<graph::Graph> import_file(const std::string& path, const ImportOptions& options);

// `owner` keeps `bytes` alive.
Result<graph::Graph> import_memory(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner, const ImportOptions& options);

}  // namespace anynpu::tensorflow
