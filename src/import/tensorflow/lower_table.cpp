// SPDX-License-Identifier: Apache-2.0
// Tables of numbers whose entries are constants of the model: they become a search in a constant.
#include "import/tensorflow/lower.h"
#include "import/tensorflow/tensor_proto.h"

namespace anynpu::tensorflow {

namespace {

constexpr int64_t kMostEntries = 1 << 20;

const NodeDef* node_called(const GraphDef& graph, const std::string& name) {
  for (const NodeDef& node : graph.nodes) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

ValueId constant_called(Builder& b, const std::string& name) {
  const NodeDef* node = node_called(b.model().def, name);
  for (int steps = 0; node && node->op == "Identity" && !node->inputs.empty() && steps < 8; ++steps)
    node = node_called(b.model().def, node->inputs[0].node);
  if (!node || node->op != "Const") {
    b.refuse(Code::unsupported_feature,
             "the entries of its table come from '{}', which is no "
             "constant",
             name);
    return kNoValue;
  }
  const auto message = b.take(tensor_attr(*node, "value"));
  if (!b.ok() || !message) return kNoValue;
  ConstantTensor tensor = b.take(read_tensor(*message, b.model().owner, b.model().spread));
  return b.constant(tensor.dtype, std::move(tensor.shape), std::move(tensor.data));
}

struct TableEntries {
  ValueId keys = kNoValue, values = kNoValue;
};

// What fills the table that the current node reads.
TableEntries entries_of(Builder& b) {
  const std::string& table = b.def().inputs[0].node;
  for (const NodeDef& node : b.model().def.nodes) {
    const bool fills = node.op == "LookupTableImportV2" || node.op == "InitializeTableV2" ||
                       node.op == "LookupTableImport" || node.op == "InitializeTable";
    if (!fills || node.inputs.size() != 3 || node.inputs[0].node != table) continue;
    const TableEntries made{constant_called(b, node.inputs[1].node),
                            constant_called(b, node.inputs[2].node)};
    if (b.ok() && (b.dtype(made.keys) == DType::string || b.dtype(made.values) == DType::string)) {
      b.refuse(Code::unsupported_dtype,
               "its table '{}' holds strings; look the strings up outside of the model", table);
    }
    return made;
  }
  b.refuse(Code::unsupported_feature,
           "nothing in the model fills the table '{}'; freeze the model with the node that "
           "initialises it",
           table);
  return {};
}

}  // namespace

// The handle: nothing reads its value.
void lower_table(Builder& b) { b.out(0, b.whole(DType::i64, 0)); }

void lower_table_find(Builder& b) {
  const ValueId x = b.in(1), otherwise = b.in(2);
  if (!b.ok()) return;
  const TableEntries entries = entries_of(b);
  if (!b.ok()) return;
  if (element_count(b.shape(entries.keys)) > kMostEntries ||
      element_count(b.shape(entries.keys)) != element_count(b.shape(entries.values))) {
    return b.refuse(Code::limit_exceeded, "its table has {} keys and {} values",
                    element_count(b.shape(entries.keys)), element_count(b.shape(entries.values)));
  }
  const ValueId hits =
      b.cast(b.node("Equal", 13, {b.unsqueeze(x, {-1}), entries.keys}), DType::i32);
  const ValueId at =
      b.node("ArgMax", 13, {hits}, {{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}});
  const ValueId found = b.node("ReduceMax", 18, {hits, b.list({-1})}, {{"keepdims", int64_t{0}}});
  const ValueId value = b.node("Gather", 13, {entries.values, at});
  b.out(0, b.node("Where", 16, {b.cast(found, DType::boolean), value, otherwise}));
}

void lower_table_size(Builder& b) {
  const TableEntries entries = entries_of(b);
  if (b.ok()) b.out(0, b.whole(DType::i64, element_count(b.shape(entries.keys))));
}

}  // namespace anynpu::tensorflow
