// SPDX-License-Identifier: Apache-2.0
#include "npc/cluster.h"

#include "npc/kernel_for_test.h"

namespace anynpu::npc {
namespace {

// The program of the HPE guide.
const char kCopy[] =
    "#include <npurt.h>\n"
    R"(
extern "C" {
void copy(int *in, int *out, int num) {
    if (CoreID == 0){
        for(int i=0; i<num; i++)
                out[i] = in[i];
    }
}
}
)";

TEST_F(KernelTest, the_copy_kernel_of_the_guide_copies_100_integers) {
  load(kCopy, "");
  std::vector<uint32_t> values(100);
  for (uint32_t i = 0; i < 100; ++i) values[i] = i * 7;
  const uint32_t in = device_words(values), out = device_words(std::vector<uint32_t>(100));
  const Status status = run("copy", {in, out, 100});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(words_at(out, 100), values);
  ASSERT_EQ(stats.cores.size(), 8u);
  EXPECT_GT(stats.cores[0].instructions, stats.cores[1].instructions);
  EXPECT_EQ(stats.cores[1].instructions, stats.cores[7].instructions);
}

TEST_F(KernelTest, instruction_counts_are_exact) {
  // lui or addi, loop of 3 instructions 10 times, ret: counted by hand below.
  load(R"(extern "C" __attribute__((naked)) void count() {
    __asm__("li t0, 10\n1: addi t1, t1, 1\naddi t0, t0, -1\nbnez t0, 1b\nret"); })");
  ASSERT_TRUE(run("count", {}, 2).ok());
  for (const CoreCounters& core : stats.cores) {
    EXPECT_EQ(core.instructions, 1u + 3 * 10 + 1);
    // Nine taken branches cost a cycle more; ret costs two.
    EXPECT_EQ(core.events[kMCU_CYCLE], 1u + 3 * 10 + 9 + 2);
  }
}

TEST_F(KernelTest, cores_meet_in_sync_whatever_the_number_of_threads) {
  load(R"(
    __shared__ int part[8];
    extern "C" void reduce(const int* in, int* out, int count) {
      int sum = 0;
      for (int i = CoreID; i < count; i += CoreNum) sum += in[i];
      part[CoreID] = sum;
      sync();
      for (int step = 1; step < CoreNum; step *= 2) {
        if (CoreID % (2 * step) == 0 && CoreID + step < CoreNum) part[CoreID] += part[CoreID + step];
        sync();
      }
      if (CoreID == 0) *out = part[0];
    })");
  std::vector<uint32_t> values(100000);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < values.size(); ++i) sum += values[i] = i * i;
  const uint32_t in = device_words(values), out = device_words({0});
  for (int cores = 1; cores <= 8; ++cores) {
    const Status status = run("reduce", {in, out, 100000}, cores);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(words_at(out, 1)[0], sum) << cores << " cores";
  }
  EXPECT_EQ(stats.cores[0].events[kSYN_INST], 4u);
}

TEST_F(KernelTest, atomics_across_cores_lose_nothing) {
  load(R"(
    extern "C" void add(int* counter, unsigned* most, int times) {
      for (int i = 0; i < times; ++i) {
        __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
        int old = __atomic_load_n(counter + 1, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(counter + 1, &old, old + 2, true, __ATOMIC_SEQ_CST,
                                            __ATOMIC_RELAXED)) {}
      }
      __atomic_fetch_max(most, (unsigned)CoreID, __ATOMIC_SEQ_CST);
    })");
  const uint32_t counter = device_words({0, 0}), most = device_words({0});
  const Status status = run("add", {counter, most, 20000});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(words_at(counter, 2), (std::vector<uint32_t>{160000, 320000}));
  EXPECT_EQ(words_at(most, 1)[0], 7u);
}

TEST_F(KernelTest, a_spin_lock_between_cores_makes_progress) {
  load(R"(
    extern "C" void turns(volatile int* next, int* out, int rounds) {
      for (int r = 0; r < rounds; ++r) {
        while (*next != r * CoreNum + CoreID) {}
        out[r * CoreNum + CoreID] = CoreID;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        *next = *next + 1;
      }
    })");
  const uint32_t next = device_words({0}), out = device_words(std::vector<uint32_t>(80));
  const Status status = run("turns", {next, out, 10});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(words_at(next, 1)[0], 80u);
}

TEST_F(KernelTest, a_kernel_knows_its_card_and_the_number_of_cards) {
  load(R"(extern "C" void card(int* out) { out[0] = get_npu_idx(); out[1] = get_npu_nr(); })");
  const uint32_t out = device_words({99, 99});
  ASSERT_TRUE(run("card", {out}).ok());
  EXPECT_EQ(words_at(out, 2), (std::vector<uint32_t>{0, 1}));
}

TEST_F(KernelTest, more_than_eight_parameters_and_floats_by_their_bits) {
  load(R"(
    extern "C" void many(int* out, int a, float b, int c, __fp16 d, short e, int f, int g, int h, float i,
                         unsigned char j) {
      if (CoreID) return;
      out[0] = a; out[1] = (int)(b * 2); out[2] = c; out[3] = (int)((float)d * 4); out[4] = e;
      out[5] = f; out[6] = g; out[7] = h; out[8] = (int)(i * 8); out[9] = j;
    })");
  const uint32_t out = device_words(std::vector<uint32_t>(10));
  const Status status = run("many", {out, 1, 0x40200000, 3, 0x4100, 5, 6, 7, 8, 0x3e800000, 255});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(words_at(out, 10), (std::vector<uint32_t>{1, 5, 3, 10, 5, 6, 7, 8, 2, 255}));
}

TEST_F(KernelTest, memory_is_refused_when_freed_or_too_small) {
  auto at = cluster->allocate(100);
  ASSERT_TRUE(at.ok());
  int word = 0;
  EXPECT_EQ(cluster->write(*at + 98, &word, 4).code(), Code::invalid_address);
  EXPECT_TRUE(cluster->write(*at + 96, &word, 4).ok());
  EXPECT_EQ(cluster->release(*at + 4).code(), Code::invalid_address);
  EXPECT_TRUE(cluster->release(*at).ok());
  EXPECT_EQ(cluster->release(*at).code(), Code::invalid_address);
  EXPECT_EQ(cluster->read(*at, &word, 4).code(), Code::invalid_address);
  EXPECT_EQ(cluster->allocate(0).status().code(), Code::invalid_argument);
  EXPECT_EQ(cluster->allocate(size_t{4} << 30).status().code(), Code::out_of_memory);
  EXPECT_EQ(cluster->allocate(~size_t{0}).status().code(), Code::out_of_memory);
  auto high = cluster->allocate_high(4096);
  ASSERT_TRUE(high.ok());
  EXPECT_GE(*high, kHighBase);
  EXPECT_TRUE(cluster->write(*high, &word, 4).ok());
}

TEST_F(KernelTest, freed_memory_stays_reserved_while_work_refers_to_it) {
  auto at = cluster->allocate(4096);
  auto block = cluster->find(*at, 4096);
  ASSERT_TRUE(block.ok());
  ASSERT_TRUE(cluster->release(*at).ok());
  auto other = cluster->allocate(4096);
  EXPECT_NE(*other, *at);
  *block = nullptr;
  EXPECT_EQ(*cluster->allocate(4096), *at);
}

TEST_F(KernelTest, a_launch_is_refused_with_the_code_of_its_mistake) {
  load(kCopy);
  EXPECT_EQ(run("copy", {}, 0).code(), Code::invalid_config);
  EXPECT_EQ(run("copy", {}, 9).code(), Code::invalid_config);
  EXPECT_EQ(run("copi", {}).code(), Code::not_found);
  EXPECT_EQ(Cluster::get(4).status().code(), Code::invalid_device);
  EXPECT_EQ(Cluster::get(-1).status().code(), Code::invalid_device);
  auto other = Cluster::get(1);
  LaunchRequest request;
  request.kernel = "copy";
  EXPECT_EQ((*other)->launch(*module, request, nullptr).code(), Code::invalid_handle);
}

}  // namespace
}  // namespace anynpu::npc
