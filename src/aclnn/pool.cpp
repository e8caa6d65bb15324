// SPDX-License-Identifier: Apache-2.0
// Pooling and its gradients.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

std::vector<int64_t> pair_of(Recipe& r, const char* name, const std::vector<int64_t>& otherwise) {
  auto list = r.ints(name);
  if (list.empty()) list = otherwise;
  if (list.size() == 1) list.push_back(list[0]);
  if (list.size() != 2) refuse("{} has {} numbers; expected 1 or 2", name, list.size());
  return list;
}

// Largest elements and their places in the whole tensor. An input without a batch gets one.
std::vector<Value> max_pool(Recipe& r, Value x) {
  const auto kernel = pair_of(r, "kernelSize", {}), pad = pair_of(r, "padding", {0, 0});
  return r.ops("MaxPool", {x}, 2,
               {{"kernel_shape", kernel},
                {"strides", pair_of(r, "stride", kernel)},
                {"pads", std::vector<int64_t>{pad[0], pad[1], pad[0], pad[1]}},
                {"dilations", pair_of(r, "dilation", {1, 1})},
                {"ceil_mode", r.flag("ceilMode")}});
}

Value with_batch(Recipe& r, Value x) {
  Shape shape = r.shape(x);
  if (shape.size() == 3) shape.insert(shape.begin(), 1);
  if (shape.size() != 4) refuse("self has {} axes; expected 3 or 4", shape.size());
  return r.reshape(x, shape);
}

// The mask that the vendor's operator writes is for its own gradient alone, which here looks at
// the input again.
void max_pool_with_mask(Recipe& r) {
  const Value y = max_pool(r, with_batch(r, r.in("self")))[0];
  r.out("out", r.reshape(y, r.shape("out")));
}

void max_pool_with_mask_backward(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const Value places = max_pool(r, with_batch(r, r.cast(r.in("self"), type)))[1];
  const int64_t count = element_count(r.shape(places)), all = r.tensor("self").count();
  const Value grad = r.reshape(r.cast(r.in("gradOutput"), type), {count});
  const Value sums = r.op("ScatterElements",
                          {r.filled(type, {all}, 0), r.reshape(places, {count}), grad},
                          {{"axis", 0}, {"reduction", "add"}});
  r.out("gradInput", r.reshape(sums, r.shape("gradInput")));
}

const Row kRows[] = {
    {"aclnnMaxPool2dWithMask", max_pool_with_mask},
    {"aclnnMaxPool2dWithMaskBackward", max_pool_with_mask_backward},
};

}  // namespace

std::span<const Row> pool_rows() { return kRows; }

}  // namespace anynpu::aclnn
