// SPDX-License-Identifier: Apache-2.0
#include "service/op/op_call.h"

#include <gtest/gtest.h>

#include "exec/custom_op.h"
#include "service/kernel/kernel_for_test.h"
#include "service/op/op_for_test.h"

namespace anynpu::service {
namespace {

using Pair = std::array<float, 2>;

class OpCallTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    prepare_op_models();
  }
  static Status synchronize() {
    ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(0));
    return stream->synchronize();
  }
  // c_ = a_ + b_
  void describe_add(OpForTest& op) {
    op.in(floats({2}), &a_, sizeof a_).in(floats({2}), &b_, sizeof b_);
    op.out(floats({2}), &c_, sizeof c_);
  }

  Pair a_{1, 2}, b_{10, 20}, c_{};
};

TEST_F(OpCallTest, ADescriptionIsCopied) {
  OpForTest call("Add");
  describe_add(call);
  call.attr->values["mode"] = int64_t{3};
  const auto op = read_op(call.arguments());
  ASSERT_TRUE(op.ok()) << op.status().to_string();
  call.input_descs[0].shape = {9};
  call.attr->values.clear();
  EXPECT_EQ(op->type, "Add");
  EXPECT_EQ(op->inputs.size(), 2u);
  EXPECT_EQ(op->inputs[0].shape, (Shape{2}));
  EXPECT_EQ(std::get<int64_t>(op->attrs.at("mode")), 3);
}

TEST_F(OpCallTest, AStorageThatRepeatsTheTensorChangesNothing) {
  OpForTest call("Add");
  describe_add(call);
  for (auto* descs : {&call.input_descs, &call.output_descs}) {
    for (size_t i = 0; i < descs->size(); ++i) {
      TensorDesc& desc = (*descs)[i];
      desc.storage_format = desc.format;
      desc.storage_shape = desc.shape;
    }
  }
  const auto op = read_op(call.arguments());
  ASSERT_TRUE(op.ok()) << op.status().to_string();
  OpForTest plain("Add");
  describe_add(plain);
  EXPECT_EQ(singleop::key_of(*op), singleop::key_of(*read_op(plain.arguments())));
  call.input_descs[0].storage_shape = {1, 2};
  EXPECT_NE(singleop::key_of(*read_op(call.arguments())), singleop::key_of(*op));
}

TEST_F(OpCallTest, InputsThatAnOperatorWritesNeedNoDescribedOutput) {
  Pair var{1, 2}, accum{10, 20}, grad{1, 1};
  float rate = 0.5f, momentum = 0.1f;
  OpForTest call("ApplyMomentum");
  call.in(floats({2}), &var, sizeof var).in(floats({2}), &accum, sizeof accum);
  call.in(floats({}), &rate, sizeof rate).in(floats({2}), &grad, sizeof grad);
  call.in(floats({}), &momentum, sizeof momentum);
  call.out(floats({2}), &var, sizeof var);
  const Status status = execute_op(call.arguments(), call.buffers(), Missing::compile, 0);
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_TRUE(synchronize().ok());
  EXPECT_EQ(accum, (Pair{2, 3}));   // accum * momentum + grad
  EXPECT_EQ(var, (Pair{0, 0.5f}));  // var - rate * accum
}

TEST_F(OpCallTest, AStepOfTrainingWorksInPlace) {
  OpForTest call("ApplyMomentum");
  for (const Shape& shape : {Shape{2}, Shape{2}, Shape{}, Shape{2}, Shape{}})
    call.in(floats(shape));
  call.out(floats({2})).out(floats({2}));
  const auto op = read_op(call.arguments());
  ASSERT_TRUE(op.ok()) << op.status().to_string();
  const auto model = exec::OpModels::instance().find_or_compile(*op);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_TRUE((*model)->works_in_place());
  EXPECT_FALSE((*prepare_op(*op, *model))->writes_inputs) << "nothing is copied first";
}

TEST_F(OpCallTest, ArraysThatAreNotThereAreRefused) {
  OpForTest call("Add");
  describe_add(call);
  const OpArguments good = call.arguments();
  const auto code_of = [&](auto change) {
    OpArguments bad = good;
    change(bad);
    return read_op(bad).status().code();
  };
  EXPECT_EQ(code_of([](OpArguments& a) { a.type = nullptr; }), Code::invalid_argument);
  EXPECT_EQ(code_of([](OpArguments& a) { a.inputs = -1; }), Code::invalid_argument);
  EXPECT_EQ(code_of([](OpArguments& a) { a.input_desc = nullptr; }), Code::invalid_argument);
  const void* none[] = {nullptr, nullptr};
  EXPECT_EQ(code_of([&](OpArguments& a) { a.input_desc = none; }), Code::invalid_handle);
  EXPECT_EQ(code_of([](OpArguments& a) { a.attr = nullptr; }), Code::ok) << "no attributes";
}

TEST_F(OpCallTest, AnOperatorIsCompiledWhenAskedForAndFoundFromThenOn) {
  OpForTest call("Add");
  describe_add(call);
  EXPECT_EQ(execute_op(call.arguments(), call.buffers(), Missing::fail, 0).code(),
            Code::unsupported_op);
  for (const Missing missing : {Missing::compile, Missing::fail}) {
    c_ = {};
    const Status status = execute_op(call.arguments(), call.buffers(), missing, 0);
    ASSERT_TRUE(status.ok()) << status.to_string();
    ASSERT_TRUE(synchronize().ok());
    EXPECT_EQ(c_, (Pair{11, 22}));
  }
}

TEST_F(OpCallTest, BuffersHaveToFitTheDescription) {
  OpForTest call("Add");
  describe_add(call);
  OpForTest small("Add");
  small.in(floats({2}), &a_, sizeof a_).in(floats({2}), &b_, 4).out(floats({2}), &c_, sizeof c_);
  EXPECT_FALSE(execute_op(small.arguments(), small.buffers(), Missing::compile, 0).ok());
  OpForTest one("Add");
  one.in(floats({2}), &a_, sizeof a_).out(floats({2}), &c_, sizeof c_);
  EXPECT_FALSE(execute_op(call.arguments(), one.buffers(), Missing::compile, 0).ok());
  EXPECT_EQ(c_, Pair{}) << "nothing ran";
}

TEST_F(OpCallTest, AHandleRunsWithoutItsDescription) {
  OpForTest call("Add");
  describe_add(call);
  const auto op = read_op(call.arguments());
  const auto model = exec::OpModels::instance().find_or_compile(*op);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const auto handle = prepare_op(*op, *model);
  ASSERT_TRUE(handle.ok()) << handle.status().to_string();
  EXPECT_NE((*handle)->plan, nullptr);
  EXPECT_EQ((*handle)->inputs, 2u);
  ASSERT_TRUE(submit_op(*handle, call.buffers(), 0, nullptr).ok());
  ASSERT_TRUE(synchronize().ok());
  EXPECT_EQ(c_, (Pair{11, 22}));
}

TEST_F(OpCallTest, AnOutputThatDependsOnValuesIsThereWhenTheCallReturns) {
  std::array<int64_t, 2> found{};
  OpForTest call("NonZero");
  b_ = {0, 5};
  TensorDesc indices = floats({1, -1});
  indices.dtype = DType::i64;
  call.in(floats({2}), &b_, sizeof b_).out(indices, &found, sizeof found);
  const Status status = execute_op(call.arguments(), call.buffers(), Missing::compile, 0);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(found[0], 1);
  EXPECT_EQ(call.output_descs[0].shape, (Shape{1, 1})) << "what it is stands in its description";
}

TEST_F(OpCallTest, ShapesAreWrittenIntoTheDescriptionOfEachOutput) {
  std::array<int32_t, 1> index{};
  std::array<float, 1> value{};
  OpForTest call("ArgMaxWithValue");
  call.attr->values["dimension"] = int64_t{0};
  TensorDesc indices = floats({kUnknownRank});
  indices.dtype = DType::i32;
  call.in(floats({2}), &a_, sizeof a_).out(indices, &index, sizeof index);
  call.out(floats({kUnknownRank}), &value, sizeof value);
  const Status status = execute_op(call.arguments(), call.buffers(), Missing::compile, 0);
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_TRUE(synchronize().ok());
  EXPECT_EQ(index[0], 1);
  EXPECT_EQ(value[0], 2);
  EXPECT_FALSE(call.output_descs[0].unknown_rank());
  EXPECT_FALSE(call.output_descs[1].unknown_rank());
}

TEST_F(OpCallTest, AnOperatorOfTheProgramsOwnRunsTheKernelThatWasChosen) {
  OpForTest call("MyCopy");
  call.in(floats({1}), &a_, 4).out(floats({1}), &c_, 4);
  auto kernel = exec::DeviceKernel::find(load_kernels(), "copy");
  ASSERT_TRUE(kernel.ok()) << kernel.status().to_string();
  auto& custom = exec::CustomOps::instance();
  custom.add_kernel("MyCopy", "id", *kernel);
  ASSERT_TRUE(
      custom.choose("MyCopy", singleop::key_of(*read_op(call.arguments())), {"id", 1, {}, {}})
          .ok());
  const Status status = execute_op(call.arguments(), call.buffers(), Missing::fail, 0);
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_TRUE(synchronize().ok());
  EXPECT_EQ(c_[0], 1);
  OpBuffers none = call.buffers();
  none.input = nullptr;
  EXPECT_EQ(execute_op(call.arguments(), none, Missing::fail, 0).code(), Code::invalid_argument);
  none = call.buffers();
  none.outputs = 0;
  EXPECT_EQ(execute_op(call.arguments(), none, Missing::fail, 0).code(), Code::op_output_mismatch);
  custom.clear();
}

TEST_F(OpCallTest, ShapesThatDoNotFitAreTheOperatorsInput) {
  EXPECT_EQ(op_failure(fail(Code::shape_mismatch, "x")).code(), Code::op_input_mismatch);
  EXPECT_EQ(op_failure(fail(Code::out_of_memory, "x")).code(), Code::out_of_memory);
  EXPECT_TRUE(op_failure({}).ok());
}

TEST_F(OpCallTest, ModelsEndWithTheLibrary) {
  OpForTest call("Add");
  describe_add(call);
  ASSERT_TRUE(execute_op(call.arguments(), call.buffers(), Missing::compile, 0).ok());
  ASSERT_TRUE(synchronize().ok());
  run_finalizers();
  EXPECT_EQ(exec::OpModels::instance().size(), 0u);
}

}  // namespace
}  // namespace anynpu::service
