// SPDX-License-Identifier: Apache-2.0
// What a launch counts: the events of stcpti, per core and for the two system DMA engines of the
// cluster. Instructions and bytes are exact; cycles follow the model in docs/npc_cycles.md. Events
// that only silicon has (31-36, slot waits, bank conflicts) stay 0.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anynpu::npc {

// id, name; ids 0-36 belong to a core, 37-52 to the DMA engines.
// clang-format off
#define ANYNPU_NPC_EVENTS(X)                                                                       \
  X(0, MCU_CYCLE)                                                                                  \
  X(1, VME_CYCLE) X(2, MME_CYCLE) X(3, VEC_CYCLE) X(4, SYN_CYCLE) X(5, MTE_TOTAL_CYCLE) X(         \
      6, VME_INST) X(7, MME_INST) X(8, VEC_INST) X(9, SYN_INST) X(10, MTE_PLD_INST)                \
      X(11, MTE_ICMOV_INST) X(12, MTE_MOV_INST) X(13, PAL_VME_MME_CYCLE) X(                        \
          14, PAL_MTE_MME_CYCLE) X(15, PAL_VME_MTE_CYCLE) X(16, PAL_TOTAL_CYCLE)                   \
          X(17, MTE_ICMOV_CYCLE) X(18, MTE_L12LLB_CYCLE) X(19, MTE_LLB2L1_CYCLE) X(                \
              20, MTE_PLD_CYCLE) X(21, MTE_PLD_BYTE) X(22, MTE_L12LLB_BYTE) X(23, MTE_LLB2L1_BYTE) \
              X(24, MTE_ICMOV_BYTE) X(25, SYN_WAIT_CYCLE) X(26, VEC_SLOT_WAIT_CYCLE) X(            \
                  27, MME_SLOT_WAIT_CYCLE) X(28, MTE_SLOT_WAIT_CYCLE) X(29, MIF_L1_CONFLICT_CYCLE) \
                  X(30, MIF_IM_CONFLICT_CYCLE) X(31, MCU_EVENT3_TYPE_CNT)                          \
                      X(32, MCU_EVENT4_TYPE_CNT) X(33, MCU_EVENT5_TYPE_CNT)                        \
                          X(34, MCU_EVENT6_TYPE_CNT) X(35, MCU_EVENT6H_TYPE_CNT)                   \
                              X(36, MCU_MCOUNTER_OVERFLOW) X(37, SYSDMA0_DMA_ID)                   \
                                  X(38, SYSDMA0_LLB_CONFLICT_CYCLE) X(39, SYSDMA0_DMA_C0_CYCLE0)   \
                                      X(40, SYSDMA0_DMA_C0_CYCLE1) X(41, SYSDMA0_DMA_C0_BYTE) X(   \
                                          42, SYSDMA0_DMA_C1_CYCLE0) X(43, SYSDMA0_DMA_C1_CYCLE1)  \
                                          X(44, SYSDMA0_DMA_C1_BYTE) X(45, SYSDMA1_DMA_ID)         \
                                              X(46, SYSDMA1_LLB_CONFLICT_CYCLE)                    \
                                                  X(47, SYSDMA1_DMA_C0_CYCLE0)                     \
                                                      X(48, SYSDMA1_DMA_C0_CYCLE1)                 \
                                                          X(49, SYSDMA1_DMA_C0_BYTE)               \
                                                              X(50, SYSDMA1_DMA_C1_CYCLE0)         \
                                                                  X(51, SYSDMA1_DMA_C1_CYCLE1)     \
                                                                      X(52, SYSDMA1_DMA_C1_BYTE)
// clang-format on

enum Event : int {
#define X(id, name) k##name = id,
  ANYNPU_NPC_EVENTS(X)
#undef X
};
inline constexpr int kCoreEvents = 37;
inline constexpr int kDmaEvents = 16;  // index = id - 37
inline constexpr int kEvents = 53;

// "MCU_CYCLE" for 0; empty for ids outside 0-52.
std::string_view event_name(int id);

// 64-bit sums; a front door with 32-bit fields keeps the low word.
struct CoreCounters {
  std::array<uint64_t, kCoreEvents> events{};
  uint64_t instructions = 0;  // RISC-V instructions retired
};

struct LaunchStats {
  std::string kernel;
  int cluster = 0;
  std::vector<CoreCounters> cores;  // one per core that took part
  std::array<uint64_t, kDmaEvents> dma{};
  uint64_t start_ns = 0;  // monotonic clock
  uint64_t end_ns = 0;
  bool translated = false;  // ran as host code
  std::string trap_report;  // lines to print; empty when the kernel ended well
};

}  // namespace anynpu::npc
