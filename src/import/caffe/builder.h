// SPDX-License-Identifier: Apache-2.0
// Builder: used by the functions of layers. It holds the graph, knows the current value of each
// blob name (in-place layers give a name a new value), and infers the shape of every node it adds.
// One layer is current at a time.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "graph/unique_names.h"
#include "import/caffe/caffe.h"
#include "import/caffe/net_text.h"
#include "import/caffe/weights.h"

namespace anynpu::caffe {

using graph::ValueId;
using Attrs = std::map<std::string, graph::Attr>;

constexpr int64_t kOpset = 13;  // the operator set nodes are written for

class Builder {
 public:
  Builder(const Weights* weights, const InputShapes& shapes) : weights_(weights), shapes_(shapes) {}

  // The whole net. One call per builder.
  Result<graph::Graph> build(const NetText& net);

  // For the functions of layers -------------------------------------------------------------------
  const Layer& layer() const { return *layer_; }
  size_t bottoms() const { return bottoms_.size(); }
  ValueId bottom(size_t index) const { return bottoms_[index]; }
  const Shape& shape(ValueId id) const { return graph_.values[static_cast<size_t>(id)].shape; }
  int64_t rank(ValueId id) const { return static_cast<int64_t>(shape(id).size()); }
  DType dtype(ValueId id) const { return graph_.values[static_cast<size_t>(id)].dtype; }

  // Refuse a layer with another number of bottoms or tops.
  Status expect(size_t bottoms, size_t tops) const;
  Status expect_at_least(size_t bottoms, size_t tops) const;
  // -1 means the last axis. Fails when out of range; `count` = the rank, or rank + 1.
  Result<int64_t> axis(int64_t given, int64_t count) const;
  // Fails unless all extents, or the one of `axis`, are known.
  Status need_static(ValueId id) const;
  Result<int64_t> extent(ValueId id, int64_t axis) const;

  // Weight `index` of the layer with the number of elements of `shape`.
  Result<ValueId> weight(size_t index, const Shape& shape);
  size_t weight_count() const;
  Result<const Blob*> blob(size_t index) const;

  ValueId constant(Shape shape, std::vector<float> elements);
  ValueId scalar(float value) { return constant({}, {value}); }
  ValueId integers(std::vector<int64_t> elements);  // one dimension

  // A node of the ONNX operator `op` (or of domain "anynpu"), its shapes inferred.
  Result<ValueId> add(std::string_view op, std::vector<ValueId> inputs, Attrs attrs = {},
                      std::string_view domain = {});
  Result<std::vector<ValueId>> add_several(std::string_view op, std::vector<ValueId> inputs,
                                           Attrs attrs, size_t outputs,
                                           std::string_view domain = {});
  Result<ValueId> reshape(ValueId id, std::vector<int64_t> shape);

  // The value of a top; each top once per layer.
  Status set_top(size_t index, ValueId id);
  Status set_top(size_t index, Result<ValueId> made) {
    return made.ok() ? set_top(index, *made) : made.status();
  }

 private:
  Status add_layer(const Layer& layer);
  Status add_input(const Layer& layer);
  Status find_bottoms(const Layer& layer);
  void name_nodes(size_t first_node);
  void bind(const std::string& top, ValueId id);
  Status add_outputs();
  Status report() const;

  const Weights* weights_;  // null: no file was given
  const InputShapes& shapes_;
  graph::Graph graph_;
  const Layer* layer_ = nullptr;
  std::vector<ValueId> bottoms_;
  std::vector<ValueId> tops_;
  struct Top {
    ValueId id;
    bool used;
  };
  std::unordered_map<std::string, Top> blobs_;
  std::vector<std::string> order_;           // blob names as they appeared
  std::unordered_set<std::string> unknown_;  // blobs that unsupported layers would make
  graph::UniqueNames value_names_{2}, node_names_{2};
  std::vector<std::string> unsupported_, without_weights_;
};

// Refuses absurd shapes, so that the functions of layers can count in 64 bits.
Status check_extents(const Shape& shape);

// Whether the layer needs blobs in the caffemodel.
bool needs_weights(const Layer& layer);

// Why a type is refused; empty when layers.cpp has it.
std::string refusal_of(const std::string& type);

// A row of the table from Caffe's names to ours (import/README.md describes its columns).
using LayerFunction = Status (*)(Builder& builder);
struct LayerType {
  std::string_view name;     // Caffe's: "Convolution"
  std::string_view becomes;  // operators with a schema: "Conv", "Mul + Add", "MaxPool, AveragePool"
  LayerFunction add;         // adds the nodes
};
std::span<const LayerType> layer_types();
// Null when there is none.
LayerFunction layer_function(std::string_view type);

}  // namespace anynpu::caffe
