// SPDX-License-Identifier: Apache-2.0
// Compiles device programs at test time with stc-clang++ and stc-ld.lld, and launches them.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "npc/cluster.h"
#include "npc/module.h"

namespace anynpu::npc {

inline bool have_toolchain() {
  return std::filesystem::exists(std::string(ANYNPU_STC_BIN) + "/../riscv32npu/lib/libnpurt_hld.a");
}

inline std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// Host code of test kernels goes to a folder of this process, removed at its end.
struct OwnCache {
  OwnCache() {
    folder = (std::filesystem::temp_directory_path() / "npc-cache-XXXXXX").string();
    if (mkdtemp(folder.data())) setenv("ASCEND_CACHE_PATH", folder.c_str(), 1);
  }
  ~OwnCache() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::string folder;
};
inline const OwnCache own_cache;

// The linked object; empty (and a failed test) when the compiler refuses it.
inline std::vector<std::byte> compile_kernel(const std::string& source,
                                             const std::string& options = "-O2",
                                             bool with_runtime = true) {
  std::string folder = (std::filesystem::temp_directory_path() / "npc-test-XXXXXX").string();
  if (!mkdtemp(folder.data())) return {};
  const std::filesystem::path at(folder);
  std::ofstream(at / "kernel.cc") << source;
  const std::string bin = ANYNPU_STC_BIN;
  const std::string library = with_runtime ? " /usr/local/hpe/riscv32npu/lib/libnpurt_hld.a" : "";
  const std::string command = "cd " + folder + " && " + bin + "/stc-clang++ --target=riscv32npu " +
                              options + " -c kernel.cc && " + bin +
                              "/stc-ld.lld -flavor gnu kernel.o" + library +
                              " -r -o kernel-fatbin.o";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  auto bytes = read_bytes(at / "kernel-fatbin.o");
  std::filesystem::remove_all(at);
  return bytes;
}

class KernelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!have_toolchain()) GTEST_SKIP() << "clang-19 is not installed";
    auto found = Cluster::get(0);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    cluster = *found;
  }

  void load(const std::string& source, const std::string& options = "-O2") {
    auto loaded = Module::load(*cluster, compile_kernel(source, options));
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    module = *loaded;
  }

  // Interpreted, whatever the translator could do with it.
  void load_interpreted(const std::vector<std::byte>& object) {
    setenv("ANYNPU_NPC_INTERPRET", "1", 1);
    auto loaded = Module::load(*cluster, object);
    unsetenv("ANYNPU_NPC_INTERPRET");
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    module = *loaded;
  }

  // Words in device memory, filled with `values`; freed with the test's process.
  uint32_t device_words(const std::vector<uint32_t>& values) {
    auto at = cluster->allocate(values.size() * 4);
    EXPECT_TRUE(at.ok());
    EXPECT_TRUE(cluster->write(*at, values.data(), values.size() * 4).ok());
    return *at;
  }
  std::vector<uint32_t> words_at(uint32_t address, size_t count) {
    std::vector<uint32_t> values(count);
    EXPECT_TRUE(cluster->read(address, values.data(), count * 4).ok());
    return values;
  }

  Status run(const std::string& kernel, std::vector<uint32_t> args, int core_num = 8,
             uint64_t budget = 0) {
    LaunchRequest request;
    request.kernel = kernel;
    request.args = std::move(args);
    request.core_num = core_num;
    request.budget = budget;
    request.print = [this](int core, std::string_view text) { printed += text; };
    return cluster->launch(*module, request, &stats);
  }

  Cluster* cluster = nullptr;
  std::shared_ptr<Module> module;
  LaunchStats stats;
  std::string printed;
};

}  // namespace anynpu::npc
