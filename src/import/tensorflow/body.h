// SPDX-License-Identifier: Apache-2.0
// Lowers a body: the nodes of the model, of a function, of a branch or of a loop. Only nodes that
// the results depend on are lowered, in topological order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/tensorflow/builder.h"

namespace anynpu::tensorflow {

// The tensors of a body by node name; the caller adds the arguments before it is lowered.
using Tensors = std::unordered_map<std::string, std::vector<Tensor>>;

// The nodes that `results` depend on, in topological order. Fails for a cycle and for a link to a
// node that does not exist; `arguments` are names that come from outside.
Result<std::vector<const NodeDef*>> needed_nodes(const std::vector<NodeDef>& nodes,
                                                 const std::vector<Link>& results,
                                                 const Tensors& arguments);

// Adds the nodes to `b`. `made` holds the arguments before the call and every tensor after it.
Status lower_body(Builder& b, const std::vector<NodeDef>& nodes, const std::vector<Link>& results,
                  Tensors& made);

// The tensor of a link. Fails when the node has no such output.
Result<Tensor> find_tensor(const Link& link, const Tensors& made,
                           const std::vector<NodeDef>& nodes);

// Inlines a function call into the current graph.
Result<std::vector<Tensor>> inline_function(Builder& b, const FunctionDef& function,
                                            const std::vector<Tensor>& arguments);

}  // namespace anynpu::tensorflow
