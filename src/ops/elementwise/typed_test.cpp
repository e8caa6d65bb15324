// SPDX-License-Identifier: Apache-2.0
// The typed engine against the block engine, which is the reference of its operators.
#include <cmath>
#include <limits>

#include "ops/check_kernel.h"
#include "ops/test_node.h"
#include "tensor/element.h"

namespace anynpu::ops::elementwise {
namespace {

std::vector<float> special_values() {
  const float inf = std::numeric_limits<float>::infinity();
  const float tiny = std::numeric_limits<float>::denorm_min();
  const float most = std::numeric_limits<float>::max();
  std::vector<float> values = {0.0f, NAN,  inf,  tiny,  most,      0.5f,
                               1.5f, 2.5f, 3.0f, 1e-7f, 8388607.5f};
  for (float value : {8388609.0f, 2147483648.0f, 9.3e18f, 1.9e19f, 20.0f, 30.5f, 88.0f, 104.0f,
                      524288.0f, 524289.0f, 1e10f, 255.0f, 256.7f, 65504.0f, 0.4999999701976776f})
    values.push_back(value);
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

// All inputs of `text` hold special values, each from another place on.
OpCase special_case(const std::string& text) {
  auto op_case = OpCase::parse(text);
  EXPECT_TRUE(op_case.ok()) << text << ": " << op_case.status().to_string();
  const auto context = op_case->context();
  EXPECT_TRUE(context.ok()) << text << ": " << context.status().to_string();
  const std::vector<float> values = special_values();
  for (size_t i = 0; i < context->inputs.size(); ++i) {
    auto& bytes = op_case->data()[i];
    visit_floats(context->inputs[i].dtype, [&](auto zero) {
      using T = decltype(zero);
      auto* x = reinterpret_cast<T*>(bytes.data());
      for (size_t j = 0; j < bytes.size() / sizeof(T); ++j)
        x[j] = Element<T>::store(values[(j + i * (1 + j / values.size())) % values.size()]);
    });
  }
  return *op_case;
}

void check_special(const std::string& text) {
  int compared = 0;
  const Status status = check_all_kernels(special_case(text), &compared);
  EXPECT_TRUE(status.ok()) << text << ": " << status.to_string();
  EXPECT_GE(compared, 1) << text;
}

constexpr const char* kFloatTypes[] = {"float32", "float16", "bfloat16", "float64"};

TEST(Typed, UnaryOperatorsTakeSpecialValuesAsTheReferenceDoes) {
  for (const std::string text :
       {"Round shape=2711", "Floor shape=2711", "Ceil shape=2711", "Sqrt shape=2711",
        "Softsign shape=2711", "HardSwish shape=2711 opset=14", "HardSigmoid shape=2711",
        "LeakyRelu shape=2711", "ThresholdedRelu shape=2711", "Shrink shape=2711",
        "Sign shape=2711", "IsNaN shape=2711", "IsInf shape=2711"}) {
    for (const char* type : kFloatTypes) check_special(text + " dtype=" + type);
  }
  for (const std::string text : {"Sin shape=2711", "Cos shape=2711", "Elu shape=2711",
                                 "Celu shape=2711", "Selu shape=2711"}) {
    for (const char* type : {"float32", "float16", "bfloat16"})
      check_special(text + " dtype=" + type);
  }
  check_special("Mish shape=2711 opset=18");
}

TEST(Typed, OperatorsOfTwoTakeSpecialValuesAsTheReferenceDoes) {
  for (const std::string text :
       {"Equal shape=2711,2711", "Less shape=2711,2711", "Greater shape=2711,2711",
        "LessOrEqual shape=2711,2711", "GreaterOrEqual shape=2711,2711", "Max shape=2711,2711",
        "Min shape=2711,2711", "Sum shape=2711,2711", "PRelu shape=2711,2711",
        "PRelu shape=3x5x701,5x1", "Max shape=3x5x701,5x1", "Less shape=3x5x701,5x1"}) {
    for (const char* type : kFloatTypes) check_special(text + " dtype=" + type);
  }
}

TEST(Typed, CastsTakeSpecialValuesAsTheReferenceDoes) {
  for (int to : {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16}) {
    for (const char* type : kFloatTypes)
      check_special("Cast shape=1040 to=" + std::to_string(to) + " dtype=" + type);
  }
}

TEST(Typed, ZerosKeepTheirSigns) {
  for (const char* op : {"Round", "Floor", "Ceil", "Sqrt", "Softsign", "HardSwish", "LeakyRelu",
                         "Sign", "Sin", "Mish", "Elu", "Celu", "Selu"}) {
    auto op_case = OpCase::parse(std::string(op) + " shape=70 opset=18");
    ASSERT_TRUE(op_case.ok());
    auto& bytes = op_case->data()[0];
    for (size_t i = 0; i < 70; ++i) reinterpret_cast<float*>(bytes.data())[i] = -0.0f;
    for (const KernelDef* kernel : Registry::instance().kernels(op)) {
      if (!check_kernel(*kernel, *op_case->context()).ok()) continue;
      const auto outputs = op_case->run(*kernel, Layout::plain);
      ASSERT_TRUE(outputs.ok());
      const auto* y = reinterpret_cast<const float*>((*outputs)[0].data());
      for (size_t i = 0; i < 70; ++i)
        ASSERT_TRUE(y[i] == 0 && std::signbit(y[i])) << op << ' ' << kernel->name << ' ' << i;
    }
  }
}

TEST(Typed, EveryTypeAndBroadcastAgreesWithTheReference) {
  for (const char* type : {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                           "float32", "float16", "bfloat16", "float64"}) {
    for (const char* op :
         {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Max", "Min"}) {
      for (const char* shapes :
           {"3x1x37,5x1", "4x4,scalar", "scalar,7", "scalar,1x1x1x1", "0x3,1x3", "2x3x4x5,3x1x5",
            "1000x4,4", "3x5,1x1", "1x17x3x5,1x17x3x5", "3x700x2,2"}) {
        const std::string text = std::string(op) + " shape=" + shapes + " dtype=" + type;
        check_cases({text.c_str()});
      }
    }
    for (int to : {1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 16}) {
      const std::string text = "Cast shape=1x17x3x61 to=" + std::to_string(to) + " dtype=" + type;
      check_cases({text.c_str()}, 0);
    }
    for (const char* shapes : {"3x5x7,3x5x7,3x5x7", "7,3x5x1,scalar", "3x1x1,1,5x7", "1x1,1,1"}) {
      const std::string text = std::string("Where shape=") + shapes + " dtype=bool," + type;
      check_cases({text.c_str()});
    }
  }
  check_cases({"And shape=3x700,700 dtype=bool",
               "Or shape=99,1 dtype=bool",
               "Xor shape=2x3,2x1 dtype=bool",
               "Not shape=1033 dtype=bool",
               "Equal shape=35,35 dtype=bool",
               "BitwiseAnd shape=77,77 dtype=int32 opset=18",
               "BitwiseOr shape=77,1 dtype=uint8 opset=18",
               "BitwiseXor shape=77,1 dtype=int64 opset=18",
               "BitwiseNot shape=5x7 dtype=uint16 opset=18",
               "Where shape=3,2x3,1 dtype=bool,bool",
               "Cast shape=33 to=1 dtype=bool",
               "Cast shape=33 to=10 dtype=bool",
               "Cast shape=33 to=9 dtype=bool",
               "Max shape=5x600,600,5x1,scalar,5x600",
               "Min shape=3x4,4 dtype=float16",
               "Max shape=1x19x3x5,scalar",
               "Min shape=1x16x3x5,1x16x3x5,1 dtype=bfloat16",
               "Max shape=9",
               "Sum shape=2x3,3,1",
               "Sum shape=2x700,700 dtype=float16"});
}

}  // namespace
}  // namespace anynpu::ops::elementwise
