// SPDX-License-Identifier: Apache-2.0
// What members of ge::Session compiled with both layouts of std::string share.
#pragma once

#include "ge/ge_api.h"

namespace ge {

// GRAPH_FAILED, with the message that sessions run no graphs and what to do instead.
graphStatus refuse_graph(uint32_t id, const Graph& graph);

}  // namespace ge
