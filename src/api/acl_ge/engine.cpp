// SPDX-License-Identifier: Apache-2.0
// Starting and ending the graph engine.
#include "ge/ge_api.h"
#include "service/graph_build/operator_types.h"

namespace ge {

// The runtime starts with the first call that needs it.
graphStatus GEInitialize(const std::map<AscendString, AscendString>&) { return GRAPH_SUCCESS; }
graphStatus GEFinalize() { return GRAPH_SUCCESS; }

// Programs of the old layout of std::string compile the code that fills the map into themselves.
StatusFactory* StatusFactory::Instance() {
  return static_cast<StatusFactory*>(anynpu::service::status_texts_of_clients());
}

}  // namespace ge
