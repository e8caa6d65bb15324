// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl/ops/acl_cblas.h"
#include "dataset.h"
#include "device_case.h"
#include "small_models.h"

namespace conformance {
namespace {

constexpr size_t kCount = kRows * kColumns;

// 0, 1, -2, 3, -4, ...: no -0, whose sign an operator may keep or drop.
std::vector<float> input_values() {
  auto values = counted<float>(kCount);
  for (size_t i = 2; i < kCount; i += 2) values[i] = -values[i];
  return values;
}
std::vector<float> relu(std::vector<float> values) {
  for (float& v : values) v = v > 0 ? v : 0;
  return values;
}
std::vector<float> relu_add(std::vector<float> values) {
  for (float& v : values) v = (v > 0 ? v : 0) + v;
  return values;
}

class Models : public DeviceCase {
 protected:
  void load(const std::vector<std::byte>& bytes) {
    ASSERT_ACL(aclmdlLoadFromMem(bytes.data(), bytes.size(), &model_));
  }
  void TearDown() override {
    if (model_ != kNone) aclmdlUnload(model_);
    DeviceCase::TearDown();
  }
  // Runs relu_add once and compares.
  void run_relu_add() {
    const Block<float> x(input_values()), y(kCount);
    const Dataset in{{x.at(), x.bytes()}}, out{{y.at(), y.bytes()}};
    ASSERT_ACL(aclmdlExecute(model_, in.get(), out.get()));
    EXPECT_EQ(y.get(), relu_add(input_values()));
  }

  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t model_ = kNone;
};

TEST_F(Models, RunInTheCallingThread) {
  load(relu_add_model());
  run_relu_add();
}

TEST_F(Models, RunInStreamOrder) {
  load(relu_add_model());
  const aclrtStream stream = create_stream();
  const Block<float> x(kCount), y(kCount), z(kCount);
  const Dataset in{{x.at(), x.bytes()}}, middle{{y.at(), y.bytes()}}, out{{z.at(), z.bytes()}};
  const auto sent = input_values();
  std::vector<float> got(kCount);
  ASSERT_ACL(aclrtMemcpyAsync(x.at(), x.bytes(), sent.data(), x.bytes(), ACL_MEMCPY_HOST_TO_DEVICE,
                              stream));
  ASSERT_ACL(aclmdlExecuteAsync(model_, in.get(), middle.get(), stream));
  ASSERT_ACL(aclmdlExecuteAsync(model_, middle.get(), out.get(), stream));
  ASSERT_ACL(aclrtMemcpyAsync(got.data(), z.bytes(), z.at(), z.bytes(), ACL_MEMCPY_DEVICE_TO_HOST,
                              stream));
  ASSERT_ACL(aclrtSynchronizeStream(stream));
  EXPECT_EQ(got, relu_add(relu_add(sent)));
}

TEST_F(Models, LiveInMemoryOfTheProgram) {
  const auto bytes = relu_add_model();
  size_t work = 0, weight = 0;
  ASSERT_ACL(aclmdlQuerySizeFromMem(bytes.data(), bytes.size(), &work, &weight));
  const Block<uint8_t> work_block(work + 64), weight_block(weight + 64);
  ASSERT_ACL(aclmdlLoadFromMemWithMem(bytes.data(), bytes.size(), &model_, work_block.at(),
                                      work + 64, weight_block.at(), weight + 64));
  run_relu_add();
  ASSERT_ACL(aclmdlUnload(model_));
  model_ = kNone;
}

TEST_F(Models, AreReadFromDeviceMemory) {
  const auto bytes = relu_add_model();
  const Block<std::byte> file(bytes);
  ASSERT_ACL(aclmdlLoadFromMem(file.at(), file.bytes(), &model_));
  run_relu_add();
}

TEST_F(Models, ARunDecidesTheShapeOfAnOutput) {
  load(non_zero_model());
  std::vector<float> values(kCount, 0.0F);
  values[5] = 1;
  values[kColumns + 7] = -1;
  const Block<float> x(values);
  const Block<int64_t> places(2 * kCount);
  const Dataset in{{x.at(), x.bytes()}}, out{{places.at(), places.bytes()}};
  ASSERT_ACL(aclmdlExecute(model_, in.get(), out.get()));
  auto got = places.get();
  got.resize(4);
  EXPECT_EQ(got, (std::vector<int64_t>{0, 1, 5, 7}));
}

TEST_F(Models, ABufferThatIsTooSmallIsRefused) {
  load(relu_add_model());
  const Block<float> x(kCount), y(8);
  const Dataset in{{x.at(), x.bytes()}}, out{{y.at(), y.bytes()}};
  EXPECT_NE(aclmdlExecute(model_, in.get(), out.get()), ACL_SUCCESS);
}

class SingleOperators : public DeviceCase {
 protected:
  // Runs an operator with float inputs of `count` elements each.
  static aclError run(const char* type, std::vector<void*> inputs, void* output, int64_t count,
                      aclrtStream stream) {
    std::vector<aclTensorDesc*> descs;
    std::vector<aclDataBuffer*> buffers;
    const auto add = [&](void* address) {
      descs.push_back(aclCreateTensorDesc(ACL_FLOAT, 1, &count, ACL_FORMAT_ND));
      buffers.push_back(aclCreateDataBuffer(address, static_cast<size_t>(count) * sizeof(float)));
    };
    for (void* input : inputs) add(input);
    add(output);
    const int ins = static_cast<int>(inputs.size());
    const aclError error = aclopCompileAndExecute(
        type, ins, descs.data(), buffers.data(), 1, &descs[inputs.size()], &buffers[inputs.size()],
        nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream);
    for (aclTensorDesc* desc : descs) aclDestroyTensorDesc(desc);
    for (aclDataBuffer* buffer : buffers) EXPECT_ACL(aclDestroyDataBuffer(buffer));
    return error;
  }
};

TEST_F(SingleOperators, RunInStreamOrder) {
  const aclrtStream stream = create_stream();
  const Block<float> a(counted<float>(100)), b(counted<float>(100, 2)), c(100);
  ASSERT_ACL(run("Add", {a.at(), b.at()}, c.at(), 100, stream));
  ASSERT_ACL(run("Mul", {c.at(), b.at()}, a.at(), 100, stream));
  ASSERT_ACL(aclrtSynchronizeStream(stream));
  EXPECT_EQ(c.get(), counted<float>(100, 3));
  const auto product = a.get();
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(product[i], static_cast<float>(6 * i * i));
}

TEST_F(SingleOperators, MatricesAreMultipliedInStreamOrder) {
  const aclrtStream stream = create_stream();
  const Block<float> a(counted<float>(6)), b(counted<float>(6)), c(std::vector<float>(4, 100));
  const Block<float> alpha(std::vector<float>{2}), beta(std::vector<float>{1});
  ASSERT_ACL(aclblasGemmEx(ACL_TRANS_N, ACL_TRANS_N, ACL_TRANS_N, 2, 2, 3, alpha.at(), a.at(), -1,
                           ACL_FLOAT, b.at(), -1, ACL_FLOAT, beta.at(), c.at(), -1, ACL_FLOAT,
                           ACL_COMPUTE_HIGH_PRECISION, stream));
  ASSERT_ACL(aclrtSynchronizeStream(stream));
  // [0 1 2; 3 4 5] x [0 1; 2 3; 4 5] = [10 13; 28 40]
  EXPECT_EQ(c.get(), (std::vector<float>{120, 126, 156, 180}));
}

// A folder that is removed at the end.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/anynpu-conformance-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() {
    const std::string command = "rm -rf '" + path_ + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  const std::string& path() const { return path_; }
  // Files below it.
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    collect(path_, found);
    return found;
  }
  // Whether a file with `name` in its path holds these values.
  bool has_values(const std::string& name, const std::vector<float>& values) const {
    const std::string wanted(reinterpret_cast<const char*>(values.data()),
                             values.size() * sizeof(float));
    for (const std::string& path : files()) {
      if (path.find(name) == std::string::npos) continue;
      std::ifstream file(path, std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), {});
      if (bytes.find(wanted) != std::string::npos) return true;
    }
    return false;
  }

 private:
  static void collect(const std::string& folder, std::vector<std::string>& found) {
    DIR* const directory = opendir(folder.c_str());
    if (!directory) return;
    while (const dirent* entry = readdir(directory)) {
      const std::string name = entry->d_name, path = folder + "/" + name;
      if (name == "." || name == "..") continue;
      struct stat info {};
      if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
        collect(path, found);
      } else {
        found.push_back(path);
      }
    }
    closedir(directory);
  }
  std::string path_;
};

class Dump : public Models {};

TEST_F(Dump, EveryOperatorIsWrittenWithItsValues) {
  const Folder folder;
  const std::string config = folder.path() + "/acl.json", data = folder.path() + "/data";
  ASSERT_EQ(mkdir(data.c_str(), 0700), 0);
  std::ofstream(config)
      << R"({"dump": {"dump_path": ")" << data
      << R"(", "dump_mode": "output", "dump_list": [{"model_name": "relu_add"}]}})";
  ASSERT_ACL(aclmdlInitDump());
  ASSERT_ACL(aclmdlSetDump(config.c_str()));
  load(relu_add_model());
  run_relu_add();
  EXPECT_ACL(aclmdlUnload(model_));
  model_ = kNone;
  ASSERT_ACL(aclmdlFinalizeDump());
  EXPECT_TRUE(folder.has_values("/Relu.", relu(input_values())));
  EXPECT_TRUE(folder.has_values("/Add.", relu_add(input_values())));
}

class Profiling : public Models {};

TEST_F(Profiling, TasksAndOperatorsAreRecorded) {
  const Folder folder;
  ASSERT_ACL(aclprofInit(folder.path().c_str(), folder.path().size()));
  uint32_t device = 0;
  aclprofConfig* const config =
      aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr,
                          ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS);
  ASSERT_NE(config, nullptr);
  ASSERT_ACL(aclprofStart(config));
  load(relu_add_model());
  run_relu_add();
  ASSERT_ACL(aclrtSynchronizeDevice());
  ASSERT_ACL(aclprofStop(config));
  ASSERT_ACL(aclprofDestroyConfig(config));
  ASSERT_ACL(aclprofFinalize());
  EXPECT_FALSE(folder.files().empty());
}

}  // namespace
}  // namespace conformance
