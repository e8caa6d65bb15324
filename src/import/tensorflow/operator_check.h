// SPDX-License-Identifier: Apache-2.0
// Whether every operator of a model is in the table: one message names all that are missing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/tensorflow/graph_def.h"

namespace anynpu::tensorflow {

// Looks at `nodes` and at the functions that they call. Variables get a sentence about freezing.
Status check_operators(const GraphDef& graph, const std::vector<const NodeDef*>& nodes);

// ", did you mean 'x'?", or nothing when no name is similar.
std::string near_name(const std::vector<std::string_view>& names, std::string_view name);

// Why an operator cannot be read; empty when it can.
std::string refusal_of(const std::string& op);

// Functions that a node calls.
std::vector<std::string> called_functions(const NodeDef& node);

}  // namespace anynpu::tensorflow
