// SPDX-License-Identifier: Apache-2.0
// Maps option names of the graph engine to options of atc.
#pragma once

#include "compile/compile.h"
#include "service/graph_build/graph_build.h"

namespace anynpu::service {

// Reads all options, with the checks of atc. Options that only matter on a card are accepted and
// ignored; an unknown name is refused with the most similar known one.
Result<compile::Options> read_graph_options(const GraphOptions& options);

}  // namespace anynpu::service
