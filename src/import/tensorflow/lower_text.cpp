// SPDX-License-Identifier: Apache-2.0
// Strings: they are constants, or computed from constants, and the compiler folds them
// (compile/fold_texts.cpp).
#include "import/tensorflow/lower.h"
#include "ops/dtype_set.h"
#include "tensor/onnx_type.h"

namespace anynpu::tensorflow {

void lower_as_string(Builder& b) {
  const char* notation = b.flag("scientific", false) ? "e" : b.flag("shortest", false) ? "g" : "f";
  b.out(0, b.node("anynpu.FormatNumbers", 1, {b.in(0)},
                  {{"notation", std::string(notation)},
                   {"precision", b.i("precision", -1)},
                   {"width", b.i("width", -1)},
                   {"fill", b.s("fill", "")}}));
}

void lower_change_case(Builder& b) {
  const bool unicode = b.word("encoding", "", {"", "utf-8"}) == "utf-8";
  b.out(0, b.node("anynpu.ChangeCase", 1, {b.in(0)},
                  {{"action", std::string(b.type() == "StringUpper" ? "UPPER" : "LOWER")},
                   {"unicode", static_cast<int64_t>(unicode)}}));
}

void lower_string_to_number(Builder& b) {
  const DType to = b.type("out_type", DType::f32);
  b.out(0, b.node("anynpu.ParseNumbers", 1, {b.in(0)}, {{"to", cast_number(to)}}));
}

}  // namespace anynpu::tensorflow
