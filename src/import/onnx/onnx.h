// SPDX-License-Identifier: Apache-2.0
// ONNX ModelProto -> Graph. Large weights stay views into the mapped file, which the graph keeps
// alive; small ones are copied to aligned memory. A bad file gives a Status that says where; one
// message lists all unsupported operators.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace anynpu::onnx {

struct OpsetImport {
  std::string domain;  // "" = the default domain ("ai.onnx" is the same)
  int64_t version = 0;
};

struct Model {
  graph::Graph graph;  // verified
  std::vector<OpsetImport> opsets;
  int64_t ir_version = 0;
  std::string producer;  // "pytorch 2.1.0"
};

// External tensor data is looked up in the file's folder and never outside it.
Result<Model> import_file(const std::string& path);

// `owner` keeps `bytes` alive. Without a folder, external tensor data is refused.
Result<Model> import_memory(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                            const std::string& folder = {});

}  // namespace anynpu::onnx
