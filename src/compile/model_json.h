// SPDX-License-Identifier: Apache-2.0
// Graphs as JSON and as protobuf text, with the field names of the card's model description: the
// output of atc --mode=1, --mode=5 and DUMP_GE_GRAPH. Weights are described without their
// bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "graph/graph.h"

namespace anynpu::compile {

// {"name": ..., "graph": [{"name", "op": [{"name", "type", "input", "attr", "input_desc",
// "output_desc"}]}]}. Inputs are ops of type Data, weights Const, outputs one NetOutput; an input
// "conv1:0" is output 0 of conv1.
json::Value to_json(const graph::Graph& graph, const std::string& model_name);

// The same tree as protobuf text, and back. In other protobuf text every field becomes a member,
// and a repeated one a list.
std::string to_prototext(const json::Value& tree);
Result<json::Value> from_prototext(std::string_view text);

}  // namespace anynpu::compile
