// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "ops/test_node.h"

namespace anynpu::ops::gemm {
namespace {

// A case with drawn codes, and scales that keep the sums near 1.
Result<OpCase> drawn_case(const std::string& text, unsigned seed = 1) {
  ANYNPU_ASSIGN(OpCase made, OpCase::parse(text));
  ANYNPU_ASSIGN(const OpContext context, made.context());
  std::mt19937 random(seed);
  const bool linear = context.schema->name == "WeightOnlyMatMul";
  const size_t scale = linear ? 4 : 2;
  const bool four = linear ? context.inputs[1].dtype == DType::i4 : context.int_attr("bits") < 8;
  for (size_t i = 0; i < made.data().size(); ++i) {
    if (size_of(context.inputs[i].dtype) == 1) {
      for (std::byte& byte : made.data()[i]) byte = static_cast<std::byte>(random());
    }
    if (i != scale || context.inputs[i].dtype != DType::f32) continue;
    auto* elements = reinterpret_cast<float*>(made.data()[i].data());
    for (size_t at = 0; at < made.data()[i].size() / 4; ++at) elements[at] *= four ? 0.02f : 0.002f;
  }
  return made;
}

// Every kernel against sums in double, and the same bytes in a second run.
int expect_sums(const std::string& text) {
  const auto made = drawn_case(text);
  EXPECT_TRUE(made.ok()) << text << ": " << made.status().to_string();
  if (!made.ok()) return 0;
  int compared = 0;
  const Status status = check_all_kernels(*made, &compared);
  EXPECT_TRUE(status.ok()) << text << ": " << status.to_string();
  const auto context = made->context();
  const auto kernel = choose_kernel(*context);
  EXPECT_TRUE(kernel.ok()) << text;
  if (!kernel.ok()) return compared;
  const auto once = made->run(**kernel, Layout::plain), again = made->run(**kernel, Layout::plain);
  EXPECT_TRUE(once.ok() && again.ok() && *once == *again) << text;
  return compared;
}

std::string extents_text(std::initializer_list<int64_t> extents) {
  std::string text;
  for (const int64_t extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

// WeightOnlyMatMul over codes of `type`, of [k, n] or transposed; block 0: a scale for each column.
std::string weight_only_text(const std::string& type, int64_t m, int64_t k, int64_t n,
                             int64_t block, bool transposed, bool zeros,
                             const std::string& more = "") {
  const int64_t groups = block == 0 ? 1 : (k + block - 1) / block;
  const int64_t along_n = transposed ? 0 : 1, axis = block == 0 ? along_n : 1 - along_n;
  const std::string scale = block == 0   ? std::to_string(n)
                            : transposed ? extents_text({n, groups})
                                         : extents_text({groups, n});
  return "WeightOnlyMatMul domain=anynpu opset=1 shape=" + extents_text({m, k}) + "," +
         (transposed ? extents_text({n, k}) : extents_text({k, n})) + ",_,_," + scale +
         (zeros ? "," + scale : "") + " dtype=float32," + type + ",float32,float32,float32," +
         type + (zeros ? " const=1,4,5" : " const=1,4") + " transB=" + std::to_string(transposed) +
         " axis=" + std::to_string(axis) + " block_size=" + std::to_string(block) + more;
}

TEST(WeightOnlyMatMul, EveryKernelGivesTheSumsOfWidenedWeights) {
  int compared = 0;
  for (const char* type : {"int4", "int8", "uint8"}) {
    for (const bool transposed : {false, true}) {
      for (const int64_t block : {0, 8, 32, 33}) {
        for (const bool zeros : {false, true}) {
          for (const int64_t m : {1, 3, 9})
            compared += expect_sums(weight_only_text(type, m, 70, 75, block, transposed, zeros));
        }
      }
    }
  }
  EXPECT_GE(compared, 3 * 2 * 4 * 2 * 3 * 2);
}

TEST(WeightOnlyMatMul, OddSizesAndTails) {
  for (const char* type : {"int4", "int8"}) {
    for (const int64_t k : {1, 7, 8, 9, 257}) {
      for (const int64_t n : {1, 16, 17, 130}) {
        expect_sums(weight_only_text(type, 2, k, n, 0, true, true));
        expect_sums(weight_only_text(type, 17, k, n, 32, true, false));
      }
    }
    for (const int64_t m : {2, 4, 5, 6, 7, 8})
      expect_sums(weight_only_text(type, m, 100, 80, 16, false, true));
    expect_sums(weight_only_text(type, 17, 1300, 17, 32, true, true));
    expect_sums(weight_only_text(type, 3, 40, 20, 1, false, true));  // a scale for each weight
    expect_sums(weight_only_text(type, 9, 40, 20, 1, true, false));
    expect_sums(
        weight_only_text(type, 2, 40, 20, int64_t{1} << 62, true, false));  // a block beyond k
  }
}

TEST(WeightOnlyMatMul, OneScaleRowsOfBatchesBiasResidualAndActivation) {
  const std::string end = " const=1,2,4 transB=1 axis=0 alpha=0.5 activation=";
  for (const char* activation : {"Relu", "Gelu", "GeluTanh", "Tanh"}) {
    for (const char* rows : {"2x1", "3x7"}) {
      const std::string a(rows);
      expect_sums("WeightOnlyMatMul domain=anynpu opset=1 shape=" + a + "x40,50x40,50," + a +
                  "x50,scalar dtype=float32,int8,float32,float32,float32" + end + activation);
    }
  }
  expect_sums(weight_only_text("int4", 3, 64, 40, 32, true, true,
                               " activation=Clip activation_min=-0.1 activation_max=0.2"));
  expect_sums(weight_only_text("int8", 12, 64, 40, 32, true, true,
                               " activation=Clip activation_min=-0.1 activation_max=0.2"));
}

TEST(WeightOnlyMatMul, ShortFloatsAreWidened) {
  for (const char* type : {"float16", "bfloat16"}) {
    const std::string t(type);
    const auto made = drawn_case(
        "WeightOnlyMatMul domain=anynpu opset=1 shape=3x32,40x32,_,_,40x1 const=1,4"
        " transB=1 axis=1 block_size=32 dtype=" +
        t + ",int4," + t + "," + t + "," + t);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    int compared = 0;
    const Status status = check_all_kernels(*made, &compared);
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(compared, 4);  // widened and the reference, in two layouts
  }
}

TEST(WeightOnlyMatMul, NothingInNothingOut) {
  expect_sums(weight_only_text("int8", 0, 8, 20, 0, true, false));
  expect_sums(weight_only_text("int8", 2, 8, 0, 0, true, false));
  expect_sums(weight_only_text("int4", 2, 0, 20, 0, true, false));
}

TEST(WeightOnlyMatMul, RefusesScalesThatDoNotFit) {
  const auto said = [](const Shape& scale, int64_t axis, int64_t block) {
    return TestNode("WeightOnlyMatMul", 1, "anynpu")
        .shape({2, 8})
        .shape({8, 6}, DType::i8)
        .absent()
        .absent()
        .shape(scale)
        .attr("axis", axis)
        .attr("block_size", block)
        .shape_text();
  };
  EXPECT_EQ(said({6}, 1, 0), "2x6");
  EXPECT_EQ(said({2, 6}, 0, 4), "2x6");
  for (const auto& text : {said({5}, 1, 0), said({8}, 0, 0), said({2, 6}, 0, 0), said({2, 6}, 0, 3),
                           said({8, 2}, 1, 3), said({2, 6}, 0, -4)})
    EXPECT_NE(text.find("they do not fit"), std::string::npos) << text;
}

std::string n_bits_text(int64_t bits, int64_t m, int64_t k, int64_t n, int64_t block,
                        const char* zeros, bool bias) {
  const int64_t groups = (k + block - 1) / block;
  std::string text = "MatMulNBits domain=com.microsoft opset=1 shape=" + extents_text({m, k}) +
                     "," + extents_text({n, groups, block * bits / 8}) + "," +
                     std::to_string(n * groups);
  std::string types = " dtype=float32,uint8,float32", constants = " const=1,2";
  if (zeros || bias) {
    const bool packed = zeros && std::string(zeros) == "uint8";
    text +=
        !zeros ? ",_" : "," + std::to_string(packed ? n * ((groups * bits + 7) / 8) : n * groups);
    types += std::string(",") + (zeros ? zeros : "uint8");
    if (zeros) constants += ",3";
  }
  if (bias) text += ",_," + std::to_string(n), types += ",int32,float32", constants += ",5";
  return text + types + constants + " K=" + std::to_string(k) + " N=" + std::to_string(n) +
         " bits=" + std::to_string(bits) + " block_size=" + std::to_string(block);
}

TEST(MatMulNBits, EveryKernelGivesTheSumsOfWidenedWeights) {
  int compared = 0;
  for (const int64_t bits : {2, 4, 8}) {
    for (const char* zeros : {static_cast<const char*>(nullptr), "uint8", "float32"}) {
      for (const int64_t k : {32, 33, 95, 128}) {  // odd, and blocks that end behind it
        for (const int64_t m : {1, 10})
          compared += expect_sums(n_bits_text(bits, m, k, 37, 32, zeros, m == 1));
      }
      expect_sums(n_bits_text(bits, 4, 16, 20, 128, zeros, true));
    }
  }
  EXPECT_GE(compared, 3 * 3 * 4 * 2 * 2);
}

TEST(MatMulNBits, ReadsTheLowHalfFirstAndHasItsZeroInTheMiddle) {
  std::vector<float> a(16, 0.0f);
  a[0] = 1, a[1] = 10;
  const auto op = OpCase::parse(n_bits_text(4, 1, 16, 1, 16, nullptr, false));
  ASSERT_TRUE(op.ok());
  OpCase one = *op;
  std::memcpy(one.data()[0].data(), a.data(), 64);
  for (std::byte& byte : one.data()[1]) byte = std::byte{0x2b};  // 11 - 8 and 2 - 8
  const float half = 0.5f;
  std::memcpy(one.data()[2].data(), &half, 4);
  const auto context = one.context();
  ASSERT_TRUE(context.ok());
  const auto kernel = choose_kernel(*context);
  ASSERT_TRUE(kernel.ok());
  EXPECT_NE((*kernel)->name, "reference");
  const auto y = one.run(**kernel, Layout::plain);
  ASSERT_TRUE(y.ok());
  float value = 0;
  std::memcpy(&value, (*y)[0].data(), 4);
  EXPECT_EQ(value, 0.5f * (3 - 60));
}

TEST(MatMulNBits, RefusesWhatMakesNoSense) {
  const auto said = [](int64_t k, int64_t n, int64_t bits, int64_t block, const Shape& codes,
                       bool order = false) {
    TestNode node("MatMulNBits", 1, "com.microsoft");
    node.shape({2, 32}).shape(codes, DType::u8).shape({6});
    if (order) node.absent().shape({32}, DType::i32);
    return node.attr("K", k).attr("N", n).attr("bits", bits).attr("block_size", block).shape_text();
  };
  const Shape fits = {6, 1, 16};
  EXPECT_EQ(said(32, 6, 4, 32, fits), "2x6");
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(said(0, 6, 4, 32, fits), "K is 0");
  has(said(32, int64_t{1} << 62, 4, 32, fits), "expected 1 to");
  has(said(32, 6, 3, 32, fits), "bits is 3");
  for (const int64_t block : {0, 8, 24, -16}) has(said(32, 6, 4, block, fits), "power of two");
  has(said(32, 6, 4, 32, {6, 1, 15}), "expected 96 elements");
  has(said(31, 6, 4, 32, fits), "expected a last axis of 31");
  has(said(32, 6, 4, 32, fits, true), "g_idx");
}

}  // namespace
}  // namespace anynpu::ops::gemm
