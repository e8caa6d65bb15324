// SPDX-License-Identifier: Apache-2.0
// The tables of names (README.md): what they promise exists.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "import/caffe/builder.h"
#include "import/singleop/table.h"
#include "import/tensorflow/table.h"
#include "ops/registry.h"

namespace anynpu {
namespace {

bool has_schema(std::string_view op) {
  for (const ops::OpSchema& schema : ops::Registry::instance().schemas()) {
    if (schema.name == op) return true;
  }
  return false;
}

// Each operator of "Mul + Add" or "MaxPool, AveragePool" has a schema.
void expect_schemas(std::string_view name, std::string_view becomes) {
  while (!becomes.empty()) {
    const size_t end = std::min(becomes.find_first_of(" ,"), becomes.size());
    std::string_view op = becomes.substr(0, end);
    op.remove_prefix(op.find('.') + 1);  // "anynpu.PsRoiPool"
    EXPECT_TRUE(op.empty() || op == "+" || has_schema(op)) << name << " becomes " << op;
    becomes.remove_prefix(std::min(end + 1, becomes.size()));
  }
}

TEST(Names, OfTheVendorBecomeOperatorsThatExist) {
  std::set<std::string_view> names;
  for (const singleop::VendorOp& op : singleop::vendor_ops()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name << " is there twice";
    expect_schemas(op.name, op.becomes);
    EXPECT_NE(op.lower == nullptr, op.opset == 0) << op.name << ": an opset or a function";
  }
  EXPECT_FALSE(names.empty());
}

TEST(Names, OfCaffeBecomeOperatorsThatExist) {
  std::set<std::string_view> names;
  for (const caffe::LayerType& type : caffe::layer_types()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name << " is there twice";
    expect_schemas(type.name, type.becomes);
    EXPECT_TRUE(type.add) << type.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST(Names, OfTensorFlowBecomeOperatorsThatExist) {
  std::set<std::string_view> names;
  for (const tensorflow::TfOp& op : tensorflow::tf_ops()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name << " is there twice";
    expect_schemas(op.name, op.becomes);
  }
  EXPECT_FALSE(names.empty());
}

TEST(Names, OfOneOperatorAreFoundForTheOptionsOfAtc) {
  EXPECT_EQ(singleop::onnx_name("Conv2D"), "Conv");
  EXPECT_EQ(singleop::onnx_name("Relu"), "Relu");
  EXPECT_EQ(singleop::onnx_name("NobodyKnows"), "NobodyKnows");
}

}  // namespace
}  // namespace anynpu
