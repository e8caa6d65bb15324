// SPDX-License-Identifier: Apache-2.0
// An offline model: the optimised graph and what a caller must know to feed it. Device-neutral.
// Immutable once read; share it freely.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace anynpu::om {

// What an input is for: the caller's data, or one that atc added.
enum class Role : int32_t { data = 0, gear = 1, aipp = 2 };

// Which dimensions the gears of a model set.
enum class GearKind : int32_t { none = 0, batch = 1, image = 2, dims = 3 };

constexpr size_t kMaxGears = 100;

// Even the rank is unknown before the model runs.
inline const Shape kUnknownRank = {-2};

using Range = std::pair<int64_t, int64_t>;  // both ends belong to it; an upper end of -1 = no limit

struct TensorInfo {
  std::string name;
  DType dtype = DType::undefined;
  Format format = Format::nd;
  Shape shape;        // -1 = chosen by a gear, or known at run time only
  uint64_t size = 0;  // bytes, of the largest gear; 0 while an extent is unknown
  Role role = Role::data;
  std::vector<Range> ranges = {};  // of an input whose shape comes at run time: one per dimension

  bool operator==(const TensorInfo&) const = default;
};

// AIPP in front of one input.
struct Aipp {
  size_t input = 0;
  bool dynamic = false;
  DType dtype = DType::undefined;     // of the input in the source model, and its shape
  Shape shape = {};                   // N, C, H, W; -1 = chosen by a gear or at run time
  bool nhwc = false;                  // the input in the source model is N, H, W, C
  int64_t max_source_bytes = 0;       // dynamic: what the pictures of a batch may take
  std::vector<std::byte> parameters;  // static: header and one block (ops/aipp/params.h)

  bool operator==(const Aipp&) const = default;
};

struct Meta {
  std::string name;          // of the model: the base name of --output
  std::string soc_version;   // as given to atc
  std::string producer;      // "AnyNPU 0.1.0"
  std::string command_line;  // of atc
  std::vector<std::pair<std::string, std::string>> options;  // those that were given, in order
  // In the order of Graph::inputs; inputs for gears and for dynamic AIPP follow, and are not in the
  // graph.
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;  // in the order of Graph::outputs
  GearKind gear_kind = GearKind::none;
  // Batch: {n}; image: {h, w}; dims: the extents of all data inputs, one after the other.
  std::vector<std::vector<int64_t>> gears;

  std::vector<Aipp> aipp;  // in order of their input
  // Passes that --fusion_switch_file switched off, for those that run when shapes are known.
  std::vector<std::string> passes_off;
  // Operators of the graph: their name, and the names of the source model's operators they replace.
  std::vector<std::pair<std::string, std::vector<std::string>>> origins;

  bool has_gears() const { return gear_kind != GearKind::none; }
  bool has_ranges() const {
    return std::any_of(inputs.begin(), inputs.end(),
                       [](const TensorInfo& info) { return !info.ranges.empty(); });
  }
  // Shapes are fixed when the model is loaded (gears) or run (ranges); the graph has unknown ones.
  bool is_dynamic() const { return has_gears() || has_ranges(); }

  bool operator==(const Meta&) const = default;
};

// Inputs, or outputs, that a model may have: more cannot be loaded.
constexpr size_t kMostTensors = 256;

struct Model {
  graph::Graph graph;
  Meta meta;
};

}  // namespace anynpu::om
