// SPDX-License-Identifier: Apache-2.0
// The model files of MindSpore -> Graph of ONNX operators: .mindir, and .air, which is a graph of
// vendor operators. The format is recognised from the bytes. One message lists all unsupported
// primitives and operators, each with its node.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "graph/graph.h"
#include "import/ge/op_graph.h"

namespace anynpu::mindspore {

using ge::InputShapes;

Result<graph::Graph> import_file(const std::string& path, const InputShapes& shapes = {});

// The same from memory that `owner` keeps alive. `folder` is where files of weights lie; empty:
// such models are refused.
Result<graph::Graph> import_memory(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner,
                                   const InputShapes& shapes = {}, const std::string& folder = {});

// Whether the bytes begin as a .mindir does, or are a .air: the file belongs to --framework=1,
// whichever was given.
bool begins_as_mindspore(std::span<const std::byte> bytes);

}  // namespace anynpu::mindspore
