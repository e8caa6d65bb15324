// SPDX-License-Identifier: Apache-2.0
// A .mindir that was read -> Graph: walks the nodes that the outputs need, calls functions in place
// and turns each primitive into an operator of the vendor.
#pragma once

#include "import/mindspore/mindir.h"
#include "import/mindspore/mindspore.h"

namespace anynpu::mindspore {

Result<graph::Graph> build_graph(const Model& model, std::shared_ptr<const void> owner,
                                 const InputShapes& shapes, const std::string& folder);

}  // namespace anynpu::mindspore
