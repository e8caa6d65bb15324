// SPDX-License-Identifier: Apache-2.0
// Models compiled in the program's own process: parse, build, save. Options are pairs of texts
// under the names of the graph engine ("ge.socVersion"), which stand for options of atc
// (graph_options.h). Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace anynpu::service {

using GraphOptions = std::map<std::string, std::string>;

// Options of every model that is built until end_graph_builds(). Fails for a value that is wrong;
// the options of before stay then.
Status begin_graph_builds(const GraphOptions& options);
void end_graph_builds();

// A model of ONNX. The bytes may go after the call.
Result<graph::Graph> parse_onnx(std::span<const std::byte> bytes);
Result<graph::Graph> parse_onnx_file(const std::string& path);

// The offline model as the bytes of a .om file. `options` win over those of begin_graph_builds().
Result<std::vector<std::byte>> build_graph_model(const graph::Graph& graph, const std::string& name,
                                                 const GraphOptions& options);

// Writes the bytes of an offline model to `path`, whole or not at all; .om is added unless it is
// there. Fails for bytes that are no offline model.
Status save_graph_model(const std::string& path, std::span<const std::byte> bytes);

}  // namespace anynpu::service
