// SPDX-License-Identifier: Apache-2.0
// Parsed .mindir -> Graph: walks the nodes that the outputs depend on, inlines functions and
// converts each primitive to vendor operators.
#pragma once

#include "import/mindspore/mindir.h"
#include "import/mindspore/mindspore.h"

namespace anynpu::mindspore {

Result<graph::Graph> build_graph(const Model& model, std::shared_ptr<const void> owner,
                                 const InputShapes& shapes, const std::string& folder);

}  // namespace anynpu::mindspore
