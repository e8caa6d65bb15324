// SPDX-License-Identifier: Apache-2.0
// What an execution costs beside its kernels: no allocation, once as many have been in flight, no
// lock, and no look for a name.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <ostream>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "base/thread_pool.h"
#include "compile/compile.h"
#include "exec/model.h"
#include "graph/flow.h"
#include "om/container.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};
thread_local int locks = 0;  // taken or tried; helpers of the pool take its own to go to sleep
thread_local int names = 0;

// Counts a lock of the program and takes it by the function that this one stands before.
template <typename Lock>
int count_and_lock(const char* name, std::atomic<int (*)(Lock*)>& next, Lock* lock) {
  if (counting.load(std::memory_order_relaxed)) ++locks;
  if (!next) next = reinterpret_cast<int (*)(Lock*)>(dlsym(RTLD_NEXT, name));
  return next.load()(lock);
}
constinit std::atomic<int (*)(pthread_mutex_t*)> mutex_lock{nullptr}, mutex_try{nullptr};
constinit std::atomic<int (*)(pthread_rwlock_t*)> read_lock{nullptr}, write_lock{nullptr};

// Who looks for a name hashes it or compares it with others. Shapes are compared by the same
// functions, but their bytes are no text.
void count_name(const unsigned char* text, size_t length) {
  if (!counting.load(std::memory_order_relaxed) || length == 0) return;
  for (size_t i = 0; i < length; ++i) {
    if (text[i] < ' ' || text[i] > '~') return;
  }
  ++names;
}
constinit std::atomic<size_t (*)(const void*, size_t, size_t)> hash_bytes{nullptr};

void* count_and_take(size_t bytes) {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

extern "C" {
int pthread_mutex_lock(pthread_mutex_t* lock) noexcept {
  return count_and_lock("pthread_mutex_lock", mutex_lock, lock);
}
int pthread_mutex_trylock(pthread_mutex_t* lock) noexcept {
  return count_and_lock("pthread_mutex_trylock", mutex_try, lock);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return count_and_lock("pthread_rwlock_rdlock", read_lock, lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return count_and_lock("pthread_rwlock_wrlock", write_lock, lock);
}
// Behind == and < of strings, and so behind std::map.
int memcmp(const void* a, const void* b, size_t length) noexcept {
  const auto *x = static_cast<const unsigned char*>(a), *y = static_cast<const unsigned char*>(b);
  count_name(x, length);
  for (size_t i = 0; i < length; ++i) {
    if (x[i] != y[i]) return x[i] - y[i];
  }
  return 0;
}
}

// Behind std::hash of strings, and so behind std::unordered_map.
size_t std::_Hash_bytes(const void* data, size_t length, size_t seed) {
  count_name(static_cast<const unsigned char*>(data), length);
  if (!hash_bytes) {
    hash_bytes = reinterpret_cast<size_t (*)(const void*, size_t, size_t)>(
        dlsym(RTLD_NEXT, "_ZSt11_Hash_bytesPKvmm"));
  }
  return hash_bytes.load()(data, length, seed);
}

// Of the whole test program; deletes stay as they are, since malloc stands behind both.
void* operator new(size_t bytes) { return count_and_take(bytes); }
void* operator new[](size_t bytes) { return count_and_take(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace anynpu::acl {
namespace {

using graph::ValueId;

class NetBuilder {
 public:
  graph::Graph graph;

  ValueId value(const std::string& name, DType dtype = DType::f32, Shape shape = {4, 64}) {
    graph::Value made;
    made.name = name;
    made.dtype = dtype;
    made.shape = std::move(shape);
    made.has_shape = true;
    return graph.add_value(std::move(made));
  }
  ValueId input(const std::string& name, DType dtype = DType::f32, Shape shape = {4, 64}) {
    graph.inputs.push_back(value(name, dtype, std::move(shape)));
    return graph.inputs.back();
  }
  ValueId node(const std::string& op, std::vector<ValueId> inputs,
               std::map<std::string, graph::Attr> attrs = {}) {
    graph::Node made;
    made.op = op;
    made.opset = 16;
    made.name = op;
    made.inputs = std::move(inputs);
    made.outputs = {value(op + ":0")};
    made.attrs = std::move(attrs);
    graph.nodes.push_back(made);
    return made.outputs[0];
  }
  ValueId constant(Shape shape, std::vector<int64_t> elements) {
    auto owner = std::make_shared<std::vector<int64_t>>(std::move(elements));
    const ValueId id = value("constant", DType::i64, std::move(shape));
    graph.values[static_cast<size_t>(id)].constant =
        std::make_shared<graph::Constant>(graph::Constant{owner, std::as_bytes(std::span(*owner))});
    return id;
  }
  ValueId unshaped(ValueId id) {  // nothing is stated about its shape
    graph.values[static_cast<size_t>(id)].has_shape = false;
    return id;
  }
  ValueId sequence(ValueId id) {
    graph.values[static_cast<size_t>(id)].kind = graph::ValueKind::sequence;
    return unshaped(id);
  }
  std::shared_ptr<const graph::Graph> inside(std::vector<ValueId> outputs) {
    graph.outputs = std::move(outputs);
    EXPECT_TRUE(graph.verify().ok());
    return std::make_shared<const graph::Graph>(std::move(graph));
  }
  std::vector<std::byte> model(ValueId output, const compile::Options& options = {}) {
    graph.name = "net";
    graph.outputs = {output};
    auto compiled = compile::compile(std::move(graph), options);
    EXPECT_TRUE(compiled.ok()) << compiled.status().to_string();
    return *om::to_bytes(*compiled);
  }
};

// y = relu(x) + x, then a softmax: several steps, one of them in place.
std::vector<std::byte> small_model() {
  NetBuilder net;
  const ValueId x = net.input("x");
  const ValueId sum = net.node("Add", {net.node("Relu", {x}), x});
  return net.model(net.node("Softmax", {sum}));
}

// Five times v = tanh(v) + x in a Loop, then an If that is decided by what comes out.
std::vector<std::byte> looping_model() {
  NetBuilder body, twice, same, net;
  body.input("i", DType::i64, {});
  const ValueId go = body.input("go", DType::boolean, {});
  const ValueId v = body.input("v"), captured = body.input("x");
  const ValueId next = body.node("Add", {body.node("Tanh", {v}), captured});
  const auto loop = body.inside({go, next});
  const auto then = twice.inside({twice.node("Relu", {twice.input("y")})});
  const auto otherwise = same.inside({same.node("Abs", {same.input("y")})});

  const ValueId x = net.input("x");
  const ValueId y = net.node("Loop", {net.constant({}, {5}), graph::kNoValue, x, x},
                             {{"body", loop}, {graph::kCapturesAttr, int64_t{1}}});
  const ValueId most = net.node("ReduceMax", {y}, {{"keepdims", int64_t{0}}});
  const ValueId positive = net.node("Cast", {most}, {{"to", int64_t{9}}});
  return net.model(net.node(
      "If", {positive, y},
      {{"then_branch", then}, {"else_branch", otherwise}, {graph::kCapturesAttr, int64_t{1}}}));
}

std::vector<std::byte> flow_shaped_by_values();

class Execute : public testing::Test {
 protected:
  virtual std::vector<std::byte> bytes_of_model() { return small_model(); }

  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const auto bytes = bytes_of_model();
    ASSERT_EQ(aclmdlLoadFromMem(bytes.data(), bytes.size(), &model_), ACL_SUCCESS)
        << aclGetRecentErrMsg();
    aclmdlDesc* const desc = aclmdlCreateDesc();
    ASSERT_EQ(aclmdlGetDesc(desc, model_), ACL_SUCCESS);
    input_ = make_dataset(aclmdlGetNumInputs(desc));
    output_ = make_dataset(aclmdlGetNumOutputs(desc));
    ASSERT_EQ(aclmdlDestroyDesc(desc), ACL_SUCCESS);
  }
  static aclmdlDataset* make_dataset(size_t count) {
    aclmdlDataset* const set = aclmdlCreateDataset();
    for (size_t i = 0; i < count; ++i) {
      void* memory = nullptr;
      EXPECT_EQ(aclrtMalloc(&memory, 1024, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemset(memory, 1024, 0, 1024), ACL_SUCCESS);
      EXPECT_EQ(aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(memory, 1024)), ACL_SUCCESS);
    }
    return set;
  }
  void TearDown() override {
    counting = false;
    EXPECT_EQ(aclmdlDestroyDataset(input_), ACL_SUCCESS);
    EXPECT_EQ(aclmdlDestroyDataset(output_), ACL_SUCCESS);
    aclmdlUnload(model_);
    aclFinalize();
  }

  // Of 50 runs, after `first` that make what is kept for the next time. Locks and names are those
  // of the calling thread.
  struct Costs {
    int allocations = 0, locks = 0, names = 0;
    bool operator==(const Costs&) const = default;
    friend void PrintTo(const Costs& costs, std::ostream* to) {
      *to << costs.allocations << " allocations, " << costs.locks << " locks, " << costs.names
          << " names";
    }
  };
  template <typename Body>
  static Costs costs_of(const Body& body, int first = 2) {
    for (int i = 0; i < first; ++i) body();
    allocations = locks = names = 0;
    counting = true;
    for (int i = 0; i < 50; ++i) body();
    counting = false;
    return {allocations, locks, names};
  }
  void run() {
    EXPECT_EQ(aclmdlExecute(model_, input_, output_), ACL_SUCCESS) << aclGetRecentErrMsg();
  }

  uint32_t model_ = 0;
  aclmdlDataset *input_ = nullptr, *output_ = nullptr;
};

TEST_F(Execute, ASynchronousExecutionTakesNoLockAllocatesNothingAndLooksForNoName) {
  EXPECT_EQ(costs_of([&] { run(); }), Costs());
}

TEST_F(Execute, WhatIsCountedIsThere) {
  std::mutex mutex;
  EXPECT_EQ(costs_of([&] { const std::lock_guard lock(mutex); }).locks, 50);
  std::shared_mutex shared;
  EXPECT_EQ(costs_of([&] { const std::shared_lock lock(shared); }).locks, 50);
  EXPECT_EQ(costs_of([&] { const std::unique_lock lock(shared); }).locks, 50);
  int* volatile kept = nullptr;  // or the compiler may leave both out
  const auto allocate = [&] {
    kept = new int;
    delete kept;
  };
  EXPECT_EQ(costs_of(allocate).allocations, 50);
  aclmdlDesc* const desc = aclmdlCreateDesc();
  ASSERT_EQ(aclmdlGetDesc(desc, model_), ACL_SUCCESS);
  size_t index = 0;
  const auto by_name = [&] {
    EXPECT_EQ(aclmdlGetInputIndexByName(desc, "x", &index), ACL_SUCCESS);
  };
  EXPECT_GE(costs_of(by_name).names, 50);
  const std::unordered_map<std::string, int> table = {{"Relu", 1}, {"Add", 2}};
  EXPECT_GE(costs_of([&] { EXPECT_EQ(table.count(index == 0 ? "Add" : "Sub"), 1u); }).names, 50);
  EXPECT_EQ(aclmdlDestroyDesc(desc), ACL_SUCCESS);
}

TEST_F(Execute, TheStepsOfAModelRunWithoutLocksAllocationsAndNames) {
  for (const auto& bytes : {small_model(), looping_model(), flow_shaped_by_values()}) {
    const auto offline = om::read_copy(bytes);
    ASSERT_TRUE(offline.ok()) << offline.status().to_string();
    const auto model = exec::LoadedModel::load(std::make_shared<const om::Model>(*offline));
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    alignas(64) static float x[256], y[256];
    const exec::Buffer in{x, sizeof x}, out{y, sizeof y};
    const auto steps = [&] {
      const Status status = (*model)->run({&in, 1}, {&out, 1});
      EXPECT_TRUE(status.ok()) << status.to_string();
    };
    EXPECT_EQ(costs_of(steps, 20), Costs());
  }
}

// A thread that shares a step with helpers takes a lock when it has to wake one. Between runs that
// follow each other they are awake, unless the machine was busy with something else.
TEST_F(Execute, ThreadsShareTheStepsOfAModelWithoutALock) {
  if (ThreadPool::instance().threads() < 2) GTEST_SKIP() << "needs two threads";
  NetBuilder net;
  const ValueId x = net.input("x", DType::f32, {512, 512});
  const auto bytes =
      net.model(net.unshaped(net.node("Add", {net.unshaped(net.node("Relu", {x})), x})));
  const auto offline = om::read_copy(bytes);
  ASSERT_TRUE(offline.ok()) << offline.status().to_string();
  const auto model = exec::LoadedModel::load(std::make_shared<const om::Model>(*offline));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  alignas(64) static float from[512 * 512], to[512 * 512];
  const exec::Buffer in{from, sizeof from}, out{to, sizeof to};
  const auto steps = [&] { EXPECT_TRUE((*model)->run({&in, 1}, {&out, 1}).ok()); };
  // A busy machine may leave helpers no time in one try, or let them fall asleep.
  bool shared_without_lock = false;
  for (int tries = 0; tries < 500 && !shared_without_lock; ++tries) {
    const uint64_t before = ThreadPool::instance().busy_ns();
    const Costs costs = costs_of(steps);
    EXPECT_EQ(costs.allocations, 0);
    shared_without_lock = costs.locks == 0 && ThreadPool::instance().busy_ns() > before;
  }
  EXPECT_TRUE(shared_without_lock);
}

TEST_F(Execute, QueueingAndRunningExecutionsAllocatesNothing) {
  aclrtStream stream = nullptr, opener = nullptr;
  aclrtNotify gate = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&opener), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateNotify(&gate, 0), ACL_SUCCESS);
  const auto queue = [&] {
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(aclmdlExecuteAsync(model_, input_, output_, stream), ACL_SUCCESS);
    }
  };
  // Once behind a gate: all of them are in flight together, which a fast helper never lets be.
  ASSERT_EQ(aclrtWaitAndResetNotify(gate, stream, 0), ACL_SUCCESS);
  queue();
  ASSERT_EQ(aclrtRecordNotify(gate, opener), ACL_SUCCESS);
  const Costs costs = costs_of([&] {
    queue();
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  });
  EXPECT_EQ(costs.allocations, 0);
  EXPECT_EQ(aclrtDestroyNotify(gate), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(opener), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

// x is spread to a shape that its own values decide (it is always that of x): a step program.
std::vector<std::byte> shaped_by_values() {
  NetBuilder net;
  const ValueId x = net.input("x");
  const ValueId most = net.node("ReduceMax", {x}, {{"keepdims", int64_t{0}}});
  const ValueId zero = net.node("Cast", {net.node("Sub", {most, most})}, {{"to", int64_t{7}}});
  const ValueId target = net.node("Add", {net.constant({2}, {4, 64}), zero});
  const ValueId spread = net.unshaped(net.node("Expand", {x, target}));
  return net.model(net.node("Mul", {net.unshaped(net.node("Relu", {spread})), x}));
}

class ExecuteSteps : public Execute {
 protected:
  std::vector<std::byte> bytes_of_model() override { return shaped_by_values(); }
};

TEST_F(ExecuteSteps, ShapesThatComeAgainAllocateNothing) {
  const auto model = shaped_by_values();
  size_t work = 0, weight = 0;
  ASSERT_EQ(aclmdlQuerySizeFromMem(model.data(), model.size(), &work, &weight),
            ACL_ERROR_GE_SHAPE_INVALID)
      << "values decide shapes in it";
  EXPECT_EQ(costs_of([&] { run(); }), Costs());
}

// A Loop that gathers as many rows as values say, an If around what it made, and a sequence that is
// cut, mapped, shortened and joined: nothing of it has a fixed shape.
std::vector<std::byte> flow_shaped_by_values() {
  NetBuilder body, relu, abs, doubled, net;
  body.input("i", DType::i64, {});
  const ValueId go = body.input("go", DType::boolean, {});
  const ValueId v = body.input("v"), captured = body.input("x");
  const ValueId next = body.node("Add", {body.node("Tanh", {v}), captured});
  const auto loop = body.inside({go, next, body.node("Neg", {next})});
  const auto then =
      relu.inside({relu.unshaped(relu.node("Relu", {relu.unshaped(relu.input("y"))}))});
  const auto otherwise =
      abs.inside({abs.unshaped(abs.node("Abs", {abs.unshaped(abs.input("y"))}))});
  const ValueId item = doubled.unshaped(doubled.input("item"));
  const auto twice = doubled.inside({doubled.unshaped(doubled.node("Add", {item, item}))});

  const ValueId x = net.input("x");
  const ValueId most = net.node("ReduceMax", {x}, {{"keepdims", int64_t{0}}});
  const ValueId zero = net.node("Cast", {net.node("Sub", {most, most})}, {{"to", int64_t{7}}});
  const ValueId count = net.node("Add", {net.constant({}, {3}), zero});
  net.node("Loop", {count, graph::kNoValue, x, x},
           {{"body", loop}, {graph::kCapturesAttr, int64_t{1}}});
  const ValueId rows = net.unshaped(net.value("rows"));
  net.graph.nodes.back().outputs.push_back(rows);
  const ValueId positive = net.node("Cast", {most}, {{"to", int64_t{9}}});
  const ValueId chosen = net.unshaped(net.node(
      "If", {positive, rows},
      {{"then_branch", then}, {"else_branch", otherwise}, {graph::kCapturesAttr, int64_t{1}}}));
  const ValueId pieces = net.sequence(net.node("SplitToSequence", {chosen}));
  const ValueId mapped = net.sequence(net.node("SequenceMap", {pieces}, {{"body", twice}}));
  const ValueId fewer = net.sequence(net.node("SequenceErase", {mapped}));
  const ValueId more = net.sequence(net.node("SequenceInsert", {fewer, rows}));
  const ValueId joined =
      net.unshaped(net.node("ConcatFromSequence", {more}, {{"axis", int64_t{0}}}));
  const ValueId one = net.unshaped(net.node("ReduceMax", {joined}, {{"keepdims", int64_t{0}}}));
  return net.model(net.node("Mul", {one, x}));
}

class ExecuteGeneralFlow : public Execute {
 protected:
  std::vector<std::byte> bytes_of_model() override { return flow_shaped_by_values(); }
};

TEST_F(ExecuteGeneralFlow, LoopsBranchesAndSequencesCostNothingWhenSizesComeAgain) {
  // Values change places, so that it takes some runs until all have the room of the largest shape.
  EXPECT_EQ(costs_of([&] { run(); }, 20), Costs());
}

class ExecuteFlow : public Execute {
 protected:
  std::vector<std::byte> bytes_of_model() override { return looping_model(); }
};

TEST_F(ExecuteFlow, LoopsAndBranchesOfFixedShapesCostNothing) {
  EXPECT_EQ(costs_of([&] { run(); }), Costs());
}

TEST_F(ExecuteFlow, SizesCountWhatLoopsAndBranchesNeed) {
  const auto with = looping_model(), without = small_model();
  size_t work = 0, weight = 0, small_work = 0, small_weight = 0;
  ASSERT_EQ(aclmdlQuerySizeFromMem(with.data(), with.size(), &work, &weight), ACL_SUCCESS)
      << aclGetRecentErrMsg();
  ASSERT_EQ(aclmdlQuerySizeFromMem(without.data(), without.size(), &small_work, &small_weight),
            ACL_SUCCESS);
  EXPECT_GE(work, small_work + 2 * 1024);  // what a Loop carries, twice
  void *work_memory = nullptr, *weight_memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&work_memory, work, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&weight_memory, weight + 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  uint32_t id = 0;
  ASSERT_EQ(aclmdlLoadFromMemWithMem(with.data(), with.size(), &id, work_memory, work,
                                     weight_memory, weight + 64),
            ACL_SUCCESS)
      << aclGetRecentErrMsg();
  EXPECT_EQ(aclmdlExecute(id, input_, output_), ACL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(aclmdlUnload(id), ACL_SUCCESS);
}

// y = relu(x) + x for any number of rows.
std::vector<std::byte> open_model(compile::Options options) {
  NetBuilder net;
  const ValueId x = net.input("x", DType::f32, {kDynamicDim, 64});
  options.input_format = Format::nd;
  return net.model(net.unshaped(net.node("Add", {net.unshaped(net.node("Relu", {x})), x})),
                   options);
}

class ExecuteGears : public Execute {
 protected:
  std::vector<std::byte> bytes_of_model() override {
    compile::Options options;
    options.input_shapes = *compile::parse_input_shapes("x:-1,64");
    options.gears = *compile::parse_gears("", "", "4;2");
    return open_model(options);
  }
};

TEST_F(ExecuteGears, TheGearThatWasChosenRunsWithoutLocksAllocationsAndNames) {
  aclmdlIODims gear = {};
  gear.dimCount = 2;
  gear.dims[0] = 2;
  gear.dims[1] = 64;
  ASSERT_EQ(aclmdlSetInputDynamicDims(model_, input_, 1, &gear), ACL_SUCCESS)
      << aclGetRecentErrMsg();
  EXPECT_EQ(costs_of([&] { run(); }), Costs());
}

class ExecuteRanges : public Execute {
 protected:
  std::vector<std::byte> bytes_of_model() override {
    compile::Options options;
    options.input_shapes = *compile::parse_input_shapes("x:1~4,64");
    return open_model(options);
  }
};

TEST_F(ExecuteRanges, AShapeThatComesAgainTakesNoLockAndAllocatesNothing) {
  const int64_t shape[] = {3, 64};
  aclTensorDesc* const desc = aclCreateTensorDesc(ACL_FLOAT, 2, shape, ACL_FORMAT_ND);
  ASSERT_EQ(aclmdlSetDatasetTensorDesc(input_, desc, 0), ACL_SUCCESS);
  aclDestroyTensorDesc(desc);
  run();
  aclTensorDesc* const found = aclmdlGetDatasetTensorDesc(output_, 0);
  const Costs costs = costs_of([&] { run(); });
  EXPECT_EQ(costs.allocations, 0);
  EXPECT_EQ(costs.locks, 0);
  EXPECT_EQ(aclGetTensorDescSize(found), 3u * 64 * 4) << "what was found before stays valid";
}

class ExecuteAipp : public Execute {
 protected:
  std::vector<std::byte> bytes_of_model() override {
    NetBuilder net;
    compile::Options options;
    options.aipp = *compile::parse_aipp("aipp_op { aipp_mode: dynamic max_src_image_size: 192 }");
    const ValueId x = net.input("x", DType::f32, {1, 3, 8, 8});
    return net.model(net.unshaped(net.node("Relu", {x})), options);
  }
};

TEST_F(ExecuteAipp, PicturesAreConvertedWithoutLocksAllocationsAndNames) {
  aclmdlAIPP* const set = aclmdlCreateAIPP(1);
  ASSERT_EQ(aclmdlSetAIPPSrcImageSize(set, 8, 8), ACL_SUCCESS);
  ASSERT_EQ(aclmdlSetAIPPInputFormat(set, ACL_RGB888_U8), ACL_SUCCESS);
  ASSERT_EQ(aclmdlSetInputAIPP(model_, input_, 1, set), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(aclmdlDestroyAIPP(set), ACL_SUCCESS);
  EXPECT_EQ(costs_of([&] { run(); }), Costs());
}

}  // namespace
}  // namespace anynpu::acl
