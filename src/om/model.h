// SPDX-License-Identifier: Apache-2.0
// An offline model: the optimised graph and what a caller must know to feed it. Device-neutral.
// Immutable once read; share it freely.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace anynpu::om {

struct TensorInfo {
  std::string name;
  DType dtype = DType::undefined;
  Format format = Format::nd;
  Shape shape;        // -1 = known at run time only
  uint64_t size = 0;  // bytes; 0 while an extent is unknown

  bool operator==(const TensorInfo&) const = default;
};

struct Meta {
  std::string name;          // of the model: the base name of --output
  std::string soc_version;   // as given to atc
  std::string producer;      // "AnyNPU 0.1.0"
  std::string command_line;  // of atc
  std::vector<std::pair<std::string, std::string>> options;  // those that were given, in order
  std::vector<TensorInfo> inputs;                            // in the order of Graph::inputs
  std::vector<TensorInfo> outputs;                           // in the order of Graph::outputs

  bool operator==(const Meta&) const = default;
};

struct Model {
  graph::Graph graph;
  Meta meta;
};

}  // namespace anynpu::om
