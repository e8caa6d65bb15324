// SPDX-License-Identifier: Apache-2.0
// Models that queues drive: sets of inputs become results in order, whatever is full, empty, wrong,
// unloaded or reset meanwhile.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "acl/acl_tdt_queue.h"
#include "api/acl/queue_for_test.h"
#include "compile/compile.h"
#include "graph/graph.h"
#include "om/container.h"

namespace anynpu::acl {
namespace {

using Four = std::array<float, 4>;

// Four floats of each input; one output of each operator, which takes all the inputs.
std::vector<std::byte> net_of(size_t inputs, const std::vector<std::string>& operators) {
  graph::Graph graph;
  graph.name = "net";
  const auto value = [&](const std::string& name) {
    graph::Value made;
    made.name = name;
    made.dtype = DType::f32;
    made.shape = {4};
    made.has_shape = true;
    return graph.add_value(std::move(made));
  };
  for (size_t i = 0; i < inputs; ++i) graph.inputs.push_back(value("x" + std::to_string(i)));
  for (const std::string& op : operators) {
    graph::Node node;
    node.op = node.name = op;
    node.opset = 13;
    node.inputs = graph.inputs;
    node.outputs = {value(op + ":0")};
    graph.outputs.push_back(node.outputs[0]);
    graph.nodes.push_back(std::move(node));
  }
  auto compiled = compile::compile(std::move(graph), {});
  EXPECT_TRUE(compiled.ok()) << compiled.status().to_string();
  return *om::to_bytes(*compiled);
}

class ModelQueues : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override { aclFinalize(); }

  static aclError load(const std::vector<std::byte>& net, const std::vector<uint32_t>& in,
                       const std::vector<uint32_t>& out, uint32_t* id) {
    return aclmdlLoadFromMemWithQ(net.data(), net.size(), id, in.data(), in.size(), out.data(),
                                  out.size());
  }
  static uint32_t loaded(const std::vector<std::byte>& net, const std::vector<uint32_t>& in,
                         const std::vector<uint32_t>& out) {
    uint32_t id = 0;
    EXPECT_EQ(load(net, in, out, &id), ACL_SUCCESS) << aclGetRecentErrMsg();
    return id;
  }
  static void feed(uint32_t id, float first, size_t floats = 4) {
    const Four data = {first, first + 1, first + 2, first + 3};
    ASSERT_EQ(acltdtEnqueueData(id, data.data(), floats * 4, nullptr, 0, -1, 0), ACL_SUCCESS);
  }
  // The floats of the next buffer.
  static std::vector<float> next(uint32_t id, int32_t timeout = -1) {
    Four data = {};
    size_t bytes = 0;
    const aclError ret = acltdtDequeueData(id, data.data(), 16, &bytes, nullptr, 0, timeout);
    if (ret != ACL_SUCCESS) return {static_cast<float>(ret)};
    return {data.begin(), data.begin() + bytes / 4};
  }
  static std::vector<float> row(float first, float step) {
    return {first, first + step, first + 2 * step, first + 3 * step};
  }
};

TEST_F(ModelQueues, ABufferOfEveryInputQueueMakesOneOfEveryOutputQueueInOrder) {
  const uint32_t a = make_queue(), b = make_queue(), sum = make_queue(), product = make_queue();
  const uint32_t model = loaded(net_of(2, {"Add", "Mul"}), {a, b}, {sum, product});
  for (float i = 0; i < 20; ++i) {
    feed(a, i);
    feed(b, 100);
    EXPECT_EQ(next(sum), row(100 + i, 2));
    EXPECT_EQ(next(product)[0], i * 100);
  }
  EXPECT_EQ(acltdtDestroyQueue(b), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("aclmdlUnload"), std::string::npos);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);  // it waits for input, nobody waits for it
  EXPECT_EQ(aclmdlUnload(model), ACL_SUCCESS);
  for (const uint32_t id : {a, b, sum, product}) EXPECT_EQ(acltdtDestroyQueue(id), ACL_SUCCESS);
}

TEST_F(ModelQueues, ModelsAreChainedByAQueue) {
  constexpr int kRuns = 300;
  const uint32_t in = make_queue(1), between = make_queue(1), out = make_queue(1);
  const uint32_t negate = loaded(net_of(1, {"Neg"}), {in}, {between});
  const uint32_t clip = loaded(net_of(1, {"Abs"}), {between}, {out});
  std::thread feeding([&] {
    for (int i = 0; i < kRuns; ++i) feed(in, static_cast<float>(i));
  });
  for (int i = 0; i < kRuns; ++i) EXPECT_EQ(next(out), row(static_cast<float>(i), 1));
  feeding.join();
  EXPECT_EQ(aclmdlUnload(negate), ACL_SUCCESS);
  EXPECT_EQ(aclmdlUnload(clip), ACL_SUCCESS);
}

TEST_F(ModelQueues, AFailedRunLeavesAnEmptyBufferAndTheNextOneWorks) {
  static std::atomic<int> told{0};
  told = 0;
  ASSERT_EQ(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) { ++told; }), ACL_SUCCESS);
  const uint32_t in = make_queue(), between = make_queue(), out = make_queue();
  loaded(net_of(1, {"Neg"}), {in}, {between});
  loaded(net_of(1, {"Neg"}), {between}, {out});
  feed(in, 1, 3);  // a float too few
  feed(in, 2);
  EXPECT_EQ(next(out), std::vector<float>());
  EXPECT_EQ(next(out), row(2, 1));
  EXPECT_EQ(told, 2);  // the empty buffer is no input of the second model either
  acltdtBuf head = nullptr, tail = nullptr;
  ASSERT_EQ(acltdtAllocBuf(8, 0, &head), ACL_SUCCESS);
  ASSERT_EQ(acltdtAllocBuf(8, 0, &tail), ACL_SUCCESS);
  ASSERT_EQ(acltdtAppendBufChain(head, tail), ACL_SUCCESS);
  ASSERT_EQ(acltdtEnqueue(in, head, -1), ACL_SUCCESS);
  EXPECT_EQ(next(out), std::vector<float>());
  ASSERT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
}

TEST_F(ModelQueues, UnloadingEndsAWaitForInputAndLeavesWhatHasNoPartner) {
  const uint32_t a = make_queue(), b = make_queue(), out = make_queue();
  const uint32_t model = loaded(net_of(2, {"Add"}), {a, b}, {out});
  feed(a, 5);
  EXPECT_EQ(aclmdlUnload(model), ACL_SUCCESS);
  EXPECT_EQ(next(a, 0), row(5, 1));
  EXPECT_EQ(acltdtDestroyQueue(a), ACL_SUCCESS);
  // The others drive the next model.
  const uint32_t other = make_queue();
  loaded(net_of(2, {"Sub"}), {other, b}, {out});
  feed(b, 1);
  feed(other, 10);
  EXPECT_EQ(next(out), row(9, 0));
}

TEST_F(ModelQueues, UnloadingEndsAWaitForRoomAndTearsNoResultApart) {
  const uint32_t in = make_queue(8), first = make_queue(4), second = make_queue(1);
  const uint32_t model = loaded(net_of(1, {"Neg", "Abs"}), {in}, {first, second});
  for (int i = 0; i < 4; ++i) feed(in, 1);
  EXPECT_EQ(next(first)[0], -1);  // one run is through, the next may wait for room
  EXPECT_EQ(aclmdlUnload(model), ACL_SUCCESS);
  EXPECT_EQ(next(second, 0)[0], 1);
  EXPECT_EQ(next(first, 0)[0], ACL_ERROR_RT_QUEUE_EMPTY);
  EXPECT_EQ(next(second, 0)[0], ACL_ERROR_RT_QUEUE_EMPTY);
}

TEST_F(ModelQueues, ACallbackUnloadsTheModelThatFailed) {
  static std::atomic<uint32_t> model{0};
  static std::atomic<int> unloaded{-1};
  unloaded = -1;
  ASSERT_EQ(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) {
              unloaded = aclmdlUnload(model);
              unloaded.notify_all();
            }),
            ACL_SUCCESS);
  const uint32_t in = make_queue(), out = make_queue();
  model = loaded(net_of(1, {"Neg"}), {in}, {out});
  feed(in, 1, 1);
  unloaded.wait(-1);
  EXPECT_EQ(unloaded, ACL_SUCCESS);
  ASSERT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueue(in), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueue(out), ACL_SUCCESS);
}

TEST_F(ModelQueues, QueuesThatDoNotFitAreRefused) {
  const auto net = net_of(2, {"Add"});
  const uint32_t a = make_queue(), b = make_queue(), c = make_queue();
  uint32_t id = 0;
  EXPECT_EQ(load(net, {a}, {c}, &id), ACL_ERROR_MODEL_INPUT_NOT_MATCH);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("has 2 inputs"), std::string::npos);
  EXPECT_EQ(load(net, {a, b}, {}, &id), ACL_ERROR_MODEL_OUTPUT_NOT_MATCH);
  EXPECT_EQ(load(net, {a, a}, {c}, &id), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(load(net, {a, 99999}, {c}, &id), ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID);
  EXPECT_EQ(load(net, {a, b}, {0}, &id), ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID);
  EXPECT_EQ(aclmdlLoadFromMemWithQ(net.data(), net.size(), &id, nullptr, 2, &c, 1),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlLoadFromMemWithQ(net.data(), net.size(), &id, &a, SIZE_MAX, &c, 1),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlLoadFromMemWithQ(nullptr, 0, &id, &a, 1, &c, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlLoadFromFileWithQ("no.om", &id, &a, 1, &c, 1),
            ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID);
  for (const uint32_t each : {a, b, c}) EXPECT_EQ(acltdtDestroyQueue(each), ACL_SUCCESS);
}

TEST_F(ModelQueues, AConfigurationNamesTheQueuesToo) {
  const auto net = net_of(1, {"Neg"});
  const uint32_t in = make_queue(), out = make_queue();
  const size_t type = ACL_MDL_LOAD_FROM_MEM_WITH_Q, size = net.size(), one = 1;
  const void* memory = net.data();
  const uint32_t *inputs = &in, *outputs = &out, unknown = 0, *wrong = &unknown;
  aclmdlConfigHandle* config = aclmdlCreateConfigHandle();
  const auto set = [&](aclmdlConfigAttr attr, const auto& value) {
    EXPECT_EQ(aclmdlSetConfigOpt(config, attr, &value, sizeof value), ACL_SUCCESS);
  };
  set(ACL_MDL_LOAD_TYPE_SIZET, type);
  set(ACL_MDL_MEM_ADDR_PTR, memory);
  set(ACL_MDL_MEM_SIZET, size);
  set(ACL_MDL_INPUTQ_NUM_SIZET, one);
  set(ACL_MDL_INPUTQ_ADDR_PTR, inputs);
  set(ACL_MDL_OUTPUTQ_NUM_SIZET, one);
  set(ACL_MDL_OUTPUTQ_ADDR_PTR, wrong);
  uint32_t id = 0;
  EXPECT_EQ(aclmdlLoadWithConfig(config, &id), ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID);
  set(ACL_MDL_OUTPUTQ_ADDR_PTR, outputs);
  ASSERT_EQ(aclmdlLoadWithConfig(config, &id), ACL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(aclmdlDestroyConfigHandle(config), ACL_SUCCESS);
  feed(in, 3);
  EXPECT_EQ(next(out), row(-3, -1));
  EXPECT_EQ(aclmdlUnload(id), ACL_SUCCESS);
}

TEST_F(ModelQueues, AResetOfTheDeviceStopsTheModelAndFreesTheQueues) {
  const uint32_t in = make_queue(), out = make_queue();
  const uint32_t model = loaded(net_of(1, {"Neg"}), {in}, {out});
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);  // still in use once
  feed(in, 1);
  EXPECT_EQ(next(out), row(-1, -1));
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  feed(in, 2);
  EXPECT_EQ(next(in, 0), row(2, 1));
  EXPECT_EQ(acltdtDestroyQueue(in), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueue(out), ACL_SUCCESS);
  EXPECT_EQ(aclmdlUnload(model), ACL_SUCCESS);
}

TEST_F(ModelQueues, FinalizeEndsModelsAndWhoWaitsForTheirResults) {
  const uint32_t in = make_queue(), out = make_queue();
  loaded(net_of(1, {"Neg"}), {in}, {out});
  std::vector<float> got;
  std::thread waiting([&] { got = next(out); });
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);  // before the wait, or during it
  waiting.join();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(got[0] == ACL_ERROR_UNINITIALIZE || got[0] == ACL_ERROR_INVALID_QUEUE_ID) << got[0];
}

TEST_F(ModelQueues, LoadingAndUnloadingWhileBuffersFlowLosesNoOrder) {
  const auto net = net_of(1, {"Neg"});
  const uint32_t in = make_queue(1), out = make_queue(1);
  std::atomic<bool> done{false};
  std::thread feeding([&] {
    for (float i = 0; !done; ++i) {
      const Four data = {i};
      (void)acltdtEnqueueData(in, data.data(), 16, nullptr, 0, 10, 0);
    }
  });
  std::thread reading([&] {
    float before = 1;
    while (!done) {
      const auto got = next(out, 10);
      if (got.size() < 4) continue;  // none now
      EXPECT_LT(got[0], before);
      before = got[0];
    }
  });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(aclmdlUnload(loaded(net, {in}, {out})), ACL_SUCCESS);
  done = true;
  feeding.join();
  reading.join();
}

}  // namespace
}  // namespace anynpu::acl
