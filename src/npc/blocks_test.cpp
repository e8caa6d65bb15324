// SPDX-License-Identifier: Apache-2.0
// Launches of more blocks than a cluster has cores.
#include <gtest/gtest.h>

#include "npc/kernel_for_test.h"

namespace anynpu::npc {

namespace {

constexpr const char* kBlocks = R"(
  __local__ int seen = 1;
  extern "C" void mark(int* of_block, int* count) {
    of_block[CoreID] = CoreNum * seen;
    seen = 0;  // of this block alone: the next one on the core finds 1 again
    __atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
  }
  extern "C" void spin(int* out, int rounds) {
    int sum = 0;
    for (volatile int i = 0; i < rounds; i = i + 1) sum += i;
    out[CoreID] = sum;
  }
  extern "C" void meet(int* out) { out[CoreID] = 1; sync(); }
  extern "C" void leave_early(int* out) {
    out[CoreID] = 1;
    if (CoreID % 2) exit(0);
    out[CoreID] = 2;
  }
  extern "C" void trap_in_one(int* out) {
    if (CoreID == 11) *(volatile int*)0 = 1;
    out[CoreID] = 1;
  }
)";

class BlocksTest : public KernelTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    if (GetParam()) return load_interpreted(compile_kernel(kBlocks, "-O2"));
    load(kBlocks);
  }

  Status run_blocks(const std::string& kernel, std::vector<uint32_t> args, int blocks) {
    LaunchRequest request;
    request.kernel = kernel;
    request.args = std::move(args);
    request.core_num = std::min(blocks, kCores);
    request.blocks = blocks;
    return cluster->launch(*module, request, &stats);
  }
};

TEST_P(BlocksTest, every_block_runs_once_with_its_number_and_fresh_local_data) {
  for (const int blocks : {1, 7, 8, 9, 16, 61, 1000}) {
    const auto count = static_cast<size_t>(blocks);
    const uint32_t of_block = device_words(std::vector<uint32_t>(count + 1)),
                   runs = device_words({0});
    const Status status = run_blocks("mark", {of_block, runs}, blocks);
    ASSERT_TRUE(status.ok()) << status.to_string();
    std::vector<uint32_t> expected(count, static_cast<uint32_t>(blocks));
    expected.push_back(0);
    EXPECT_EQ(words_at(of_block, count + 1), expected);
    EXPECT_EQ(words_at(runs, 1)[0], count);
    EXPECT_EQ(stats.cores.size(), std::min<size_t>(count, kCores));
  }
}

TEST_P(BlocksTest, counters_of_a_core_hold_all_its_blocks) {
  const uint32_t out = device_words(std::vector<uint32_t>(24));
  ASSERT_TRUE(run_blocks("spin", {out, 1000}, 8).ok());
  const std::vector<CoreCounters> one = stats.cores;
  ASSERT_TRUE(run_blocks("spin", {out, 1000}, 20).ok());
  for (size_t core = 0; core < stats.cores.size(); ++core) {
    const uint64_t turns = core < 4 ? 3 : 2;
    EXPECT_EQ(stats.cores[core].instructions, turns * one[core].instructions) << "core " << core;
  }
}

TEST_P(BlocksTest, long_blocks_take_turns_on_all_threads) {
  const uint32_t out = device_words(std::vector<uint32_t>(40));
  ASSERT_TRUE(run_blocks("spin", {out, 20000}, 40).ok());
  EXPECT_EQ(words_at(out, 40), std::vector<uint32_t>(40, 20000u * 19999 / 2));
}

TEST_P(BlocksTest, a_block_that_calls_exit_gives_its_core_to_the_next) {
  const uint32_t out = device_words(std::vector<uint32_t>(30));
  ASSERT_TRUE(run_blocks("leave_early", {out}, 30).ok());
  const auto values = words_at(out, 30);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i % 2 ? 1u : 2u) << i;
}

TEST_P(BlocksTest, sync_among_blocks_that_never_meet_is_a_trap_that_says_so) {
  const uint32_t out = device_words(std::vector<uint32_t>(9));
  EXPECT_TRUE(run_blocks("meet", {out}, 8).ok());
  const Status status = run_blocks("meet", {out}, 9);
  EXPECT_EQ(status.code(), Code::task_failed);
  EXPECT_NE(status.message().find("sync() in a launch of 9 blocks"), std::string::npos)
      << status.message();
}

TEST_P(BlocksTest, a_trap_names_the_block_and_ends_the_launch) {
  const uint32_t out = device_words(std::vector<uint32_t>(100));
  const Status status = run_blocks("trap_in_one", {out}, 100);
  EXPECT_EQ(status.code(), Code::task_failed);
  EXPECT_NE(status.message().find("block 11 on core 3"), std::string::npos) << status.message();
  EXPECT_NE(stats.trap_report.find("block 11 on core 3"), std::string::npos) << stats.trap_report;
  EXPECT_TRUE(run_blocks("mark", {out, device_words({0})}, 100).ok());
}

TEST_P(BlocksTest, a_time_limit_is_for_all_blocks_together) {
  const uint32_t out = device_words(std::vector<uint32_t>(60000));
  LaunchRequest request;
  request.kernel = "spin";
  request.args = {out, 10'000'000};
  request.blocks = 60000;
  request.timeout_ns = 20'000'000;
  EXPECT_EQ(cluster->launch(*module, request, &stats).code(), Code::kernel_timeout);
}

TEST_P(BlocksTest, numbers_of_blocks_are_checked) {
  for (const int blocks : {-1, 7, 65536}) {
    LaunchRequest request;
    request.kernel = "meet";
    request.args = {0};
    request.blocks = blocks;
    EXPECT_EQ(cluster->launch(*module, request, &stats).code(), Code::invalid_config) << blocks;
  }
}

INSTANTIATE_TEST_SUITE_P(Npc, BlocksTest, testing::Bool(), [](const auto& info) {
  return info.param ? "interpreted" : "translated";
});

}  // namespace

}  // namespace anynpu::npc
