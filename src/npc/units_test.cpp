// SPDX-License-Identifier: Apache-2.0
// Copies between memories, the vector and the matrix unit: results and counters.
#include <algorithm>
#include <bit>
#include <cmath>

#include "npc/cycles.h"
#include "npc/kernel_for_test.h"
#include "tensor/half.h"

namespace anynpu::npc {
namespace {

class UnitsTest : public KernelTest {};

TEST_F(UnitsTest, copies_go_between_the_memories_and_count_their_bytes) {
  load(R"(
    __shared__ int shared[256];
    __local__ int local[256];
    extern "C" void move(int* in, int* out, int* codes, int* high) {
      if (CoreID == 0) {
        codes[0] = memcpy(local, in, 1024);        // global to local
        codes[1] = memcpy(shared, local, 1024);    // local to shared
        codes[2] = memcpy(local, shared, 512);     // shared to local
        codes[3] = memcpy(high, shared, 1024);     // shared to high: system DMA
        codes[4] = memcpy(out, high, 1024);        // within global memory: system DMA both ways
        codes[5] = memcpy(local, high, 64);        // not allowed
        codes[6] = memcpy(out, in, -1);
        codes[7] = memcpy((void*)16, in, 4);
        codes[8] = memcpy((char*)shared + (8 << 20) - 4, in, 8);
      }
    })");
  std::vector<uint32_t> values(256);
  for (uint32_t i = 0; i < 256; ++i) values[i] = i * 3 + 1;
  const uint32_t in = device_words(values), out = device_words(std::vector<uint32_t>(256)),
                 codes = device_words(std::vector<uint32_t>(9, 99));
  const uint32_t high = *cluster->allocate_high(1024);
  const Status status = run("move", {in, out, codes, high});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(words_at(out, 256), values);
  EXPECT_EQ(words_at(codes, 9), (std::vector<uint32_t>{0, 0, 0, 0, 0, 14, 13, 14, 21}));
  const auto& events = stats.cores[0].events;
  EXPECT_EQ(events[kMTE_PLD_INST], 1u);
  EXPECT_EQ(events[kMTE_PLD_BYTE], 1024u);
  EXPECT_EQ(events[kMTE_MOV_INST], 2u);
  EXPECT_EQ(events[kMTE_L12LLB_BYTE], 1024u);
  EXPECT_EQ(events[kMTE_LLB2L1_BYTE], 512u);
  EXPECT_EQ(events[kMTE_PLD_CYCLE], cycles::global_move(1024));
  EXPECT_EQ(events[kMTE_TOTAL_CYCLE],
            cycles::global_move(1024) + cycles::move(1024) + cycles::move(512));
  const auto dma = [this](Event event) { return stats.dma[event - kCoreEvents]; };
  EXPECT_EQ(dma(kSYSDMA0_DMA_C0_BYTE), 1024u);
  EXPECT_EQ(dma(kSYSDMA0_DMA_C1_BYTE), 2048u);
  EXPECT_EQ(dma(kSYSDMA0_DMA_C1_CYCLE1), 2 * cycles::dma(1024));
  EXPECT_EQ(dma(kSYSDMA0_DMA_C1_CYCLE0), cycles::dma(1024));
  EXPECT_EQ(dma(kSYSDMA1_DMA_C1_BYTE), 0u);
  EXPECT_EQ(dma(kSYSDMA1_DMA_ID), 1u);
  EXPECT_EQ(stats.cores[1].events[kMTE_TOTAL_CYCLE], 0u);
}

// local <-> high memory is the one pair that the document does not allow.
TEST_F(UnitsTest, every_direction_of_both_forms_of_memcpy_copies_or_says_that_it_is_not_allowed) {
  load(R"(
    __local__ char local[256];
    __shared__ char shared[256];
    __shared__ char between[64];
    static void through(char* to, const char* from) {  // between any two memories
      memcpy(between, from, 64);
      memcpy(to, between, 64);
    }
    extern "C" void ways(char* low, char* high, char* pattern, char* out, int* codes) {
      if (CoreID) return;
      char* const at[] = {local, shared, low, high};
      const cpy_config_t rows = {4, 8, 0, DTYPE_BYTE_2, -1};
      for (int to = 0; to < 4; ++to)
        for (int from = 0; from < 4; ++from)
          for (int form = 0; form < 2; ++form) {
            const int n = (to * 4 + from) * 2 + form;
            through(at[from], pattern + n * 64);
            codes[n] = form ? memcpy(at[to] + 128, at[from], rows)
                            : memcpy(at[to] + 128, at[from], 64);
            through(out + n * 64, at[to] + 128);
          }
    })");
  std::vector<uint32_t> values(32 * 16);
  for (uint32_t i = 0; i < values.size(); ++i) values[i] = i * 0x01010103u;
  const uint32_t low = device_words(std::vector<uint32_t>(64)), pattern = device_words(values),
                 out = device_words(std::vector<uint32_t>(values.size())),
                 codes = device_words(std::vector<uint32_t>(32, 99));
  const uint32_t high = *cluster->allocate_high(256);
  const Status status = run("ways", {low, high, pattern, out, codes});
  ASSERT_TRUE(status.ok()) << status.to_string();
  const auto got = words_at(codes, 32), copied = words_at(out, values.size());
  constexpr uint32_t kLocal = 0, kHigh = 3, kNotAllowed = 14;
  for (uint32_t n = 0; n < 32; ++n) {
    const uint32_t to = n / 8, from = n / 2 % 4;
    const bool refused = (to == kLocal && from == kHigh) || (to == kHigh && from == kLocal);
    EXPECT_EQ(got[n], refused ? kNotAllowed : 0u) << "to " << to << " from " << from;
    const bool same = std::equal(&values[n * 16], &values[n * 16] + 16, &copied[n * 16]);
    EXPECT_EQ(same, !refused) << "to " << to << " from " << from;
  }
}

TEST_F(UnitsTest, rows_are_copied_with_strides_and_into_other_cores) {
  load(R"(
    __local__ short tile[64];
    __local__ short got[64];
    extern "C" void rows(short* in, int* codes) {
      cpy_config_t pick = {4, 3, 10, DTYPE_BYTE_2, -1};
      codes[CoreID] = memcpy(tile, in + CoreID, pick);
      sync();
      cpy_config_t give = {1, 12, 0, DTYPE_BYTE_2, (CoreID + 1) % CoreNum};
      codes[8 + CoreID] = memcpy(got, tile, give);
      sync();
      for (int i = 0; i < 12; ++i) codes[16 + CoreID * 12 + i] = got[i];
      cpy_config_t bad = pick;
      bad.dtype = 2;
      codes[120] = memcpy(tile, in, bad);
      bad = pick; bad.rows = 0;
      codes[121] = memcpy(tile, in, bad);
      bad = pick; bad.stride_cols = 2;
      codes[122] = memcpy(tile, in, bad);
      bad = pick; bad.dest_core = 8;
      codes[123] = memcpy(tile, in, bad);
    })");
  std::vector<uint32_t> values(64);
  for (uint32_t i = 0; i < 64; ++i)
    values[i] = (2 * i) | ((2 * i + 1) << 16);  // shorts 0, 1, 2, ...
  const uint32_t in = device_words(values), codes = device_words(std::vector<uint32_t>(128, 99));
  const Status status = run("rows", {in, codes});
  ASSERT_TRUE(status.ok()) << status.to_string();
  const auto got = words_at(codes, 128);
  for (uint32_t core = 0; core < 8; ++core) {
    EXPECT_EQ(got[core], 0u);
    EXPECT_EQ(got[8 + core], 0u);
    const uint32_t giver = (core + 7) % 8;
    for (uint32_t i = 0; i < 12; ++i)
      EXPECT_EQ(got[16 + core * 12 + i], giver + (i / 3) * 10 + i % 3);
    EXPECT_EQ(stats.cores[core].events[kMTE_ICMOV_INST], 1u);
    EXPECT_EQ(stats.cores[core].events[kMTE_ICMOV_BYTE], 24u);
  }
  EXPECT_EQ(std::vector<uint32_t>(got.begin() + 120, got.begin() + 124),
            (std::vector<uint32_t>{18, 15, 17, 19}));
}

TEST_F(UnitsTest, the_vector_unit_computes_halves_and_floats) {
  load(R"(
    extern "C" void vectors(float* a, float* b, float* out, __fp16* ha, __fp16* hb, __fp16* hout, int n) {
      if (CoreID) return;
      npu_vadd(out, a, b, n);
      npu_vsub(out + n, a, b, n);
      npu_vmul(out + 2 * n, a, b, n);
      npu_vmax(out + 3 * n, a, b, n);
      npu_vrelu(out + 4 * n, a, n);
      npu_vexp(out + 5 * n, a, n);
      npu_vadd(hout, ha, hb, n);
      npu_vsub(hout + n, ha, hb, n);
      npu_vmul(hout + 2 * n, ha, hb, n);
      npu_vmax(hout + 3 * n, ha, hb, n);
      npu_vrelu(hout + 4 * n, ha, n);
      npu_vexp(hout + 5 * n, ha, n);
    })");
  constexpr uint32_t kCount = 33;
  std::vector<float> a(kCount), b(kCount), out(6 * kCount);
  std::vector<F16> ha(kCount), hb(kCount), hout(6 * kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i) * 0.25f - 4;
    b[i] = 3 - static_cast<float>(i) * 0.5f;
    ha[i] = to_f16(a[i]);
    hb[i] = to_f16(b[i] * 0.1f);
  }
  const auto put = [this](const void* from, size_t bytes) {
    const uint32_t at = *cluster->allocate(bytes);
    EXPECT_TRUE(cluster->write(at, from, bytes).ok());
    return at;
  };
  const uint32_t to = put(out.data(), out.size() * 4), hto = put(hout.data(), hout.size() * 2);
  const Status status =
      run("vectors", {put(a.data(), kCount * 4), put(b.data(), kCount * 4), to,
                      put(ha.data(), kCount * 2), put(hb.data(), kCount * 2), hto, kCount});
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_TRUE(cluster->read(to, out.data(), out.size() * 4).ok());
  ASSERT_TRUE(cluster->read(hto, hout.data(), hout.size() * 2).ok());
  for (uint32_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(out[i], a[i] + b[i]);
    EXPECT_EQ(out[kCount + i], a[i] - b[i]);
    EXPECT_EQ(out[2 * kCount + i], a[i] * b[i]);
    EXPECT_EQ(out[3 * kCount + i], std::fmax(a[i], b[i]));
    EXPECT_EQ(out[4 * kCount + i], a[i] < 0 ? 0 : a[i]);
    EXPECT_EQ(out[5 * kCount + i], std::exp(a[i]));
    const float x = to_float(ha[i]), y = to_float(hb[i]);
    const float wanted[] = {x + y, x - y, x * y, std::fmax(x, y), x < 0 ? 0 : x, std::exp(x)};
    for (uint32_t f = 0; f < 6; ++f) {
      EXPECT_EQ(hout[f * kCount + i].bits, to_f16(wanted[f]).bits) << "function " << f;
    }
  }
  EXPECT_EQ(stats.cores[0].events[kVME_INST], 12u);
  EXPECT_EQ(stats.cores[0].events[kVME_CYCLE],
            5 * cycles::vector(kCount * 4, false) + cycles::vector(kCount * 4, true) +
                5 * cycles::vector(kCount * 2, false) + cycles::vector(kCount * 2, true));
}

TEST_F(UnitsTest, the_matrix_unit_multiplies_and_convolves) {
  load(R"(
    extern "C" void matrices(__fp16* a, __fp16* b, float* out, float* conv) {
      if (CoreID) return;
      npu_mmul(out, a, b, 3, 4, 5);
      npu_conv2d_t what = {conv, a, b, 1, 4, 3, 2, 3, 3, 1, 1};
      npu_conv2d(what);
    })");
  std::vector<F16> a(32), b(32);
  for (uint32_t i = 0; i < 32; ++i) {
    a[i] = to_f16(static_cast<float>(i) - 5);
    b[i] = to_f16(static_cast<float>(i % 7) * 0.5f);
  }
  const uint32_t da = *cluster->allocate(64), db = *cluster->allocate(64);
  ASSERT_TRUE(cluster->write(da, a.data(), 64).ok());
  ASSERT_TRUE(cluster->write(db, b.data(), 64).ok());
  const uint32_t out = device_words(std::vector<uint32_t>(15)),
                 conv = device_words(std::vector<uint32_t>(24));
  const Status status = run("matrices", {da, db, out, conv});
  ASSERT_TRUE(status.ok()) << status.to_string();
  const auto product = words_at(out, 15), filtered = words_at(conv, 24);
  for (int i = 0; i < 15; ++i) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += to_float(a[i / 5 * 4 + k]) * to_float(b[k * 5 + i % 5]);
    EXPECT_EQ(std::bit_cast<float>(product[i]), sum) << i;
  }
  for (int i = 0; i < 24; ++i) {
    const int o = i / 12, y = i % 12 / 3, x = i % 3;
    float sum = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if (y + dy < 0 || y + dy >= 4 || x + dx < 0 || x + dx >= 3) continue;
        sum += to_float(a[(y + dy) * 3 + x + dx]) * to_float(b[o * 9 + (dy + 1) * 3 + dx + 1]);
      }
    }
    EXPECT_EQ(std::bit_cast<float>(filtered[i]), sum) << i;
  }
  EXPECT_EQ(stats.cores[0].events[kMME_INST], 2u);
  EXPECT_EQ(stats.cores[0].events[kMME_CYCLE], cycles::matrix(60) + cycles::matrix(24 * 9));
}

TEST_F(UnitsTest, strict_copies_want_global_memory_in_lines_of_32_bytes) {
  load(R"(
    __local__ char own[64];
    extern "C" void copies(char* data, int* codes) {
      if (CoreID) return;
      codes[0] = memcpy(own, data + 32, 16);
      codes[1] = memcpy(own, data + 4, 16);
      codes[2] = memcpy(data + 40, own + 1, 16);
    })");
  const uint32_t data = device_words(std::vector<uint32_t>(64)),
                 codes = device_words(std::vector<uint32_t>(3, 99));
  ASSERT_TRUE(run("copies", {data, codes}).ok());
  EXPECT_EQ(words_at(codes, 3), (std::vector<uint32_t>{0, 0, 0}));
  setenv("ANYNPU_STRICT", "1", 1);
  const Status status = run("copies", {data, codes});
  unsetenv("ANYNPU_STRICT");
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(words_at(codes, 3), (std::vector<uint32_t>{0, 22, 22}));
}

}  // namespace
}  // namespace anynpu::npc
