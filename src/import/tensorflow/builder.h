// SPDX-License-Identifier: Apache-2.0
// Builder: what the lowering functions of operators (lower_*.cpp) work with. It holds the graph
// under construction and the current TensorFlow node. After the first failure every call does
// nothing, so that lowering functions need no error checks. Types and shapes of a node are inferred
// as it is added, and a node with constant inputs is folded at once, because TensorFlow models
// compute shapes with ordinary nodes.
//
// Layout. TensorFlow is channels-last (NHWC), our operators are channels-first (NCHW). A tensor
// that was computed channels-first stays so: operators that work in either layout (element-wise,
// along one axis) keep it, and a Transpose is added only for an operator that cannot. So there are
// none between convolutions.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapped_file.h"
#include "graph/graph.h"
#include "graph/unique_names.h"
#include "import/tensorflow/attr_value.h"
#include "import/tensorflow/tensorflow.h"

namespace anynpu::tensorflow {

using graph::kNoValue;
using graph::ValueId;
using NodeAttrs = std::map<std::string, graph::Attr>;
using Ints = std::vector<int64_t>;

struct TfOp;

// State shared by the builders of one model.
struct Model {
  const GraphDef& def;
  std::shared_ptr<const void> owner;  // of the bytes of the file
  const ImportOptions& options;
  const MappedFile* file = nullptr;  // where the bytes lie, if it is one
  size_t spread = 0;                 // bytes of constants expanded from short lists
  size_t nodes = 0;  // lowered so far; inlined calls can multiply the nodes of the file
  int depth = 0;     // of calls
};

// A tensor list whose element shape is not known yet: the first element that is set decides it.
struct UnshapedList {
  DType dtype = DType::undefined;
  PartialShape element;      // as the model states it
  PartialShape learnt;       // of the elements set, found by a trial lowering of the body
  bool conflicting = false;  // elements were set whose shapes differ in more than the first extent
  bool of_variants = false;  // each element is a row of a ragged tensor
};

// One output of a TensorFlow node: in the model's layout, channels-first, or both. A tensor list or
// array is one tensor with its elements along axis 0 (lower_list.cpp).
struct Tensor {
  ValueId plain = kNoValue;
  ValueId first = kNoValue;
  bool made_first = false;
  bool is_list = false;
  bool grows = false;                      // a list: setting an element past the end grows it
  std::shared_ptr<UnshapedList> unshaped;  // a list of unknown element shape: `plain` is its length
  // A list whose elements differ along their first axis: `plain` has all rows behind each other,
  // this the number of rows of each (int64). Only the operators of lists take it.
  ValueId lengths = kNoValue;
};

class Builder {
 public:
  Builder(Model& model, const std::string& graph_name) : model_(model) { graph_.name = graph_name; }

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  Model& model() { return model_; }
  graph::Graph& graph() { return graph_; }

  // The current node -----------------------------------------------------------------------------
  // Makes `def` current, with its inputs.
  void begin(const NodeDef& def, const TfOp* row, std::vector<Tensor> inputs);
  // Returns its outputs; the nodes that were added are named after it.
  std::vector<Tensor> end();
  // The current node, saved while a function call is inlined.
  struct Current {
    const NodeDef* def = nullptr;
    const TfOp* row = nullptr;
    std::vector<Tensor> inputs, outputs;
    std::string prefix;
  };
  Current suspend();
  void resume(Current current);
  // The outputs of `def` on `inputs`, added to the current node: for operators that are computed
  // part by part, or by means of another operator.
  std::vector<Tensor> lower_as(const NodeDef& def, const TfOp* row, std::vector<Tensor> inputs);
  // A tensor in the model's layout.
  ValueId plain(const Tensor& tensor);

  const NodeDef& def() const { return *def_; }
  const std::string& type() const { return def_->op; }
  const TfOp& row() const { return *row_; }
  size_t input_count() const { return inputs_.size(); }

  // Input `index` in the model's layout.
  ValueId in(size_t index);
  std::vector<ValueId> all_inputs();
  // As an int64 vector: axes, extents, indices. A scalar becomes a vector of one element.
  ValueId in_row(size_t index);
  // The elements of a constant integer input; refuses an input that is not constant.
  Ints in_values(size_t index);
  int64_t in_value(size_t index);
  double in_number(size_t index);  // a constant scalar of any type
  bool is_known(size_t index);
  const Tensor& tensor(size_t index) const { return inputs_[index]; }

  // Layout (layout.cpp): N, spatial axes, C in the model; N, C, spatial axes here.
  bool is_first(size_t index) const;
  ValueId in_first(size_t index);
  void out_first(size_t index, ValueId value);
  // From the attribute data_format: true for NHWC and NDHWC.
  bool channels_last();
  ValueId in_picture(size_t index) { return channels_last() ? in_first(index) : in(index); }
  void out_picture(size_t index, ValueId value) {
    channels_last() ? out_first(index, value) : out(index, value);
  }
  // All inputs of an element-wise operator in one layout: channels-first if one of them is and the
  // others can be, otherwise the model's.
  struct Aligned {
    std::vector<ValueId> ids;
    bool first = false;
    size_t rank = 0;
  };
  Aligned aligned();
  void out_aligned(size_t index, ValueId value, const Aligned& like) {
    like.first ? out_first(index, value) : out(index, value);
  }
  // Channels-first form of a constant or tensor that is broadcast to an image of `rank` axes.
  ValueId to_first(ValueId value, size_t rank);

  void out(size_t index, ValueId value);
  void out(size_t index, const Tensor& value);
  void out_list(size_t index, ValueId value, bool grows = false);
  void out_uneven_list(size_t index, ValueId rows, ValueId lengths);

  // Attributes of the current node.
  int64_t i(std::string_view name, int64_t otherwise) {
    return take(int_attr(*def_, name, otherwise));
  }
  float f(std::string_view name, float otherwise) {
    return take(float_attr(*def_, name, otherwise));
  }
  bool flag(std::string_view name, bool otherwise) {
    return take(bool_attr(*def_, name, otherwise));
  }
  std::string s(std::string_view name, const char* otherwise) {
    return take(text_attr(*def_, name, otherwise));
  }
  std::string word(std::string_view name, const char* otherwise,
                   std::initializer_list<std::string_view> taken);
  Ints ints(std::string_view name) { return take(ints_attr(*def_, name)); }
  std::vector<float> floats(std::string_view name) { return take(floats_attr(*def_, name)); }
  DType type(std::string_view name, DType otherwise);
  PartialShape partial_shape(std::string_view name) { return take(shape_attr(*def_, name)); }
  bool has_attr(std::string_view name) const { return def_->attrs.contains(name); }

  // Nodes ----------------------------------------------------------------------------------------
  // Operators of another domain than ONNX's are named with it: "anynpu.PsRoiPool".
  ValueId node(std::string_view name, int64_t opset, std::vector<ValueId> inputs,
               NodeAttrs attrs = {});
  std::vector<ValueId> nodes(std::string_view name, int64_t opset, std::vector<ValueId> inputs,
                             size_t outputs, NodeAttrs attrs = {});
  // A control flow node; the caller describes its outputs.
  std::vector<ValueId> flow_node(graph::Node node, std::vector<graph::Value> outputs);

  ValueId constant(DType dtype, Shape shape, std::shared_ptr<const graph::Constant> data);
  ValueId list(const Ints& values);           // a constant int64 vector
  ValueId scalar(DType dtype, double value);  // a constant of rank 0
  ValueId whole(DType dtype, int64_t value);  // the same, exact for all 64 bits
  ValueId filled(DType dtype, const Shape& shape, double value);
  ValueId cast(ValueId value, DType dtype);           // no-op if it has that type
  ValueId reshape(ValueId value, const Ints& shape);  // -1 and 0 as in Reshape
  ValueId transpose(ValueId value, const Ints& permutation);
  ValueId shape_of(ValueId value) { return node("Shape", 13, {value}); }  // int64
  ValueId squeeze(ValueId value, const Ints& axes) {
    return node("Squeeze", 13, {value, list(axes)});
  }
  ValueId unsqueeze(ValueId value, const Ints& axes) {
    return node("Unsqueeze", 13, {value, list(axes)});
  }
  // Elements [begin, end) along `axis`; an end of INT64_MAX means all.
  ValueId slice(ValueId value, int64_t axis, int64_t begin, int64_t end);
  ValueId index(ValueId value);  // as int64; refuses other than integers

  // The node that produces a value; null for inputs and constants. Valid until a node is added.
  const graph::Node* maker(ValueId id) const;

  // Values ---------------------------------------------------------------------------------------
  const graph::Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  DType dtype(ValueId id) const { return id == kNoValue ? DType::undefined : value(id).dtype; }
  const Shape& shape(ValueId id) const;
  bool has_shape(ValueId id) const { return id != kNoValue && value(id).has_shape; }
  bool is_fixed(ValueId id) const { return has_shape(id) && is_static(value(id).shape); }
  int64_t rank(ValueId id) const { return static_cast<int64_t>(shape(id).size()); }
  bool is_constant(ValueId id) const { return id != kNoValue && value(id).constant != nullptr; }
  // The elements of an integer constant; none when the value is not constant.
  std::optional<Ints> known(ValueId id) const;
  // The same with -1 for unknown elements; none when even their number is unknown.
  std::optional<Ints> partly_known(ValueId id) const;
  std::optional<double> known_number(ValueId id) const;

  // Outputs of SpaceToBatchND: a convolution between it and BatchToSpaceND becomes a dilated one
  // (lower_space.cpp).
  struct Blocks {
    ValueId source = kNoValue;  // in the model's layout
    Ints block, paddings;
  };
  void note_blocks(ValueId id, Blocks blocks) { blocks_[id] = std::move(blocks); }
  // Of a value in either layout; null if SpaceToBatchND did not produce it.
  const Blocks* blocks_of(ValueId first) const;
  // The channels-first form of a value in the model's layout.
  ValueId first_of(ValueId plain);

  // Whether the rank is known and in range; otherwise refuses, naming `what`.
  bool has_rank(ValueId id, const char* what, int64_t least, int64_t most = 8);
  // Whether all extents are known; otherwise refuses with the --input_shape that would help.
  bool need_fixed(ValueId id, const char* what);
  // An axis that may count from the end, counted from the front; refuses one out of range.
  int64_t axis(int64_t given, int64_t count);
  int64_t axis_of(int64_t given, ValueId id) { return axis(given, rank(id)); }

  template <typename... Args>
  void refuse(Code code, FormatString<Args...> text, const Args&... args) {
    if (ok()) refuse(fail(code, "{}", anynpu::format(text, args...)));
  }
  void refuse(Status status);

  template <typename T>
  T take(Result<T> result) {
    if (result.ok()) return std::move(*result);
    refuse(result.status());
    return T{};
  }

 private:
  void note_partial(const graph::Node& node);
  void name_nodes();
  std::string full_name() const { return prefix_ + def_->name; }
  ValueId new_value(std::string_view op);

  Model& model_;
  Status status_;
  graph::Graph graph_;
  const NodeDef* def_ = nullptr;
  const TfOp* row_ = nullptr;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  size_t first_node_ = 0;
  std::string prefix_;                         // of names: the function call that is being inlined
  std::unordered_map<ValueId, Ints> partial_;  // small integer vectors, -1 = unknown
  // Transposes that were added: to the model's layout, and to channels-first.
  std::unordered_map<ValueId, ValueId> to_last_, to_first_;
  std::unordered_map<ValueId, Blocks> blocks_;
  std::unordered_map<ValueId, size_t> makers_;  // index of the node
  graph::UniqueNames value_names_{2}, node_names_{2};
};

// The permutations of an image of `rank` axes: to channels-first, and back.
Ints to_first_order(size_t rank);
Ints to_last_order(size_t rank);
// The channels-first number of an axis of the model's layout.
inline int64_t first_axis(int64_t axis, size_t rank) {
  const auto last = static_cast<int64_t>(rank) - 1;
  return axis == 0 ? 0 : axis == last ? 1 : axis + 1;
}
// A list with one entry per axis, reordered from the model's layout to channels-first.
Ints first_list(const Ints& list);

}  // namespace anynpu::tensorflow
