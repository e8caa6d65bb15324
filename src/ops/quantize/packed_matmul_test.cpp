// SPDX-License-Identifier: Apache-2.0
// Integer products by vector instructions are those of the plain loop, to the bit.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "ops/registry.h"

namespace anynpu::ops {
namespace {

using Bytes = std::vector<std::byte>;

// One node with its inputs; all kernels that take it must give the same bytes.
struct Case {
  std::string op;
  std::vector<Operand> operands = {};
  std::vector<Bytes> data = {};
  std::mt19937 random{7};

  Case& bytes(DType type, Shape shape, int low = 0, int high = 255) {
    std::uniform_int_distribution<int> any(low, high);
    Bytes values(static_cast<size_t>(element_count(shape)));
    for (std::byte& value : values) value = static_cast<std::byte>(any(random));
    operands.push_back(Operand::of(type, std::move(shape)));
    data.push_back(std::move(values));
    return *this;
  }
  Case& real(float value) {
    operands.push_back(Operand::of(DType::f32, {}));
    data.emplace_back(sizeof(value));
    std::memcpy(data.back().data(), &value, sizeof(value));
    return *this;
  }

  Result<Bytes> run(const KernelDef& def, const OpContext& context) const {
    ANYNPU_ASSIGN(auto kernel, def.create(context));
    Bytes packed(kernel->packed_bytes());
    ANYNPU_TRY(kernel->pack(context, packed));
    ANYNPU_ASSIGN(auto plan, kernel->plan(context));
    Bytes workspace(plan->workspace_bytes, std::byte{0xff});
    const Operand& output = context.outputs[0];
    Bytes out(bytes_of(output.dtype, element_count(output.shape)));
    std::vector<const std::byte*> inputs;
    for (size_t i = 0; i < data.size(); ++i) {
      inputs.push_back(kernel->packs_input(i) ? nullptr : data[i].data());
    }
    std::byte* outputs[] = {out.data()};
    ANYNPU_TRY(plan->run({inputs, outputs, packed.data(), workspace.data()}));
    return out;
  }

  // `constant`: the input that is known when the model is loaded, or -1.
  void expect_same(int constant) {
    graph::Node node;
    node.op = op;
    node.name = "test";
    node.opset = 13;
    node.outputs = {1000};
    std::vector<Operand> inputs = operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      node.inputs.push_back(static_cast<int>(i));
      inputs[i].is_constant = static_cast<int>(i) == constant;
      if (inputs[i].is_constant) inputs[i].constant = data[i];
    }
    const auto context = infer(node, inputs);
    ASSERT_TRUE(context.ok()) << context.status().to_string();
    const auto kernels = Registry::instance().kernels(op);
    const auto wanted = run(*kernels.back(), *context);
    ASSERT_TRUE(wanted.ok());
    for (const KernelDef* kernel : kernels) {
      if (kernel->can_run && !kernel->can_run(*context).ok()) continue;
      const auto actual = run(*kernel, *context);
      ASSERT_TRUE(actual.ok()) << kernel->name << ": " << actual.status().to_string();
      EXPECT_TRUE(*actual == *wanted) << kernel->name << ", " << to_string(operands[0].shape);
    }
  }
};

constexpr DType kByteTypes[] = {DType::u8, DType::i8};

TEST(MatMulInteger, EveryKernelGivesTheBytesOfThePlainLoop) {
  for (const DType a : kByteTypes) {
    for (const DType b : kByteTypes) {
      for (const int64_t m : {1, 14, 15, 29}) {
        for (const int64_t k : {1, 3, 4, 70}) {
          for (const int64_t n : {1, 16, 17, 33, 64}) {
            Case{"MatMulInteger"}.bytes(a, {m, k}).bytes(b, {k, n}).expect_same(n == 33 ? 1 : -1);
          }
        }
      }
    }
  }
}

TEST(MatMulInteger, ZeroPointsPerRowAndColumnAreTakenOff) {
  for (const DType a : kByteTypes) {
    for (const DType b : kByteTypes) {
      Case{"MatMulInteger"}
          .bytes(a, {9, 21})
          .bytes(b, {21, 40})
          .bytes(a, {})
          .bytes(b, {})
          .expect_same(1);
      Case{"MatMulInteger"}
          .bytes(a, {9, 21})
          .bytes(b, {21, 40})
          .bytes(a, {9})
          .bytes(b, {40})
          .expect_same(-1);
    }
  }
}

TEST(MatMulInteger, BatchesRepeatMatrices) {
  Case{"MatMulInteger"}.bytes(DType::i8, {2, 1, 5, 6}).bytes(DType::i8, {3, 6, 7}).expect_same(-1);
  Case{"MatMulInteger"}.bytes(DType::i8, {2, 3, 5, 6}).bytes(DType::i8, {6, 7}).expect_same(1);
  Case{"MatMulInteger"}.bytes(DType::u8, {0, 6}).bytes(DType::i8, {6, 7}).expect_same(-1);
  Case{"MatMulInteger"}.bytes(DType::u8, {2, 0}).bytes(DType::i8, {0, 7}).expect_same(-1);
}

TEST(MatMulInteger, LongSumsOfTheLargestBytesAreExact) {
  Case{"MatMulInteger"}
      .bytes(DType::i8, {3, 70000}, 128, 128)
      .bytes(DType::i8, {70000, 5}, 128, 128)
      .expect_same(-1);
}

TEST(QLinearMatMul, RoundsToTheBytesOfThePlainLoop) {
  for (const DType type : kByteTypes) {
    Case made{"QLinearMatMul"};
    made.bytes(type, {17, 30}).real(0.02f).bytes(type, {}).bytes(type, {30, 35}).real(0.05f);
    made.bytes(type, {}).real(0.9f).bytes(type, {}).expect_same(3);
  }
}

}  // namespace
}  // namespace anynpu::ops
