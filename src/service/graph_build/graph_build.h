// SPDX-License-Identifier: Apache-2.0
// Compiling models in process: parse, build, save. Options are pairs of strings with the names of
// the graph engine ("ge.socVersion"), which are mapped to options of atc (graph_options.h).
// Thread-safe.
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

// Options of every model that is built until end_graph_builds(). Fails for a wrong value, and then
// keeps the previous options.
Status begin_graph_builds(const GraphOptions& options);
void end_graph_builds();

// Parses an ONNX model. The bytes may be freed after the call.
Result<graph::Graph> parse_onnx(std::span<const std::byte> bytes);
Result<graph::Graph> parse_onnx_file(const std::string& path);

// The offline model as the bytes of a .om file. `options` override those of begin_graph_builds().
Result<std::vector<std::byte>> build_graph_model(const graph::Graph& graph, const std::string& name,
                                                 const GraphOptions& options);

// Writes the bytes of an offline model to `path`, atomically; .om is appended if missing. Fails for
// bytes that are not an offline model.
Status save_graph_model(const std::string& path, std::span<const std::byte> bytes);

}  // namespace anynpu::service
