// SPDX-License-Identifier: Apache-2.0
// Quantising by vector instructions gives the bytes of the plain loop.
#include <cmath>
#include <limits>

#include "ops/byte_case.h"
#include "ops/op_case.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::quantize {
namespace {

constexpr DType kFloatTypes[] = {DType::f32, DType::f16, DType::bf16};
constexpr DType kWholeTypes[] = {DType::u8, DType::i8, DType::u16, DType::i16};

// Floats about `middle` of any type, among them halves, numbers without bounds and NaN.
void add_floats(ByteCase& made, DType type, const Shape& shape, float middle, bool odd) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  constexpr float kOdd[] = {
      0.0f,  -0.0f,     0.5f,       1.5f,   -2.5f,
      1e30f, kInfinite, -kInfinite, -1e30f, std::numeric_limits<float>::quiet_NaN(),
      1e-42f};
  std::uniform_real_distribution<float> any(odd ? -300 * middle : middle / 2, 300 * middle);
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = odd && i % 3 == 0 ? kOdd[i / 3 % std::size(kOdd)] : any(made.random);
  }
  if (type == DType::f32) {
    made.values<float>(type, shape, values);
    return;
  }
  made.bytes(type, shape);
  narrow(type, values.data(), made.data.back().data(), values.size());
}

// x, the shape of its scale, the axis and the length of blocks.
struct Form {
  Shape x, scale;
  int64_t axis = 1, block = 0;
};
const Form kForms[] = {{{2, 5, 7}, {}},
                       {{3, 1000}, {1}},
                       {{2, 5, 7}, {5}},
                       {{2, 3, 300}, {3}},
                       {{4, 301}, {301}},
                       {{2, 19}, {2, 5}, 1, 4},
                       {{2, 9, 33}, {2, 3, 33}, 1, 4},
                       {{0, 5}, {}},
                       {{1}, {}, 0}};

void add_form(ByteCase& made, const Form& form) {
  made.number("axis", form.axis);
  if (form.block > 0) made.number("block_size", form.block);
}

TEST(QuantizeLinear, EveryKernelGivesTheBytesOfThePlainLoop) {
  for (const Form& form : kForms) {
    for (const DType x : kFloatTypes) {
      for (const DType scale : {DType::f32, x}) {
        for (const DType whole : kWholeTypes) {
          for (const int64_t opset : {21, 23}) {
            ByteCase made{"QuantizeLinear"};
            add_floats(made, x, form.x, 1, true);
            add_floats(made, scale, form.scale, 0.02f, false);
            made.bytes(whole, form.scale);
            add_form(made, form);
            EXPECT_GE(made.expect_same(-1, opset), opset == 21 || scale == x || x == DType::f32);
          }
        }
      }
    }
  }
}

TEST(QuantizeLinear, OneScaleServesBlockedTensors) {
  const auto made = OpCase::parse(
      "QuantizeLinear shape=2x21x5x7,scalar,scalar dtype=float32,float32,uint8 opset=13");
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  int compared = 0;
  const Status status = check_all_kernels(*made, &compared);
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_GE(compared, 2);
}

TEST(DequantizeLinear, EveryKernelGivesTheBytesOfThePlainLoop) {
  for (const Form& form : kForms) {
    for (const DType scale : kFloatTypes) {
      for (const DType whole : kWholeTypes) {
        ByteCase made{"DequantizeLinear"};
        made.bytes(whole, form.x);
        add_floats(made, scale, form.scale, 0.02f, false);
        if (form.x.size() != 2) made.bytes(whole, form.scale);
        add_form(made, form);
        EXPECT_GE(made.expect_same(-1, 21), 1);
      }
    }
  }
}

TEST(DynamicQuantizeLinear, EveryKernelGivesTheBytesOfThePlainLoop) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  for (const int64_t count : {0, 1, 3, 16, 33, 70000}) {
    for (const float first : {0.0f, 40.0f, kInfinite, std::nanf("")}) {
      ByteCase made{"DynamicQuantizeLinear"};
      std::uniform_real_distribution<float> any(first == 40 ? 30.0f : -3.0f, 50.0f);
      std::vector<float> x(static_cast<size_t>(count));
      for (float& value : x) value = any(made.random);
      if (count > 0) x[0] = first;
      if (count == 3) x.assign(3, 0.0f);
      made.values<float>(DType::f32, {count}, x);
      EXPECT_GE(made.expect_same(-1), 1);
    }
  }
}

}  // namespace
}  // namespace anynpu::ops::quantize
