// SPDX-License-Identifier: Apache-2.0
// Folds what multiplies and shifts each column (channel) behind a MatMul, Gemm or ConvTranspose
// with constant weights into them: BatchNormalization, and Mul, Div, Add and Sub with constants.
// Reshapes that keep the columns as the last axis may lie between. A MatMul becomes a FusedMatMul
// with a bias. For Conv, see fold_batch_norm.cpp.
#include <algorithm>

#include "compile/affine.h"
#include "compile/def_use.h"
#include "compile/graph_edit.h"
#include "compile/passes.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// Where the output columns of a node's weights are: element i belongs to column
// i / inner % columns of its group, and groups of rows follow each other.
struct Columns {
  size_t columns = 0;  // of the output
  size_t inner = 1;    // elements behind the axis of columns
  size_t per_group = 0, group_elements = 0;
  size_t of(size_t element) const {
    return element / group_elements * per_group + element / inner % per_group;
  }
};

class Folder {
 public:
  explicit Folder(graph::Graph& graph) : graph_(graph), def_use_(graph), names_(graph) {}

  Status run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto columns = columns_of(graph_.nodes[n]);
      if (columns) fold(n, *columns);
    }
    ANYNPU_TRY(graph_.verify());
    ANYNPU_TRY(remove_identities(graph_));
    return remove_dead(graph_);
  }

 private:
  const graph::Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  const Shape& shape(ValueId id) const { return value(id).shape; }

  std::optional<Columns> columns_of(const Node& node) const {
    if (!node.domain.empty() || node.inputs.size() < 2 || node.inputs[0] == kNoValue ||
        node.inputs[1] == kNoValue || node.outputs.size() != 1)
      return {};
    const graph::Value& w = value(node.inputs[1]);
    if (!w.constant || w.dtype != DType::f32 || w.shape.size() < 2 || element_count(w.shape) < 1)
      return {};
    const auto elements = static_cast<size_t>(element_count(w.shape));
    const auto extent = [&](size_t axis) { return static_cast<size_t>(w.shape[axis]); };
    if (node.op == "MatMul" && w.shape.size() == 2 && shape(node.inputs[0]).size() >= 2)
      return Columns{extent(1), 1, extent(1), elements};
    if (node.op == "Gemm" && node.float_attr("alpha", 1) == 1 && node.float_attr("beta", 1) == 1) {
      const bool transposed = node.int_attr("transB", 0) != 0;
      const size_t columns = extent(transposed ? 0 : 1);
      return Columns{columns, transposed ? extent(1) : 1, columns, elements};
    }
    if (node.op == "ConvTranspose" && w.shape.size() >= 3) {
      const auto groups = static_cast<size_t>(node.int_attr("group", 1));
      const size_t per_group = extent(1);
      if (groups < 1 || extent(0) % groups != 0) return {};
      return Columns{per_group * groups, elements / extent(0) / per_group, per_group,
                     elements / groups};
    }
    return {};
  }

  // The bias as elements; false if it is no constant with one for each column.
  bool read_bias(const Node& node, std::vector<float>& bias) const {
    if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return true;
    auto elements = constant_elements<float>(graph_, node.inputs[2]);
    const Shape& of = shape(node.inputs[2]);
    if (of.empty() || of.back() != element_count(of) || elements.size() != bias.size())
      return false;
    bias = std::move(elements);
    return true;
  }

  // The chain behind node n: reshapes that keep the last axis, and affine nodes; those after the
  // last one that scales are left to other passes.
  struct Chain {
    std::vector<size_t> affine;  // nodes
    Affine sum;
  };
  Chain chain_of(const Node& node, const Columns& columns) const {
    const bool by_channel = node.op == "ConvTranspose";
    Chain all, kept;
    all.sum.factor.assign(columns.columns, 1.0);
    all.sum.shift.assign(columns.columns, 0.0);
    for (ValueId id = node.outputs[0];;) {
      const int user = def_use_.only_user(id);
      if (user < 0) return kept;
      const Node& next = graph_.nodes[static_cast<size_t>(user)];
      if (next.outputs.size() != 1 && next.op != "BatchNormalization") return kept;
      const Shape &from = shape(id), &to = shape(next.outputs[0]);
      if (next.op == "Reshape" && next.domain.empty() && !by_channel && !to.empty() &&
          !from.empty() && next.inputs[0] == id && from.back() == to.back() &&
          to.back() == static_cast<int64_t>(columns.columns)) {
        id = next.outputs[0];
        continue;
      }
      const size_t axis = by_channel ? 1 : from.size() - 1;
      const auto affine = read_affine(graph_, next, id, {columns.columns, from.size(), axis});
      if (!affine || from != to) return kept;
      for (size_t c = 0; c < columns.columns; ++c) {
        all.sum.factor[c] *= affine->factor[c];
        all.sum.shift[c] = all.sum.shift[c] * affine->factor[c] + affine->shift[c];
      }
      all.affine.push_back(static_cast<size_t>(user));
      id = next.outputs[0];
      const bool scales = std::any_of(affine->factor.begin(), affine->factor.end(),
                                      [](double factor) { return factor != 1; });
      if (scales || !kept.affine.empty()) kept = all;
    }
  }

  void fold(size_t n, const Columns& columns) {
    const Chain chain = chain_of(graph_.nodes[n], columns);
    if (chain.affine.empty()) return;
    Node node = graph_.nodes[n];
    std::vector<float> bias(columns.columns, 0.0f);
    if (!read_bias(node, bias)) return;
    auto w = constant_elements<float>(graph_, node.inputs[1]);
    bool fits = true;
    for (size_t i = 0; i < w.size(); ++i)
      fits = to_finite_float(w[i] * chain.sum.factor[columns.of(i)], w[i]) && fits;
    for (size_t c = 0; c < bias.size(); ++c)
      fits = to_finite_float(bias[c] * chain.sum.factor[c] + chain.sum.shift[c], bias[c]) && fits;
    if (!fits) return;
    const std::string name = value(node.inputs[1]).name;
    const Shape weights = shape(node.inputs[1]);
    node.inputs.resize(3, kNoValue);
    node.inputs[1] = add_constant(graph_, name + "_folded", weights, std::move(w), &names_);
    node.inputs[2] =
        add_constant(graph_, name + "_bias_folded", {static_cast<int64_t>(columns.columns)},
                     std::move(bias), &names_);
    if (node.op == "MatMul") {
      node.op = "FusedMatMul";
      node.domain = "anynpu";
      node.opset = 1;
    }
    graph_.nodes[n] = std::move(node);
    for (const size_t at : chain.affine) {
      Node& gone = graph_.nodes[at];
      ValueId x = gone.inputs[0];
      if (value(x).constant) x = gone.inputs[1];
      gone.op = "Identity";
      gone.opset = 13;
      gone.attrs.clear();
      gone.inputs = {x};
      gone.outputs.resize(1);
    }
  }

  graph::Graph& graph_;
  const DefUse def_use_;
  NewNames names_;
};

}  // namespace

Status fold_affine(graph::Graph& graph) { return Folder(graph).run(); }

}  // namespace anynpu::compile
