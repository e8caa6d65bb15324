// SPDX-License-Identifier: Apache-2.0
#include "npc/module.h"

#include <gmock/gmock.h>

#include <random>

#include "npc/fuzz_seed_for_test.h"
#include "npc/kernel_for_test.h"

namespace anynpu::npc {
namespace {

using testing::HasSubstr;

const char kSource[] = R"(
  __shared__ int shared[16];
  __mutable__ int counter = 3;
  __thread int own;
  struct Base { virtual int f() = 0; };
  struct Derived : Base { int f() override { return counter; } };
  Derived object;
  static const int table[] = {1, 2, 3};
  extern "C" void run(int* out, int n) {
    Base* base = &object;
    out[CoreID & 7] = base->f() + table[n % 3] + own;
    shared[CoreID] = n;
    printf("%d\n", n / 3);
  })";

class ModuleTest : public KernelTest {
 protected:
  Status load_status(const std::vector<std::byte>& bytes) {
    return Module::load(*cluster, bytes).status();
  }
};

TEST_F(ModuleTest, missing_symbols_are_named) {
  const auto bytes = compile_kernel(
      "extern int nowhere(int); extern \"C\" void run(int* out) { printf(\"%d\", nowhere(*out)); }",
      "-O2", false);
  const Status status = load_status(bytes);
  EXPECT_EQ(status.code(), Code::unsupported_op);
  EXPECT_THAT(status.to_string(), HasSubstr("_Z7nowherei, printf"));
}

TEST_F(ModuleTest, what_is_no_device_image_is_refused) {
  EXPECT_EQ(load_status({}).code(), Code::file_not_found);
  EXPECT_EQ(load_status(std::vector<std::byte>(1000)).code(), Code::file_invalid);
  const Status host = load_status(read_bytes("/proc/self/exe"));
  EXPECT_EQ(host.code(), Code::file_invalid);
  auto bytes = compile_kernel("extern \"C\" void run() {}");
  bytes[18] = std::byte{62};  // x86-64
  EXPECT_THAT(load_status(bytes).to_string(), HasSubstr("machine 62, expected 243"));
}

TEST_F(ModuleTest, too_many_writable_sections_are_refused) {
  std::string source;
  for (int i = 0; i < 70; ++i) source += "int v" + std::to_string(i) + " = 1;\n";
  source += "extern \"C\" void run(int* out) {}";
  EXPECT_EQ(load_status(compile_kernel(source, "-O2 -fdata-sections")).code(),
            Code::limit_exceeded);
  EXPECT_TRUE(load_status(compile_kernel(source)).ok());
}

TEST_F(ModuleTest, too_much_shared_or_local_data_is_refused) {
  EXPECT_EQ(load_status(compile_kernel("__shared__ char big[9 << 20]; extern \"C\" void run(int i) "
                                       "{ big[i] = 1; }",
                                       "-O0"))
                .code(),
            Code::limit_exceeded);
  EXPECT_EQ(load_status(compile_kernel("__local__ char big[2 << 20]; extern \"C\" void run(int i) "
                                       "{ big[i] = 1; }",
                                       "-O0"))
                .code(),
            Code::limit_exceeded);
}

TEST_F(ModuleTest, memory_of_modules_comes_back) {
  const auto bytes = compile_kernel(kSource);
  const size_t before = cluster->free_bytes();
  {
    auto first = Module::load(*cluster, bytes), second = Module::load(*cluster, bytes);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_LT(cluster->free_bytes(), before);
  }
  EXPECT_EQ(cluster->free_bytes(), before);
}

TEST_F(ModuleTest, cplusplus_kernels_are_found_by_their_plain_name) {
  auto loaded = Module::load(
      *cluster,
      compile_kernel("void plain(int* out) { *out = 1; } void twice(int) {} void twice(float) {}"));
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE((*loaded)->has_kernel("plain"));
  EXPECT_FALSE((*loaded)->has_kernel("twice"));
  EXPECT_FALSE((*loaded)->has_kernel("plai"));
}

TEST_F(ModuleTest, files_cut_off_anywhere_are_refused) {
  auto bytes = compile_kernel(kSource, "-O1");
  const size_t before = cluster->free_bytes();
  for (size_t length = 0; length < bytes.size(); length += 1 + length / 64) {
    const std::vector<std::byte> part(bytes.begin(), bytes.begin() + length);
    EXPECT_FALSE(load_status(part).ok()) << length;
  }
  EXPECT_EQ(cluster->free_bytes(), before);
}

TEST_F(ModuleTest, flipped_bits_never_crash_the_loader_or_a_launch) {
  const auto bytes = compile_kernel(kSource, "-O1 -g");
  const uint32_t out = device_words(std::vector<uint32_t>(8));
  // Other bits for each repetition with --gtest_shuffle (make fuzz).
  std::mt19937 random(1 + fuzz_seed());
  int loaded = 0;
  for (int round = 0; round < 600; ++round) {
    // The translator reads what was damaged too; it takes longer.
    if (round == 24) setenv("ANYNPU_NPC_INTERPRET", "1", 1);
    auto damaged = bytes;
    const int flips = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < flips; ++i) {
      // Half of them in the headers and tables at the end, where they matter most.
      const size_t at = round % 2 ? random() % damaged.size()
                                  : damaged.size() - 1 - random() % (damaged.size() / 2);
      damaged[at] ^= static_cast<std::byte>(1u << (random() % 8));
    }
    auto module = Module::load(*cluster, damaged);
    if (!module.ok()) continue;
    ++loaded;
    LaunchRequest request;
    request.kernel = "run";
    request.args = {out, 9};
    request.core_num = 2;
    request.budget = 20000;
    request.print = [](int, std::string_view) {};
    LaunchStats stats;
    const Status status = (*cluster).launch(**module, request, &stats);
    if (!status.ok()) {
      EXPECT_FALSE(status.message().empty());
    }
  }
  unsetenv("ANYNPU_NPC_INTERPRET");
  EXPECT_GT(loaded, 0);
}

}  // namespace
}  // namespace anynpu::npc
