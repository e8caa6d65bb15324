// SPDX-License-Identifier: Apache-2.0
#include "service/op/op_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "service/op/op_for_test.h"

namespace anynpu::service {
namespace {

namespace fs = std::filesystem;

class OpRecordTest : public ServiceTest {
 protected:
  void TearDown() override {
    ServiceTest::TearDown();
    fs::remove_all(folder_);
  }
  static singleop::SingleOp op(const std::string& type, Shape shape) {
    singleop::SingleOp op;
    op.type = type;
    op.inputs = op.outputs = {floats(std::move(shape))};
    op.attrs["mode"] = int64_t{3};
    return op;
  }
  // The operators in all files of the record, by the reader of `atc --singleop`.
  std::vector<singleop::SingleOp> recorded(size_t* files = nullptr) const {
    std::vector<singleop::SingleOp> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      if (files) ++*files;
      std::ifstream file(entry.path());
      const std::string text(std::istreambuf_iterator<char>(file), {});
      auto read = singleop::parse_file_text(text, entry.path().string());
      EXPECT_TRUE(read.ok()) << read.status().to_string();
      if (read.ok()) all.insert(all.end(), read->begin(), read->end());
    }
    return all;
  }

  std::string folder_ = testing::TempDir() + format("op_record_test_{}", ::getpid());
};

TEST_F(OpRecordTest, ItStartsAndStopsOnceAtATime) {
  EXPECT_FALSE(records_ops());
  EXPECT_EQ(stop_op_record().code(), Code::bad_call_order);
  ASSERT_TRUE(start_op_record(folder_.c_str()).ok());
  EXPECT_TRUE(fs::is_directory(folder_));
  EXPECT_TRUE(records_ops());
  EXPECT_EQ(start_op_record(folder_.c_str()).code(), Code::bad_call_order);
  EXPECT_TRUE(stop_op_record().ok());
  EXPECT_FALSE(records_ops());
}

TEST_F(OpRecordTest, EachDifferentOperatorHasAFileThatAtcReads) {
  ASSERT_TRUE(start_op_record(folder_.c_str()).ok());
  record_op(op("Relu", {2}));
  record_op(op("Relu", {2}));
  record_op(op("Relu", {3}));
  record_op(op("Abs", {4}));
  ASSERT_TRUE(stop_op_record().ok());
  size_t files = 0;
  const auto ops = recorded(&files);
  EXPECT_EQ(files, 3u);
  ASSERT_EQ(ops.size(), 3u);
  for (const auto& one : ops) {
    EXPECT_EQ(one.inputs[0].dtype, DType::f32);
    EXPECT_EQ(std::get<int64_t>(one.attrs.at("mode")), 3);
  }
}

TEST_F(OpRecordTest, AHandleIsRecordedWithTheExtentsOfItsRun) {
  ASSERT_TRUE(start_op_record(folder_.c_str()).ok());
  prepare_op_models();
  singleop::SingleOp relu = op("Relu", {2});
  relu.attrs.clear();
  const auto model = exec::OpModels::instance().find_or_compile(relu);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  record_op(**prepare_op(relu, *model));
  const auto ops = recorded();
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].inputs[0].shape, (Shape{2}));
}

TEST_F(OpRecordTest, AFileThatCannotBeWrittenIsNoFailure) {
  ASSERT_TRUE(start_op_record(folder_.c_str()).ok());
  fs::remove_all(folder_);
  std::ofstream(folder_) << "a file in its place";
  record_op(op("Relu", {2}));
  EXPECT_TRUE(stop_op_record().ok());
  EXPECT_FALSE(start_op_record((folder_ + "/inside").c_str()).ok());
  EXPECT_FALSE(records_ops());
}

TEST_F(OpRecordTest, FinalisingEndsIt) {
  ASSERT_TRUE(start_op_record(folder_.c_str()).ok());
  run_finalizers();
  EXPECT_FALSE(records_ops());
  EXPECT_EQ(stop_op_record().code(), Code::bad_call_order);
}

}  // namespace
}  // namespace anynpu::service
