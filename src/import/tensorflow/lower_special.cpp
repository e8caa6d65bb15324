// SPDX-License-Identifier: Apache-2.0
// Rows with a parameter, and elements read as another type.
#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"
#include "ops/broadcast.h"
#include "tensor/onnx_type.h"

namespace anynpu::tensorflow {

// Rounds half to even; whole numbers stay.
void lower_round(Builder& b) {
  if (b.input_count() > 0 && b.ok() && !is_floating(b.dtype(b.in(0)))) return b.out(0, b.tensor(0));
  lower_elementwise(b);
}

// Towards zero; the division of whole numbers does so already.
void lower_truncate_div(Builder& b) {
  const Builder::Aligned x = b.aligned();
  if (!b.ok()) return;
  ValueId y = b.node("Div", 14, x.ids);
  if (is_floating(b.dtype(y))) y = b.node("anynpu.Trunc", 1, {y});
  b.out_aligned(0, y, x);
}

// Tensors whose shapes do not fit differ as a whole when the attribute says so.
void lower_equal(Builder& b) {
  const bool strict = b.flag("incompatible_shape_error", true);
  if (b.input_count() < 2) return b.refuse(Code::corrupt_model, "it has fewer than two inputs");
  const bool other = b.type() == "NotEqual";
  if (!strict) {
    const ValueId x = b.in(0), y = b.in(1);
    if (b.is_fixed(x) && b.is_fixed(y) && !ops::broadcast(b.shape(x), b.shape(y)).ok())
      return b.out(0, b.scalar(DType::boolean, other ? 1 : 0));
  }
  const Builder::Aligned aligned = b.aligned();
  if (!b.ok()) return;
  ValueId same = b.node("Equal", 13, aligned.ids);
  if (other) same = b.node("Not", 1, {same});
  b.out_aligned(0, same, aligned);
}

void lower_bitcast(Builder& b) {
  const DType to = b.type("type", DType::undefined);
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const bool same = size_of(to) == size_of(b.dtype(x));
  b.out(0,
        b.node(same ? "BitCast" : "anynpu.BitCast", same ? 26 : 1, {x}, {{"to", cast_number(to)}}));
}

// A row of function_rows.cpp with its parameter.
void lower_with_alpha(Builder& b) {
  const bool leaky = b.type() == "LeakyReluGrad";
  const float alpha = leaky ? b.f("alpha", 0.2f) : b.f("tolerance", 1e-5f);
  const Builder::Aligned x = b.aligned();
  if (b.ok()) b.out_aligned(0, b.node(b.row().becomes, 1, x.ids, {{"alpha", alpha}}), x);
}

}  // namespace anynpu::tensorflow
