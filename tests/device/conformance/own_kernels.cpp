// SPDX-License-Identifier: Apache-2.0
// Models and operators on a back end with kernels of its own: some operators run with these, the
// others fall back to the host and say so. Every device must give the same results.
#include <cmath>
#include <string>
#include <thread>

#include "acl/acl_op_compiler.h"
#include "acl/ops/acl_cblas.h"
#include "dataset.h"
#include "device/runtime.h"
#include "device_case.h"
#include "exec/model.h"
#include "om/container.h"
#include "small_models.h"

namespace conformance {
namespace {

constexpr size_t kCount = kRows * kColumns;

std::vector<float> input_values(float step = 0.01F) {
  std::vector<float> values(kCount);
  for (size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i % 17) * step - 4 * step;
  return values;
}

// What mixed_model() computes.
std::vector<float> mixed(const std::vector<float>& x) {
  std::vector<float> y(kCount);
  for (size_t row = 0; row < kRows; ++row) {
    std::vector<double> shares(kColumns);
    double total = 0;
    for (size_t column = 0; column < kColumns; ++column) {
      double sum = 0;
      for (size_t i = 0; i < kColumns; ++i)
        sum += std::max(0.0F, x[row * kColumns + i]) * mixed_weight(i, column);
      shares[column] = std::exp(sum);
      total += shares[column];
    }
    for (size_t column = 0; column < kColumns; ++column) {
      y[row * kColumns + column] =
          static_cast<float>(shares[column] / total) + x[row * kColumns + column];
    }
  }
  return y;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5) << "element " << i;
}

class MixedModels : public DeviceCase {
 protected:
  void load(const std::vector<std::byte>& bytes) {
    ASSERT_ACL(aclmdlLoadFromMem(bytes.data(), bytes.size(), &model_));
  }
  void TearDown() override {
    if (model_ != UINT32_MAX) {
      EXPECT_ACL(aclmdlUnload(model_));
    }
    DeviceCase::TearDown();
  }
  void run_in_stream(size_t times, float step) const {
    aclrtStream stream = nullptr;
    ASSERT_ACL(aclrtSetDevice(0));
    ASSERT_ACL(aclrtCreateStream(&stream));
    const auto sent = input_values(step);
    const Block<float> x(sent), y(kCount);
    const Dataset in{{x.at(), x.bytes()}}, out{{y.at(), y.bytes()}};
    for (size_t i = 0; i < times; ++i) {
      ASSERT_ACL(aclrtMemsetAsync(y.at(), y.bytes(), 0, y.bytes(), stream));
      ASSERT_ACL(aclmdlExecuteAsync(model_, in.get(), out.get(), stream));
    }
    ASSERT_ACL(aclrtSynchronizeStream(stream));
    expect_near(y.get(), mixed(sent));
    EXPECT_ACL(aclrtDestroyStream(stream));
  }

  uint32_t model_ = UINT32_MAX;
};

TEST_F(MixedModels, AnIndexOutsideItsAxisIsReportedAndTheNextRunIsFine) {
  load(rows_model());
  const auto sent = input_values();
  const Block<float> x(sent), y(kCount);
  const Block<int64_t> good(std::vector<int64_t>{3, 0, -1, 1}),
      bad(std::vector<int64_t>{0, 7, 1, 2});
  const Dataset wrong{{x.at(), x.bytes()}, {bad.at(), bad.bytes()}};
  const Dataset right{{x.at(), x.bytes()}, {good.at(), good.bytes()}};
  const Dataset out{{y.at(), y.bytes()}};
  EXPECT_NE(aclmdlExecute(model_, wrong.get(), out.get()), ACL_SUCCESS);
  const char* const why = aclGetRecentErrMsg();
  EXPECT_NE(std::string(why ? why : "").find("7"), std::string::npos) << why;
  ASSERT_ACL(aclmdlExecute(model_, right.get(), out.get()));
  const auto got = y.get();
  for (size_t c = 0; c < kColumns; ++c) {
    ASSERT_EQ(got[c], sent[3 * kColumns + c]);
    ASSERT_EQ(got[2 * kColumns + c], sent[3 * kColumns + c]);
  }
}

TEST_F(MixedModels, RunInTheCallingThread) {
  load(mixed_model());
  const Block<float> x(input_values()), y(kCount);
  const Dataset in{{x.at(), x.bytes()}}, out{{y.at(), y.bytes()}};
  for (int i = 0; i < 3; ++i) ASSERT_ACL(aclmdlExecute(model_, in.get(), out.get()));
  expect_near(y.get(), mixed(input_values()));
}

// Runs that overlap have work memory of their own.
TEST_F(MixedModels, RunInSeveralStreamsAtOnce) {
  load(mixed_model());
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i) {
    threads.emplace_back([this, i] {
      run_in_stream(20, 0.01F * static_cast<float>(i));
      EXPECT_ACL(aclrtResetDevice(0));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(MixedModels, TakeBuffersOfTheHost) {
  load(mixed_model());
  auto x = input_values();
  std::vector<float> y(kCount);
  const Dataset in{{x.data(), kCount * sizeof(float)}}, out{{y.data(), kCount * sizeof(float)}};
  ASSERT_ACL(aclmdlExecute(model_, in.get(), out.get()));
  expect_near(y, mixed(x));
}

TEST_F(MixedModels, LiveInMemoryOfTheProgram) {
  const auto bytes = mixed_model();
  size_t work = 0, weight = 0;
  ASSERT_ACL(aclmdlQuerySizeFromMem(bytes.data(), bytes.size(), &work, &weight));
  EXPECT_GE(weight, kColumns * kColumns * sizeof(float));
  const Block<uint8_t> work_block(work + 64), weight_block(weight + 64);
  ASSERT_ACL(aclmdlLoadFromMemWithMem(bytes.data(), bytes.size(), &model_, work_block.at(),
                                      work + 64, weight_block.at(), weight + 64));
  run_in_stream(5, 0.02F);
  ASSERT_ACL(aclmdlUnload(model_));
  model_ = UINT32_MAX;
}

TEST_F(MixedModels, KeepTheirWeightsInTheMemoryOfTheDevice) {
  const auto bytes = mixed_model();
  size_t before = 0, loaded = 0, after = 0, total = 0;
  ASSERT_ACL(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  load(bytes);
  ASSERT_ACL(aclrtGetMemInfo(ACL_HBM_MEM, &loaded, &total));
  EXPECT_GE(before, loaded + kColumns * kColumns * sizeof(float));
  ASSERT_ACL(aclmdlUnload(model_));
  model_ = UINT32_MAX;
  ASSERT_ACL(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  EXPECT_EQ(after, before);
}

TEST_F(MixedModels, GiveTheirMemoryBackAfterRunsInAStream) {
  const auto bytes = mixed_model();
  size_t before = 0, after = 0, total = 0;
  ASSERT_ACL(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  load(bytes);
  run_in_stream(3, 0.01F);
  ASSERT_ACL(aclmdlUnload(model_));
  model_ = UINT32_MAX;
  ASSERT_ACL(aclrtResetDevice(0));
  ASSERT_ACL(aclrtSetDevice(0));
  ASSERT_ACL(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  EXPECT_EQ(after, before);
}

TEST_F(MixedModels, BranchOnAValueOfTheDevice) {
  load(branch_model());
  for (const float sign : {1.0F, -1.0F}) {
    std::vector<float> sent(kCount, sign), expected(kCount, sign > 0 ? 2.0F : 0.0F);
    const Block<float> x(sent), y(kCount);
    const Dataset in{{x.at(), x.bytes()}}, out{{y.at(), y.bytes()}};
    ASSERT_ACL(aclmdlExecute(model_, in.get(), out.get()));
    EXPECT_EQ(y.get(), expected);
  }
}

TEST_F(MixedModels, SayWhichStepsFallBackToTheHost) {
  const auto device = *anynpu::device::Runtime::instance().device(0);
  if (!device->has_own_kernels()) GTEST_SKIP() << "the device has no kernels of its own";
  const auto bytes = mixed_model();
  auto model = anynpu::om::read_copy(bytes);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  anynpu::exec::LoadOptions options;
  options.run_on(device);
  const auto loaded = anynpu::exec::LoadedModel::load(model->graph, options);
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  size_t own = 0, on_host = 0;
  for (const auto& step : (*loaded)->steps()) {
    const bool fallback = step.kernel.ends_with(" (on the host)");
    ++(fallback ? on_host : own);
    // What a back end begins with; Softmax it may have or not.
    if (fallback) EXPECT_EQ(step.name, "Softmax") << step.kernel;
  }
  EXPECT_GE(own, 3U);
  EXPECT_EQ(own + on_host, 4U);
  if (device->capabilities().backend == "remote") EXPECT_EQ(on_host, 1U) << "it has no Softmax";
}

class OwnOperators : public DeviceCase {
 protected:
  static constexpr int64_t kSide[] = {8, 8};
  static std::vector<aclTensorDesc*> matrices(size_t count) {
    std::vector<aclTensorDesc*> descs;
    for (size_t i = 0; i < count; ++i)
      descs.push_back(aclCreateTensorDesc(ACL_FLOAT, 2, kSide, ACL_FORMAT_ND));
    return descs;
  }
};

// A handle made for one device is used on a stream of another.
TEST_F(OwnOperators, RunByHandleOnTheDeviceOfTheStream) {
  uint32_t devices = 0;
  ASSERT_ACL(aclrtGetDeviceCount(&devices));
  const auto descs = matrices(3);
  ASSERT_ACL(aclopCompile("Add", 2, descs.data(), 1, &descs[2], nullptr, ACL_ENGINE_SYS,
                          ACL_COMPILE_SYS, nullptr));
  aclopHandle* handle = nullptr;
  ASSERT_ACL(aclopCreateHandle("Add", 2, descs.data(), 1, &descs[2], nullptr, &handle));
  for (uint32_t device = 0; device < devices; ++device) {
    ASSERT_ACL(aclrtSetDevice(static_cast<int32_t>(device)));
    aclrtStream stream = nullptr;
    ASSERT_ACL(aclrtCreateStream(&stream));
    {
      const Block<float> a(counted<float>(64)), b(counted<float>(64, 2)), c(64);
      aclDataBuffer* const in[] = {aclCreateDataBuffer(a.at(), a.bytes()),
                                   aclCreateDataBuffer(b.at(), b.bytes())};
      aclDataBuffer* const out[] = {aclCreateDataBuffer(c.at(), c.bytes())};
      ASSERT_ACL(aclopExecWithHandle(handle, 2, in, 1, out, stream));
      ASSERT_ACL(aclrtSynchronizeStream(stream));
      EXPECT_EQ(c.get(), counted<float>(64, 3)) << "on device " << device;
      for (aclDataBuffer* buffer : {in[0], in[1], out[0]}) EXPECT_ACL(aclDestroyDataBuffer(buffer));
    }
    EXPECT_ACL(aclrtDestroyStream(stream));
    if (device > 0) {
      EXPECT_ACL(aclrtResetDevice(static_cast<int32_t>(device)));
    }
  }
  aclopDestroyHandle(handle);
  for (aclTensorDesc* desc : descs) aclDestroyTensorDesc(desc);
  ASSERT_ACL(aclrtSetDevice(0));
}

// Rows with gaps between them, an old c that counts, and factors in device memory.
TEST_F(OwnOperators, MultiplyMatricesWithLeadingDimensions) {
  const aclrtStream stream = create_stream();
  const Block<float> a(std::vector<float>{0, 1, 2, 99, 3, 4, 5, 99});
  const Block<float> b(counted<float>(6)), c(std::vector<float>{100, 100, 7, 100, 100, 7});
  const Block<float> alpha(std::vector<float>{2}), beta(std::vector<float>{0.5F});
  for (int i = 0; i < 2; ++i) {
    ASSERT_ACL(aclblasGemmEx(ACL_TRANS_N, ACL_TRANS_N, ACL_TRANS_N, 2, 2, 3, alpha.at(), a.at(), 4,
                             ACL_FLOAT, b.at(), -1, ACL_FLOAT, beta.at(), c.at(), 3, ACL_FLOAT,
                             ACL_COMPUTE_HIGH_PRECISION, stream));
  }
  ASSERT_ACL(aclrtSynchronizeStream(stream));
  // First 2 * [10 13; 28 40] + 0.5 * 100, then 2 * [10 13; 28 40] + half of that.
  EXPECT_EQ(c.get(), (std::vector<float>{55, 64, 7, 109, 145, 7}));
}

}  // namespace
}  // namespace conformance
