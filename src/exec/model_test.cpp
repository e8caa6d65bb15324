// SPDX-License-Identifier: Apache-2.0
#include "exec/model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "exec/graph_for_test.h"
#include "exec/plan.h"

namespace anynpu::exec {
namespace {

using graph::ValueId;

// A residual block, a branch with odd channels, pooling, a classifier: every kind of hand-over.
NetBuilder small_net(int64_t batch = 1) {
  NetBuilder b;
  const ValueId x = b.input("x", {batch, 3, 20, 18});
  const std::map<std::string, graph::Attr> pad = {{"pads", Ints{1, 1, 1, 1}}};
  ValueId y = b.node("Conv", {x, b.weight({32, 3, 3, 3}), b.weight({32})}, pad);
  y = b.node("Relu", {y});
  const ValueId shortcut = y;
  y = b.node("FusedConv", {y, b.weight({32, 32, 3, 3}), b.weight({32}), shortcut},
             {{"pads", Ints{1, 1, 1, 1}}, {"activation", std::string("Relu")}}, "anynpu");
  y = b.node("Add", {y, shortcut});
  const ValueId odd = b.node("Conv", {y, b.weight({21, 32, 1, 1}), b.weight({21})});
  const ValueId even = b.node("Conv", {y, b.weight({16, 32, 1, 1}), b.weight({16})});
  y = b.node("Concat", {odd, even}, {{"axis", int64_t{1}}});
  y = b.node("MaxPool", {y}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}});
  y = b.node("Conv", {y, b.weight({48, 37, 3, 3})}, pad);
  y = b.node("GlobalAveragePool", {y});
  y = b.node("Flatten", {y});
  y = b.node("Gemm", {y, b.weight({10, 48}), b.weight({10})}, {{"transB", int64_t{1}}});
  b.output(b.node("Softmax", {y}));
  return b;
}

TEST(LoadedModel, GivesWhatTheReferenceKernelsGive) {
  for (int64_t batch : {1, 3}) {
    NetBuilder net = small_net(batch);
    ASSERT_TRUE(net.graph.verify().ok());
    const auto model = LoadedModel::load(net.graph);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    std::vector<float> in = draw(static_cast<size_t>(batch) * 3 * 20 * 18);
    std::vector<float> out(static_cast<size_t>(batch) * 10, -1);
    const Buffer ins[] = {{in.data(), in.size() * 4}};
    const Buffer outs[] = {{out.data(), out.size() * 4}};
    const Status status = (*model)->run(ins, outs);
    ASSERT_TRUE(status.ok()) << status.to_string();
    expect_near(out, net.expected({in})[0]);
  }
}

TEST(LoadedModel, WeightsWithoutElementsAreNotRead) {
  NetBuilder net;
  net.output(net.node("MatMul", {net.input("x", {1, 3, 20}), net.weight({0, 20, 30})}));
  const auto model = LoadedModel::load(net.graph);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::vector<float> in = draw(60);
  const Buffer ins[] = {{in.data(), in.size() * 4}};
  const Buffer outs[] = {{in.data(), 0}};
  EXPECT_TRUE((*model)->run(ins, outs).ok());
}

TEST(LoadedModel, TheSameRunGivesTheSameBytes) {
  NetBuilder net = small_net();
  const auto model = LoadedModel::load(net.graph);
  ASSERT_TRUE(model.ok());
  std::vector<float> in = draw(3 * 20 * 18), first(10), again(10);
  const Buffer ins[] = {{in.data(), in.size() * 4}};
  for (int i = 0; i < 20; ++i) {
    std::vector<float>& out = i == 0 ? first : again;
    const Buffer outs[] = {{out.data(), 40}};
    ASSERT_TRUE((*model)->run(ins, outs).ok());
    if (i > 0) {
      ASSERT_EQ(std::memcmp(first.data(), again.data(), 40), 0);
    }
  }
}

TEST(LoadedModel, RunsFromSeveralThreadsAtOnce) {
  NetBuilder net = small_net();
  for (const bool own_memory : {true, false}) {
    const auto sizes = LoadedModel::query(net.graph);
    ASSERT_TRUE(sizes.ok());
    std::unique_ptr<std::byte, decltype(&std::free)> weights(
        static_cast<std::byte*>(std::aligned_alloc(64, sizes->weight_bytes)), &std::free);
    std::unique_ptr<std::byte, decltype(&std::free)> work(
        static_cast<std::byte*>(std::aligned_alloc(64, sizes->work_bytes)), &std::free);
    LoadOptions options;
    if (!own_memory) {
      options = {weights.get(), sizes->weight_bytes, work.get(), sizes->work_bytes};
      std::memset(work.get(), 0x55, sizes->work_bytes);
    }
    const auto model = LoadedModel::load(net.graph, options);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::vector<float> in = draw(3 * 20 * 18, t), out(10);
        const auto expected = net.expected({in})[0];
        for (int i = 0; i < 5; ++i) {
          const Buffer ins[] = {{in.data(), in.size() * 4}};
          const Buffer outs[] = {{out.data(), 40}};
          ASSERT_TRUE((*model)->run(ins, outs).ok());
          expect_near(out, expected);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    // The caller's memory is really used.
    if (!own_memory) {
      EXPECT_NE(work.get()[0], std::byte{0x55});
    }
  }
}

TEST(LoadedModel, RefusesMemoryThatIsTooSmallOrUnaligned) {
  NetBuilder net = small_net();
  const auto sizes = LoadedModel::query(net.graph);
  std::vector<std::byte> memory(sizes->weight_bytes + 128);
  void* start = memory.data();
  size_t space = memory.size();
  std::align(64, 1, start, space);
  EXPECT_EQ(LoadedModel::load(net.graph, {start, sizes->weight_bytes - 1}).status().code(),
            Code::invalid_address);
  EXPECT_EQ(LoadedModel::load(net.graph, {static_cast<char*>(start) + 4, sizes->weight_bytes})
                .status()
                .code(),
            Code::unaligned_address);
}

TEST(LoadedModel, RefusesBuffersThatDoNotFit) {
  NetBuilder net = small_net();
  const auto model = LoadedModel::load(net.graph);
  std::vector<float> in(3 * 20 * 18), out(10);
  const Buffer good_in[] = {{in.data(), in.size() * 4}}, short_in[] = {{in.data(), 8}};
  const Buffer good_out[] = {{out.data(), 40}}, short_out[] = {{out.data(), 39}};
  const Buffer null_out[] = {{nullptr, 40}};
  EXPECT_EQ((*model)->run(short_in, good_out).code(), Code::shape_mismatch);
  EXPECT_EQ((*model)->run(good_in, short_out).code(), Code::output_mismatch);
  EXPECT_EQ((*model)->run(good_in, null_out).code(), Code::output_mismatch);
  EXPECT_EQ((*model)->run({}, good_out).code(), Code::invalid_argument);
}

TEST(LoadedModel, OutputsMayBeInputsConstantsViewsAndTwins) {
  NetBuilder b;
  const ValueId x = b.input("x", {1, 16, 2, 2});
  const ValueId w = b.weight({5});
  const ValueId y = b.node("Conv", {x, b.weight({16, 16, 1, 1})});
  const ValueId flat = b.node("Reshape", {y, b.ints({4, 16})});
  const ValueId view = b.node("Flatten", {x});
  b.output(x);
  b.output(w);
  b.output(y);
  b.output(flat);
  b.output(view);
  b.output(y);
  const auto model = LoadedModel::load(b.graph);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::vector<float> in = draw(64);
  const auto expected = b.expected({in});
  std::vector<std::vector<float>> out;
  std::vector<Buffer> outs;
  for (const auto& e : expected) out.emplace_back(e.size(), -7.0f);
  for (auto& o : out) outs.push_back({o.data(), o.size() * 4});
  const Buffer ins[] = {{in.data(), 256}};
  ASSERT_TRUE((*model)->run(ins, outs).ok());
  for (size_t i = 0; i < out.size(); ++i) expect_near(out[i], expected[i]);
}

TEST(LoadedModel, AChainInPlaceNeverDisturbsATensorThatIsStillRead) {
  NetBuilder b;
  const ValueId x = b.input("x", {2, 8});
  const ValueId a = b.node("Relu", {x});
  const ValueId view = b.node("Reshape", {a, b.ints({8, 2})});
  const ValueId c = b.node("Tanh", {a});  // a lives on in its view
  const ValueId d = b.node("Sigmoid", {view});
  const ValueId e = b.node("Add", {c, c});
  b.output(b.node("Add", {e, a}));
  b.output(d);
  const auto model = LoadedModel::load(b.graph);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::vector<float> in = draw(16), one(16), two(16);
  const Buffer ins[] = {{in.data(), 64}}, outs[] = {{one.data(), 64}, {two.data(), 64}};
  ASSERT_TRUE((*model)->run(ins, outs).ok());
  const auto expected = b.expected({in});
  expect_near(one, expected[0]);
  expect_near(two, expected[1]);
}

// Convolutions keep their results in blocks of channels; the caller's copy is made at the end.
TEST(LoadedModel, AnOutputInAnotherLayoutIsNotOverwrittenByWhatFollowsIt) {
  NetBuilder b;
  const ValueId x = b.input("x", {2, 3, 8, 8});
  const ValueId c =
      b.node("Conv", {x, b.weight({4, 3, 3, 3}), b.weight({4})}, {{"pads", Ints{1, 1, 1, 1}}});
  b.output(c);
  b.output(b.node("Relu", {c}));
  const auto model = LoadedModel::load(b.graph);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::vector<float> in = draw(384), plain(512), positive(512);
  const Buffer ins[] = {{in.data(), in.size() * 4}};
  const Buffer outs[] = {{plain.data(), 2048}, {positive.data(), 2048}};
  ASSERT_TRUE((*model)->run(ins, outs).ok());
  const auto expected = b.expected({in});
  expect_near(plain, expected[0]);
  expect_near(positive, expected[1]);
}

Result<Plan> planned(const graph::Graph& graph) {
  WeightPool weights;
  weights.open();
  return make_plan(graph, ops::Target::host(), weights);
}

// A convolution and a matrix product, whose packed weights do not depend on the batch.
NetBuilder batched_net(int64_t batch) {
  NetBuilder b;
  const ValueId x = b.input("x", {batch, 16, 8, 8});
  const ValueId c =
      b.node("Conv", {x, b.weight({32, 16, 3, 3}), b.weight({32})}, {{"pads", Ints{1, 1, 1, 1}}});
  const ValueId r = b.node("Reshape", {c, b.ints({batch, 2048})});
  b.output(b.node("MatMul", {r, b.weight({2048, 64})}));
  return b;
}

TEST(WeightPool, FormsOfOneModelKeepOneCopyOfTheirWeights) {
  NetBuilder one = batched_net(1), four = batched_net(4);
  for (size_t i = 0; i < one.graph.values.size(); ++i) {  // one model: the same constants
    if (one.graph.values[i].dtype == DType::f32)
      four.graph.values[i].constant = one.graph.values[i].constant;
  }
  const std::vector<graph::Graph> graphs = {one.graph, four.graph};
  WeightPool weights(&graphs[0]), asked(&graphs[0]);
  const auto models = LoadedModel::load_all(graphs, weights);
  ASSERT_TRUE(models.ok()) << models.status().to_string();
  const auto alone = LoadedModel::query(one.graph), all = LoadedModel::query_all(graphs, asked);
  ASSERT_TRUE(alone.ok() && all.ok());
  EXPECT_LE(all->weight_bytes, alone->weight_bytes + 256);  // the two shapes of the Reshape
  EXPECT_EQ((*models)[1]->sizes().weight_bytes, all->weight_bytes);
  for (size_t m = 0; m < 2; ++m) {
    const size_t batch = m == 0 ? 1 : 4;
    std::vector<float> in = draw(batch * 1024), out(batch * 64);
    const Buffer ins[] = {{in.data(), in.size() * 4}}, outs[] = {{out.data(), out.size() * 4}};
    ASSERT_TRUE((*models)[m]->run(ins, outs).ok());
    expect_near(out, (m == 0 ? one : four).expected({in})[0]);
  }
  // A third form, planned later, finds them too, also when the first two are gone meanwhile.
  const auto third = LoadedModel::load_all({&graphs[1], 1}, weights);
  ASSERT_TRUE(third.ok());
  EXPECT_EQ((*third)[0]->sizes().weight_bytes, all->weight_bytes);
}

TEST(WeightPool, OtherConstantsAndOtherAttributesGetRoomOfTheirOwn) {
  NetBuilder b;
  const ValueId x = b.input("x", {4, 32}), w = b.weight({32, 32});
  const ValueId plain = b.node("Gemm", {x, w}), turned = b.node("Gemm", {x, w}, {{"transB", 1L}});
  b.output(plain);
  b.output(turned);
  b.output(b.node("Gemm", {x, b.weight({32, 32})}));
  const auto model = LoadedModel::load(b.graph);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::vector<float> in = draw(128), out[3];
  std::vector<Buffer> outs;
  for (auto& o : out) outs.push_back({(o.resize(128), o.data()), 512});
  const Buffer ins[] = {{in.data(), 512}};
  ASSERT_TRUE((*model)->run(ins, outs).ok());
  const auto expected = b.expected({in});
  for (size_t i = 0; i < 3; ++i) expect_near(out[i], expected[i]);
}

TEST(Plan, NamesTheNodeThatCannotBePlanned) {
  NetBuilder b;
  const ValueId x = b.input("x", {1, 4});
  b.output(b.node("NoSuchOp", {x}));
  const auto plan = planned(b.graph);
  EXPECT_EQ(plan.status().code(), Code::unsupported_op);
  EXPECT_NE(plan.status().to_string().find("NoSuchOp0"), std::string::npos);
}

TEST(Plan, RefusesOpenShapesAndDamagedConstants) {
  NetBuilder dynamic;
  dynamic.output(dynamic.node("Relu", {dynamic.input("x", {-1, 4})}));
  EXPECT_EQ(planned(dynamic.graph).status().code(), Code::unsupported_shape);

  NetBuilder damaged;
  const ValueId w = damaged.weight({4, 4});
  damaged.output(damaged.node("MatMul", {damaged.input("x", {1, 4}), w}));
  damaged.graph.values[static_cast<size_t>(w)].shape = {4, 4000};
  EXPECT_EQ(planned(damaged.graph).status().code(), Code::corrupt_model);
}

TEST(Plan, RefusesTensorsThatNoMachineHolds) {
  NetBuilder big;
  big.output(big.node("Relu", {big.input("x", {int64_t{1} << 60})}));
  EXPECT_EQ(planned(big.graph).status().code(), Code::out_of_memory);

  NetBuilder grows;
  const ValueId x = grows.input("x", {int64_t{1} << 20, 1}),
                y = grows.input("y", {1, int64_t{1} << 40});
  grows.output(grows.node("Add", {x, y}));
  EXPECT_FALSE(planned(grows.graph).ok());

  NetBuilder pads;
  const int64_t far = int64_t{1} << 20;
  pads.output(pads.node("Conv", {pads.input("x", {1, 4096, 8, 8}), pads.weight({16, 4096, 1, 1})},
                        {{"pads", Ints{far, far, far, far}}, {"strides", Ints{far, far}}}));
  EXPECT_EQ(planned(pads.graph).status().code(), Code::unsupported_shape);
}

// Bytes between two convolutions keep the layout of what they were made from; a transposition
// reads them plain.
TEST(Plan, QuantisedTensorsBetweenConvolutionsStayBlocked) {
  NetBuilder b;
  const std::map<std::string, graph::Attr> pad = {{"pads", Ints{1, 1, 1, 1}}};
  const ValueId scale = b.weight({}, 0.01f);
  ValueId y = b.node("Conv", {b.input("x", {2, 3, 9, 11}), b.weight({21, 3, 3, 3})}, pad);
  y = b.node("QuantizeLinear", {y, scale});
  const ValueId bytes = y;
  y = b.node("DequantizeLinear", {y, scale});
  b.output(b.node("Conv", {y, b.weight({16, 21, 3, 3})}, pad));
  y = b.node("Transpose", {bytes}, {{"perm", Ints{0, 2, 3, 1}}});
  b.output(b.node("DequantizeLinear", {y, scale}));
  const auto plan = planned(b.graph);
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  size_t reorders = 0;
  for (const PlanStep& step : plan->steps) reorders += step.kernel == "reorder";
  EXPECT_LE(reorders, 2u);  // the bytes for the transposition, and the first output

  const auto model = LoadedModel::load(b.graph);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::vector<float> in = draw(2 * 3 * 99), first(2 * 16 * 99), second(2 * 21 * 99);
  const Buffer ins[] = {{in.data(), in.size() * 4}};
  const Buffer outs[] = {{first.data(), first.size() * 4}, {second.data(), second.size() * 4}};
  ASSERT_TRUE((*model)->run(ins, outs).ok());
  // A sum near a half may round the other way: a step of 0.01 through the second convolution.
  const auto expected = b.expected({in});
  for (size_t i = 0; i < first.size(); ++i) ASSERT_NEAR(first[i], expected[0][i], 0.02) << i;
  for (size_t i = 0; i < second.size(); ++i) ASSERT_NEAR(second[i], expected[1][i], 0.011) << i;
}

TEST(Plan, StepsHaveTheRoomsOfTheirThreadsInTheSamePlace) {
  NetBuilder b;
  const ValueId x = b.input("x", {1, 40, 48}), keys = b.input("keys", {1, 70, 48});
  ValueId y = b.node("FusedAttention", {x, x, x}, {{"heads", int64_t{3}}}, "anynpu");
  y = b.node("Neg", {y});
  b.output(b.node("FusedAttention", {y, keys, keys}, {{"heads", int64_t{2}}}, "anynpu"));
  const auto plan = planned(b.graph);
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  std::vector<const PlanStep*> with_scratch;
  for (const PlanStep& step : plan->steps) {
    if (step.work->thread_scratch_count > 0) with_scratch.push_back(&step);
  }
  ASSERT_EQ(with_scratch.size(), 2u);
  EXPECT_EQ(with_scratch[0]->thread_scratch.offset, with_scratch[1]->thread_scratch.offset);
  for (const PlanStep* step : with_scratch)
    EXPECT_LE(step->work->thread_scratch_bytes, plan->thread_scratch_stride);

  const auto model = LoadedModel::load(b.graph);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::vector<float> in = draw(40 * 48), more = draw(70 * 48, 2), out(40 * 48);
  const Buffer ins[] = {{in.data(), in.size() * 4}, {more.data(), more.size() * 4}};
  const Buffer outs[] = {{out.data(), out.size() * 4}};
  ASSERT_TRUE((*model)->run(ins, outs).ok());
  expect_near(out, b.expected({in, more})[0]);
}

TEST(Plan, MemoryIsThatOfTheThreadsOfItsTarget) {
  NetBuilder b;
  const ValueId x = b.input("x", {1, 256, 48});
  b.output(b.node("FusedAttention", {x, x, x}, {{"heads", int64_t{3}}}, "anynpu"));
  const auto few = LoadedModel::query(b.graph, {.threads = 1});
  const auto many = LoadedModel::query(b.graph, {.threads = 4});
  ASSERT_TRUE(few.ok()) << few.status().to_string();
  ASSERT_TRUE(many.ok()) << many.status().to_string();
  EXPECT_LT(few->work_bytes, many->work_bytes);
}

TEST(Plan, ConvolutionsHandOverBlockedTensorsWithoutReordering) {
  NetBuilder net = small_net();
  const auto plan = planned(net.graph);
  ASSERT_TRUE(plan.ok());
  size_t reorders = 0;
  for (const PlanStep& step : plan->steps) reorders += step.kernel == "reorder";
  EXPECT_LE(reorders, 4u);  // only around the concatenation of odd channels
}

}  // namespace
}  // namespace anynpu::exec
