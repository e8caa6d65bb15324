// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/rules.h"

namespace anynpu::mindspore {

namespace {

DType type_of(const Call& call, ValueId id) {
  return id >= 0 ? call.graph.value(id).dtype : DType::undefined;
}

}  // namespace

// x, approximate: 0 or "none", 1 or "tanh".
Values rule_gelu(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  std::string how = "none";
  if (call.has(1)) {
    ANYNPU_ASSIGN(how, call.word(call.argument(1), "approximate", {"none", "tanh"}));
  }
  return call.add("GeluV2", {x}, {{"approximate", how}});
}

// x + alpha * y, or minus.
Values rule_scaled_sum(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(ValueId y, call.tensor(call.argument(1), type_of(call, x)));
  double alpha = 1;
  if (call.has(2)) {
    ANYNPU_ASSIGN(alpha, call.real(call.argument(2), "alpha"));
  }
  if (alpha != 1) {
    ANYNPU_ASSIGN(const ValueId factor, call.number(call.argument(2), type_of(call, y), "alpha"));
    ANYNPU_ASSIGN(y, call.step("Mul", {y, factor}));
  }
  return call.add(call.type.starts_with("Sub") ? "Sub" : "Add", {x, y}, {});
}

namespace {

// The whole part: the sign times the floor of what is left without it.
Result<std::vector<ValueId>> truncated(Call& call, ValueId x) {
  ANYNPU_ASSIGN(const ValueId sign, call.step("Sign", {x}));
  ANYNPU_ASSIGN(const ValueId size, call.step("Abs", {x}));
  ANYNPU_ASSIGN(const ValueId floor, call.step("Floor", {size}));
  return call.add("Mul", {sign, floor}, {});
}

}  // namespace

Values rule_trunc(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  return truncated(call, x);
}

// x, y, rounding: nothing or 0, 1 towards 0, 2 down.
Values rule_div_mod(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const ValueId y, call.tensor(call.argument(1), type_of(call, x)));
  int64_t rounding = 0;
  if (call.has(2)) {
    ANYNPU_ASSIGN(rounding, call.integer(call.argument(2), "rounding_mode"));
  }
  if (rounding == 2) return call.add("FloorDiv", {x, y}, {});
  if (rounding == 0) return call.add("Div", {x, y}, {});
  if (!is_floating(type_of(call, x))) return call.add("TruncateDiv", {x, y}, {});
  ANYNPU_ASSIGN(const ValueId ratio, call.step("Div", {x, y}));
  return truncated(call, ratio);
}

// Either end may be missing.
Values rule_clamp(Call& call) {
  ANYNPU_ASSIGN(ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const ValueId low, call.tensor(call.argument(1), type_of(call, x)));
  ANYNPU_ASSIGN(const ValueId high, call.tensor(call.argument(2), type_of(call, x)));
  if (low != kNoValue && high != kNoValue) {
    ANYNPU_ASSIGN(x, call.step("Maximum", {x, low}));
    return call.add("Minimum", {x, high}, {});
  }
  if (low != kNoValue) return call.add("Maximum", {x, low}, {});
  if (high != kNoValue) return call.add("Minimum", {x, high}, {});
  return call.add("Identity", {x}, {});
}

// Argmax has an axis; ArgMaxExt a dim, which may be missing, and keepdim.
Values rule_arg(Call& call) {
  const bool ext = call.type.ends_with("Ext");
  const bool max = call.type == "Argmax" || call.type == "ArgMaxExt";
  ANYNPU_ASSIGN(ValueId x, call.tensor(call.argument(0)));
  singleop::Attrs attrs;
  const Item& dim = ext ? call.argument(1) : call.stated("axis", 1);
  int64_t axis = 0;
  if (!dim.is_nothing()) {
    ANYNPU_ASSIGN(axis, call.integer(dim, "axis"));
    if (ext && call.has(2)) {
      ANYNPU_ASSIGN(const bool keep, call.flag(call.argument(2), "keepdim"));
      attrs["keep_dims"] = keep;
    }
  } else if (ext) {  // over all elements
    ANYNPU_ASSIGN(const ValueId flat, call.list({-1}));
    ANYNPU_ASSIGN(x, call.step("Reshape", {x, flat}));
  } else {
    axis = -1;
  }
  attrs["dimension"] = axis;
  return call.add(max ? "ArgMaxV2" : "ArgMin", {x}, std::move(attrs));
}

// MaxDim gives value and index; the vendor's operator the other way round.
Values rule_value_and_index(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const int64_t axis, call.integer(call.argument(1), "dim"));
  bool keep = false;
  if (call.has(2)) {
    ANYNPU_ASSIGN(keep, call.flag(call.argument(2), "keepdim"));
  }
  const bool max = call.type == "MaxDim";
  ANYNPU_ASSIGN(const ValueId axes, call.list({axis}));
  ANYNPU_ASSIGN(const ValueId value,
                call.step(max ? "ReduceMax" : "ReduceMin", {x, axes}, {{"keep_dims", keep}}));
  ANYNPU_ASSIGN(const ValueId index,
                call.step(max ? "ArgMaxV2" : "ArgMin", {x},
                          {{"dimension", axis}, {"keep_dims", keep}}, Format::nd, DType::i64));
  return std::vector<ValueId>{value, index};
}

// x, axis, keep_dims; newer forms may leave the axis out and name a type.
Values rule_reduce(Call& call) {
  ANYNPU_ASSIGN(ValueId x, call.tensor(call.argument(0)));
  std::vector<int64_t> axes;
  if (call.has(1)) {
    ANYNPU_ASSIGN(axes, call.integers(call.argument(1), "axis"));
  }
  const Item& stated = call.stated("keep_dims", 2);
  bool keep = false;
  if (!stated.is_nothing()) {
    ANYNPU_ASSIGN(keep, call.flag(stated, "keep_dims"));
  }
  std::string vendor = call.type;
  if (vendor == "Max" || vendor == "Min") vendor = "Reduce" + vendor;  // of all elements
  const bool ext = vendor.ends_with("Ext");
  if (ext) {
    vendor = "Reduce" + vendor.substr(0, vendor.size() - 3);
    if (call.has(3)) {
      ANYNPU_ASSIGN(const DType to, call.dtype(call.argument(3), "dtype"));
      ANYNPU_ASSIGN(x, call.step("Cast", {x}, {{"dst_type", to}}));
    }
  }
  std::vector<ValueId> inputs = {x};
  if (!axes.empty()) {
    ANYNPU_ASSIGN(const ValueId list, call.list(axes));
    inputs.push_back(list);
  }
  return call.add(vendor, std::move(inputs), {{"keep_dims", keep}});
}

// All elements along an axis in order, and where they were.
Values rule_sort(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  const bool ext = call.type == "SortExt";
  int64_t axis = -1;
  bool down = false;
  const Item& stated_axis = ext ? call.argument(1) : call.stated("axis", 1);
  const Item& stated_down = ext ? call.argument(2) : call.stated("descending", 2);
  if (!stated_axis.is_nothing()) {
    ANYNPU_ASSIGN(axis, call.integer(stated_axis, "axis"));
  }
  if (!stated_down.is_nothing()) {
    ANYNPU_ASSIGN(down, call.flag(stated_down, "descending"));
  }
  if (x < 0) return std::vector<ValueId>(call.output_count, OpGraph::kUnknown);
  const Shape& shape = call.shape(x);
  const int64_t rank = static_cast<int64_t>(shape.size());
  if (axis < -rank || axis >= rank) {
    return fail(Code::invalid_argument, "axis is {} for a tensor with {} axes", axis, rank);
  }
  ANYNPU_ASSIGN(const ValueId k,
                call.list({shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)]}));
  return call.add("TopKV2", {x, k}, {{"dim", axis}, {"largest", down}, {"sorted", true}});
}

// x times the transposed weights, plus a bias.
Values rule_dense(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const ValueId weight, call.tensor(call.argument(1)));
  ANYNPU_ASSIGN(const ValueId bias, call.tensor(call.argument(2)));
  if (bias == kNoValue) return call.add("BatchMatMulV2", {x, weight}, {{"adj_x2", true}});
  ANYNPU_ASSIGN(const ValueId product, call.step("BatchMatMulV2", {x, weight}, {{"adj_x2", true}}));
  return call.add("Add", {product, bias}, {});
}

}  // namespace anynpu::mindspore
