// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/model_for_test.h"
#include "import/onnx/onnx.h"

namespace anynpu::onnx {
namespace {

TEST(OnnxModel, BrokenModelsAreNamed) {
  WireWriter empty;
  EXPECT_EQ(import(empty.data()).status().code(), Code::parse_error);
  WireWriter no_opset;
  no_opset.message(7, WireWriter());
  EXPECT_NE(import(no_opset.data()).status().message().find("opset_import"), std::string::npos);
  WireWriter no_output;
  EXPECT_NE(import(model_of(no_output)).status().message().find("no outputs"), std::string::npos);
  WireWriter dangling;
  dangling.message(1, node("Relu", "r", {"nothing"}, {"y"}));
  dangling.message(12, value_info("y", {"1"}));
  EXPECT_NE(import(model_of(dangling)).status().message().find("'nothing'"), std::string::npos);
  EXPECT_EQ(import_file("/nowhere/m.onnx").status().code(), Code::file_not_found);
}

TEST(OnnxModel, EveryTruncationEndsInAStatus) {
  const std::string whole = sample();
  for (size_t size = 0; size < whole.size(); ++size) {
    // Cutting off whole trailing fields leaves a valid protobuf without opset: also refused.
    EXPECT_FALSE(import(whole.substr(0, size)).ok()) << size;
  }
}

TEST(OnnxModel, FlippedBitsNeverCrash) {
  const std::string whole = sample();
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    (void)import(damaged);
  }
}

}  // namespace
}  // namespace anynpu::onnx
