// SPDX-License-Identifier: Apache-2.0
// A frozen GraphDef of TensorFlow (1.x or 2.x) -> Graph. Weights stay views into the mapped file,
// which the graph keeps alive, as far as their order is right. Bad files give a Status that names
// the place; all operators that are not there come in one message.
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
  // Of inputs by name, -1 for extents that stay open; wins over what the model says.
  std::map<std::string, Shape> shapes;
  // "node:index" each; empty: what nothing in the model reads.
  std::vector<std::string> outputs;
};

// The graph is verified; its outputs are those asked for, in this order.
Result<graph::Graph> import_file(const std::string& path, const ImportOptions& options);

// `owner` keeps `bytes` alive.
Result<graph::Graph> import_memory(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner, const ImportOptions& options);

}  // namespace anynpu::tensorflow
