// SPDX-License-Identifier: Apache-2.0
// Names of the options of the graph engine, and the options of atc that they stand for.
#pragma once

#include "compile/compile.h"
#include "service/graph_build/graph_build.h"

namespace anynpu::service {

// Reads all options, with the checks that atc makes. Options that steer the card and change no
// result are accepted; a name that nobody knows is refused with the nearest one.
Result<compile::Options> read_graph_options(const GraphOptions& options);

}  // namespace anynpu::service
