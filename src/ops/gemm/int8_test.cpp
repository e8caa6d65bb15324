// SPDX-License-Identifier: Apache-2.0
// Integer products by vector instructions are those of the plain loop, to the bit.
#include <gtest/gtest.h>

#include "ops/byte_case.h"
#include "ops/test_node.h"

namespace anynpu::ops::gemm {
namespace {

TEST(MatMulInteger, EveryKernelGivesTheBytesOfThePlainLoop) {
  for (const DType a : kByteTypes) {
    for (const DType b : kByteTypes) {
      for (const int64_t m : {1, 14, 15, 29}) {
        for (const int64_t k : {1, 3, 4, 70}) {
          for (const int64_t n : {1, 16, 17, 33, 64}) {
            ByteCase{"MatMulInteger"}.bytes(a, {m, k}).bytes(b, {k, n}).expect_same(n == 33 ? 1
                                                                                            : -1);
          }
        }
      }
    }
  }
}

TEST(MatMulInteger, ZeroPointsPerRowAndColumnAreTakenOff) {
  for (const DType a : kByteTypes) {
    for (const DType b : kByteTypes) {
      ByteCase{"MatMulInteger"}
          .bytes(a, {9, 21})
          .bytes(b, {21, 40})
          .bytes(a, {})
          .bytes(b, {})
          .expect_same(1);
      ByteCase{"MatMulInteger"}
          .bytes(a, {9, 21})
          .bytes(b, {21, 40})
          .bytes(a, {9})
          .bytes(b, {40})
          .expect_same(-1);
    }
  }
}

TEST(MatMulInteger, BatchesRepeatMatrices) {
  ByteCase{"MatMulInteger"}
      .bytes(DType::i8, {2, 1, 5, 6})
      .bytes(DType::i8, {3, 6, 7})
      .expect_same(-1);
  ByteCase{"MatMulInteger"}.bytes(DType::i8, {2, 3, 5, 6}).bytes(DType::i8, {6, 7}).expect_same(1);
  ByteCase{"MatMulInteger"}.bytes(DType::u8, {0, 6}).bytes(DType::i8, {6, 7}).expect_same(-1);
  ByteCase{"MatMulInteger"}.bytes(DType::u8, {2, 0}).bytes(DType::i8, {0, 7}).expect_same(-1);
}

TEST(MatMulInteger, LongSumsOfTheLargestBytesAreExact) {
  ByteCase{"MatMulInteger"}
      .bytes(DType::i8, {3, 70000}, 128, 128)
      .bytes(DType::i8, {70000, 5}, 128, 128)
      .expect_same(-1);
}

TEST(QLinearMatMul, RoundsToTheBytesOfThePlainLoop) {
  for (const DType type : kByteTypes) {
    ByteCase made{"QLinearMatMul"};
    made.bytes(type, {17, 30}).real(0.02f).bytes(type, {}).bytes(type, {30, 35}).real(0.05f);
    made.bytes(type, {}).real(0.9f).bytes(type, {}).expect_same(3);
  }
}

TEST(MatMulInteger, RefusesMatricesThatDoNotFit) {
  EXPECT_NE(TestNode("MatMulInteger")
                .shape({2, 3}, DType::u8)
                .shape({2, 3}, DType::i8)
                .shape_text()
                .find("cannot be multiplied"),
            std::string::npos);
}

}  // namespace
}  // namespace anynpu::ops::gemm
