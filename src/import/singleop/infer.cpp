// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/table.h"

namespace anynpu::singleop {

namespace {

// The outputs of operators whose result depends on values: dynamic extents, with their upper
// bounds.
std::vector<TensorDesc> dynamic_outputs(const SingleOp& op) {
  const TensorDesc& x = op.inputs[0];
  const int64_t count = element_count(x.shape), rank = static_cast<int64_t>(x.shape.size());
  const auto found = op.attrs.find("transpose");
  const bool columns = op.type == "NonZero" && found != op.attrs.end() &&
                       std::get_if<bool>(&found->second) && std::get<bool>(found->second);
  std::vector<TensorDesc> outputs(op.outputs.size());
  for (size_t o = 0; o < outputs.size(); ++o) {
    TensorDesc& desc = outputs[o];
    const bool values = op.type.starts_with("Unique") && o == 0;
    desc.dtype = values ? x.dtype : op.type.starts_with("Unique") ? DType::i32 : DType::i64;
    if (op.type.starts_with("Unique")) {
      desc.shape = {o == 1 ? count : kDynamicDim};
    } else {
      desc.shape = columns ? Shape{rank, kDynamicDim} : Shape{kDynamicDim, rank};
    }
    for (int64_t extent : desc.shape) {
      desc.shape_ranges.push_back(extent < 0 ? Range{0, count} : Range{extent, extent});
    }
  }
  return outputs;
}

bool all_known(const SingleOp& op) {
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.has_input(i) && !op.inputs[i].is_constant) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<TensorDesc>> infer_outputs(SingleOp op) {
  for (TensorDesc& desc : op.outputs) {  // whatever was described: it is asked for
    desc = {};
    desc.format = Format::nd;
    desc.shape = {kUnknownRank};
  }
  ANYNPU_ASSIGN(const graph::Graph graph, build_graph(op));
  if (sized_by_values(*find_vendor_op(op.type)) && !all_known(op)) return dynamic_outputs(op);
  std::vector<TensorDesc> outputs;
  for (graph::ValueId id : graph.outputs) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    if (!value.has_shape) {
      return fail(Code::unsupported_shape,
                  "{}: the shape of output {} depends on the values of the inputs; pass their data",
                  op.type, outputs.size());
    }
    TensorDesc desc;
    desc.dtype = value.dtype;
    desc.format = Format::nd;
    desc.shape = value.shape;
    outputs.push_back(std::move(desc));
  }
  return outputs;
}

}  // namespace anynpu::singleop
