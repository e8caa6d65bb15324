// SPDX-License-Identifier: Apache-2.0
// Writes graphs as text that atc --mode=5 and `anynpu graph` read: one for each stage of a
// conversion when DUMP_GE_GRAPH is set, or a single one.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "graph/graph.h"

namespace anynpu::compile {

// Writes one graph, atomically.
Status write_graph_text(const graph::Graph& graph, const std::string& model_name,
                        const std::string& path);

// One per conversion. Files are called ge_proto_00000_<model>_<stage>.txt, counted in their order,
// in a folder that is created if needed. If a file cannot be written, `warn` (may be empty) gets a
// message and the conversion continues.
class StageDump {
 public:
  using Warn = std::function<void(const std::string& message)>;
  StageDump(std::string model_name, Warn warn);
  void operator()(std::string_view stage, const graph::Graph& graph);

  // Names of the stages, in order.
  static constexpr std::string_view kBegin = "PreRunBegin";
  static constexpr std::string_view kPrepared = "PrepareAfterInferFormatAndShape";
  static constexpr std::string_view kTyped = "OptimizeOriginalGraph";
  static constexpr std::string_view kBuild = "Build";

 private:
  std::string model_name_, folder_;
  Warn warn_;
  int64_t level_ = 0;  // 0: nothing is written
  int count_ = 0;
};

}  // namespace anynpu::compile
