// SPDX-License-Identifier: Apache-2.0
// What an execution costs beside its kernels: no allocation, once as many have been in flight.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "compile/compile.h"
#include "om/container.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void* count_and_take(size_t bytes) {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// Of the whole test program; deletes stay as they are, since malloc stands behind both.
void* operator new(size_t bytes) { return count_and_take(bytes); }
void* operator new[](size_t bytes) { return count_and_take(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace anynpu::acl {
namespace {

// y = relu(x) + x, then a softmax: several steps, one of them in place.
std::vector<std::byte> small_model() {
  graph::Graph graph;
  graph.name = "net";
  const auto add = [&](const std::string& name) {
    graph::Value value;
    value.name = name;
    value.dtype = DType::f32;
    value.shape = {4, 64};
    value.has_shape = true;
    return graph.add_value(std::move(value));
  };
  const auto node = [&](const std::string& op, std::vector<graph::ValueId> inputs) {
    graph::Node made;
    made.op = op;
    made.opset = 13;
    made.name = op;
    made.inputs = std::move(inputs);
    made.outputs = {add(op + ":0")};
    graph.nodes.push_back(made);
    return made.outputs[0];
  };
  graph.inputs = {add("x")};
  const graph::ValueId sum = node("Add", {node("Relu", {graph.inputs[0]}), graph.inputs[0]});
  graph.outputs = {node("Softmax", {sum})};
  auto model = compile::compile(std::move(graph), {});
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return *om::to_bytes(*model);
}

class Execute : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const auto bytes = small_model();
    ASSERT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size(), &model_), ACL_SUCCESS)
        << aclGetRecentErrMsg();
    for (aclmdlDataset** set : {&input_, &output_}) {
      void* memory = nullptr;
      ASSERT_EQ(aclrtMalloc(&memory, 1024, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      *set = aclmdlCreateDataset();
      ASSERT_EQ(aclmdlAddDatasetBuffer(*set, aclCreateDataBuffer(memory, 1024)), ACL_SUCCESS);
    }
  }
  void TearDown() override {
    counting = false;
    aclmdlUnload(model_);
    aclFinalize();
  }

  template <typename Body>
  static int allocations_of(const Body& body) {
    body();  // what is kept for the next time is made now
    body();
    allocations = 0;
    counting = true;
    for (int i = 0; i < 50; ++i) body();
    counting = false;
    return allocations;
  }

  uint32_t model_ = 0;
  aclmdlDataset *input_ = nullptr, *output_ = nullptr;
};

TEST_F(Execute, ASynchronousExecutionAllocatesNothing) {
  EXPECT_EQ(allocations_of([&] { EXPECT_EQ(aclmdlExecute(model_, input_, output_), ACL_SUCCESS); }),
            0);
}

TEST_F(Execute, QueueingAndRunningExecutionsAllocatesNothing) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  const int count = allocations_of([&] {
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(aclmdlExecuteAsync(model_, input_, output_, stream), ACL_SUCCESS);
    }
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  });
  EXPECT_EQ(count, 0);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::acl
