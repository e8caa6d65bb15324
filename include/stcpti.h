/* SPDX-License-Identifier: Apache-2.0 */
/* stcpti: profiling of kernels on NPCs, for C and C++; link with -lprofiler_stc -ltracer_stc.
 *
 * Order: stcptiKernelContextCreate, stcptiKernelEnable, launches, stcptiKernelDisable,
 * stcptiKernelGetPerfDatas (before or after Disable), stcptiKernelContextRelease; another order
 * gives STC_PROFILER_ERROR. Counts of instructions and bytes are exact; cycles follow a model, and
 * events that only silicon has are 0 (docs/npc_cycles.md). */
#ifndef STCPTI_H_
#define STCPTI_H_

#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif
#ifndef STC_API
#define STC_API __attribute__((visibility("default")))
#endif

typedef enum stcProfilerResult {
  STC_PROFILER_ERROR = -1,
  STC_PROFILER_SUCCESS = 0,
  STC_PROFILER_ERROR_INVALID_ARGU = 1,
  STC_PROFILER_ERROR_UNKNOW = 2
} stcProfilerResult_t;

typedef enum stcPtiEventID {
  /* per NPC */
  STC_PTI_EVENT_ID_MCU_CYCLE = 0,
  STC_PTI_EVENT_ID_VME_CYCLE = 1,
  STC_PTI_EVENT_ID_MME_CYCLE = 2,
  STC_PTI_EVENT_ID_VEC_CYCLE = 3,
  STC_PTI_EVENT_ID_SYN_CYCLE = 4,
  STC_PTI_EVENT_ID_MTE_TOTAL_CYCLE = 5,
  STC_PTI_EVENT_ID_VME_INST = 6,
  STC_PTI_EVENT_ID_MME_INST = 7,
  STC_PTI_EVENT_ID_VEC_INST = 8,
  STC_PTI_EVENT_ID_SYN_INST = 9,
  STC_PTI_EVENT_ID_MTE_PLD_INST = 10,
  STC_PTI_EVENT_ID_MTE_ICMOV_INST = 11,
  STC_PTI_EVENT_ID_MTE_MOV_INST = 12,
  STC_PTI_EVENT_ID_PAL_VME_MME_CYCLE = 13,
  STC_PTI_EVENT_ID_PAL_MTE_MME_CYCLE = 14,
  STC_PTI_EVENT_ID_PAL_VME_MTE_CYCLE = 15,
  STC_PTI_EVENT_ID_PAL_TOTAL_CYCLE = 16,
  STC_PTI_EVENT_ID_MTE_ICMOV_CYCLE = 17,
  STC_PTI_EVENT_ID_MTE_L12LLB_CYCLE = 18,
  STC_PTI_EVENT_ID_MTE_LLB2L1_CYCLE = 19,
  STC_PTI_EVENT_ID_MTE_PLD_CYCLE = 20,
  STC_PTI_EVENT_ID_MTE_PLD_BYTE = 21,
  STC_PTI_EVENT_ID_MTE_L12LLB_BYTE = 22,
  STC_PTI_EVENT_ID_MTE_LLB2L1_BYTE = 23,
  STC_PTI_EVENT_ID_MTE_ICMOV_BYTE = 24,
  STC_PTI_EVENT_ID_SYN_WAIT_CYCLE = 25,
  STC_PTI_EVENT_ID_VEC_SLOT_WAIT_CYCLE = 26,
  STC_PTI_EVENT_ID_MME_SLOT_WAIT_CYCLE = 27,
  STC_PTI_EVENT_ID_MTE_SLOT_WAIT_CYCLE = 28,
  STC_PTI_EVENT_ID_MIF_L1_CONFLICT_CYCLE = 29,
  STC_PTI_EVENT_ID_MIF_IM_CONFLICT_CYCLE = 30,
  STC_PTI_EVENT_ID_MCU_EVENT3_TYPE_CNT = 31,
  STC_PTI_EVENT_ID_MCU_EVENT4_TYPE_CNT = 32,
  STC_PTI_EVENT_ID_MCU_EVENT5_TYPE_CNT = 33,
  STC_PTI_EVENT_ID_MCU_EVENT6_TYPE_CNT = 34,
  STC_PTI_EVENT_ID_MCU_EVENT6H_TYPE_CNT = 35,
  STC_PTI_EVENT_ID_MCU_MCOUNTER_OVERFLOW = 36,
  /* per kernel: the two system DMA units; channel 0 is DDR to LLB, channel 1 LLB to DDR */
  STC_PTI_EVENT_ID_SYSDMA0_DMA_ID = 37,
  STC_PTI_EVENT_ID_SYSDMA0_LLB_CONFLICT_CYCLE = 38,
  STC_PTI_EVENT_ID_SYSDMA0_DMA_C0_CYCLE0 = 39,
  STC_PTI_EVENT_ID_SYSDMA0_DMA_C0_CYCLE1 = 40,
  STC_PTI_EVENT_ID_SYSDMA0_DMA_C0_BYTE = 41,
  STC_PTI_EVENT_ID_SYSDMA0_DMA_C1_CYCLE0 = 42,
  STC_PTI_EVENT_ID_SYSDMA0_DMA_C1_CYCLE1 = 43,
  STC_PTI_EVENT_ID_SYSDMA0_DMA_C1_BYTE = 44,
  STC_PTI_EVENT_ID_SYSDMA1_DMA_ID = 45,
  STC_PTI_EVENT_ID_SYSDMA1_LLB_CONFLICT_CYCLE = 46,
  STC_PTI_EVENT_ID_SYSDMA1_DMA_C0_CYCLE0 = 47,
  STC_PTI_EVENT_ID_SYSDMA1_DMA_C0_CYCLE1 = 48,
  STC_PTI_EVENT_ID_SYSDMA1_DMA_C0_BYTE = 49,
  STC_PTI_EVENT_ID_SYSDMA1_DMA_C1_CYCLE0 = 50,
  STC_PTI_EVENT_ID_SYSDMA1_DMA_C1_CYCLE1 = 51,
  STC_PTI_EVENT_ID_SYSDMA1_DMA_C1_BYTE = 52,
  STC_PTI_EVENT_ID_MAX = 53
} stcPtiEventID_t;

#define STC_PTI_NPC_EVENTS 37 /* ids 0 to 36 */
#define STC_PTI_DMA_EVENTS 16 /* ids 37 to 52 */

typedef struct {
  uint32_t event[STC_PTI_NPC_EVENTS]; /* by event id */
  uint32_t mcuCycleHigh;              /* bits 32 to 63 of MCU_CYCLE */
} STCpti_KernelNpcPerfData;

typedef struct {
  uint32_t event[STC_PTI_DMA_EVENTS]; /* by event id - 37 */
} STCpti_KernelDmaPerfData;

/* One launch of a kernel. */
typedef struct {
  const char* pKernelName;
  STCpti_KernelNpcPerfData* arrKernelNpcPerfData; /* one for each NPC used */
  uint32_t kernelNpcPerfDataSize;
  STCpti_KernelDmaPerfData kernelDmaPerfData;
} STCpti_KernelPerfDatas;

typedef struct {
  STCpti_KernelPerfDatas* pKernelPerfDatas;
  uint32_t kernelPerfDataSize;
} STCpti_PerfDatas;

STC_API stcProfilerResult_t stcptiKernelContextCreate(void);
STC_API stcProfilerResult_t stcptiKernelContextRelease(void);
/* Ends the context wherever it stands. There is no state outside the process, so other processes
 * are not touched. */
STC_API stcProfilerResult_t stcptiKernelContextReleaseAll(void);
STC_API stcProfilerResult_t stcptiKernelEnable(void);
STC_API stcProfilerResult_t stcptiKernelDisable(void);
/* Fills `datas` with what was collected since Enable. It stays valid until the next call of this
 * function or the release of the context. */
STC_API stcProfilerResult_t stcptiKernelGetPerfDatas(STCpti_PerfDatas* datas);
/* "MCU_CYCLE" for 0. */
STC_API stcProfilerResult_t stcptiGetEventNameFromID(int id, const char** name);

/* Whether the 32-bit cycle counter wrapped, the whole count, and whether that wrapped too. */
STC_API bool stcptiKernelIsMcuCycle32Ovf(const STCpti_KernelNpcPerfData* data);
STC_API uint64_t stcptiKernelGetMcuCycle64(const STCpti_KernelNpcPerfData* data);
STC_API bool stcptiKernelIsMcuCycle64Ovf(const STCpti_KernelNpcPerfData* data);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
