// SPDX-License-Identifier: Apache-2.0
// The compiler behind atc: fixes input shapes, infers the rest, runs the passes and describes the
// result. A model with gears or ranges keeps its unknown dimensions: the passes that need shapes
// run when it is loaded. Pure: it reads and writes no files. Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/aipp_config.h"
#include "compile/gears.h"
#include "compile/input_shape.h"
#include "compile/out_nodes.h"
#include "compile/precision.h"
#include "graph/graph.h"
#include "om/model.h"

namespace anynpu::compile {

struct Options {
  std::string model_name;
  std::string soc_version;
  std::string producer;                // "AnyNPU 0.1.0"
  Format input_format = Format::nchw;  // of inputs of rank 4 (5 for NCDHW); the rest are ND
  std::vector<InputShape> input_shapes;
  Gears gears;
  std::vector<AippConfig> aipp;
  std::vector<std::string> out_nodes;  // empty: the outputs of the source model
  OutputTypes output_types;
  std::vector<std::string> fp16_inputs;
  std::vector<bool> blocked_inputs;   // one per fp16_inputs: in NC1HWC0
  std::vector<bool> blocked_outputs;  // one per output: float16 in NC1HWC0
  Precision precision;
  std::vector<std::string> passes_off;                     // pass_switch.h
  std::vector<std::pair<std::string, std::string>> given;  // options as written, for the record
  std::string command_line;
  // Called with each stage's name (stages.h) and graph; may be empty.
  std::function<void(std::string_view stage, const graph::Graph& graph)> on_stage;
  // Called with warnings for the user; may be empty.
  std::function<void(const std::string& message)> on_warning;
};

// `graph` is verified, as an importer returns it.
Result<om::Model> compile(graph::Graph graph, const Options& options);

}  // namespace anynpu::compile
