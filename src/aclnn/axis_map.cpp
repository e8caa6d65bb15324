// SPDX-License-Identifier: Apache-2.0
#include "aclnn/axis_map.h"

namespace anynpu::aclnn {

AxisMap AxisMap::transposed() const {
  AxisMap turned(outputs, inputs);
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t i = 0; i < inputs; ++i) {
      turned.at(i, o) = weights[static_cast<size_t>(o * inputs + i)];
    }
  }
  return turned;
}

Value map_axes(Recipe& r, Value value, const std::vector<AxisMap>& maps) {
  for (size_t m = 0; m < maps.size(); ++m) {
    const AxisMap& map = maps[m];
    Shape shape = r.shape(value);
    const size_t axis = shape.size() - maps.size() + m;
    if (shape[axis] != map.inputs) {
      refuse("axis {} has {} elements; expected {}", axis, shape[axis], map.inputs);
    }
    int64_t before = 1, behind = 1;
    for (size_t i = 0; i < shape.size(); ++i) (i < axis ? before : behind) *= i == axis ? 1 : shape[i];
    shape[axis] = map.outputs;
    const Value matrix = r.constant(r.dtype(value), {map.outputs, map.inputs}, map.weights);
    const Value rows = r.reshape(value, {before, map.inputs, behind});
    value = r.reshape(r.op("MatMul", {matrix, rows}), shape);
  }
  return value;
}

Value gather_axes(Recipe& r, Value value, const std::vector<AxisIndex>& axes) {
  const size_t rank = r.shape(value).size();
  for (size_t m = 0; m < axes.size(); ++m) {
    const auto axis = static_cast<int64_t>(rank - axes.size() + m);
    value = r.op("Gather", {value, r.constant(axes[m])}, {{"axis", axis}});
  }
  return value;
}

AxisMap map_of(const AxisIndex& index, int64_t inputs) {
  AxisMap map(inputs, static_cast<int64_t>(index.size()));
  for (size_t o = 0; o < index.size(); ++o) map.at(static_cast<int64_t>(o), index[o]) += 1;
  return map;
}

}  // namespace anynpu::aclnn
