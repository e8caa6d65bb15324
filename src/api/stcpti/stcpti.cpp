// SPDX-License-Identifier: Apache-2.0
// libprofiler_stc.so: counters of kernels, collected by npc::KernelProfile.
#include "stcpti.h"

#include <memory>
#include <vector>

#include "api/arguments.h"
#include "base/fork_guard.h"
#include "base/log.h"
#include "npc/host/kernel_profile.h"

using namespace anynpu;
using npc::KernelProfile;

namespace {

static_assert(STC_PTI_NPC_EVENTS == npc::kCoreEvents);
static_assert(STC_PTI_DMA_EVENTS == npc::kDmaEvents);
static_assert(STC_PTI_EVENT_ID_MAX == npc::kEvents);
constexpr uint32_t kCycle32Overflow = 1;  // bit of MCU_MCOUNTER_OVERFLOW

// What the last GetPerfDatas gave out.
struct Given {
  std::vector<npc::LaunchStats> launches;  // owns the names
  std::vector<std::vector<STCpti_KernelNpcPerfData>> npcs;
  std::vector<STCpti_KernelPerfDatas> kernels;
};

STCpti_KernelNpcPerfData npc_data(const npc::CoreCounters& counters) {
  STCpti_KernelNpcPerfData data{};
  for (int id = 0; id < STC_PTI_NPC_EVENTS; ++id) {
    data.event[id] = static_cast<uint32_t>(counters.events[id]);
  }
  data.mcuCycleHigh = static_cast<uint32_t>(counters.events[STC_PTI_EVENT_ID_MCU_CYCLE] >> 32);
  if (data.mcuCycleHigh) data.event[STC_PTI_EVENT_ID_MCU_MCOUNTER_OVERFLOW] |= kCycle32Overflow;
  return data;
}

std::shared_ptr<Given> give(std::vector<npc::LaunchStats> launches) {
  auto result = std::make_shared<Given>();
  result->launches = std::move(launches);
  for (const npc::LaunchStats& launch : result->launches) {
    auto& npcs = result->npcs.emplace_back();
    for (const npc::CoreCounters& core : launch.cores) npcs.push_back(npc_data(core));
    STCpti_KernelPerfDatas kernel{};
    kernel.pKernelName = launch.kernel.c_str();
    kernel.arrKernelNpcPerfData = npcs.data();
    kernel.kernelNpcPerfDataSize = static_cast<uint32_t>(npcs.size());
    for (int i = 0; i < STC_PTI_DMA_EVENTS; ++i) {
      kernel.kernelDmaPerfData.event[i] = static_cast<uint32_t>(launch.dma[i]);
    }
    result->kernels.push_back(kernel);
  }
  return result;
}

template <typename Body>
stcProfilerResult_t answer(const char* function, Body&& body) noexcept {
  if (in_forked_child()) return STC_PROFILER_ERROR;
  try {
    const Status status = body();
    if (status.ok()) return STC_PROFILER_SUCCESS;
    ANYNPU_LOG(error, "{}: {}", function, status.to_string());
    return status.code() == Code::invalid_argument ? STC_PROFILER_ERROR_INVALID_ARGU
                                                   : STC_PROFILER_ERROR;
  } catch (...) {
    return STC_PROFILER_ERROR_UNKNOW;
  }
}

}  // namespace

stcProfilerResult_t stcptiKernelContextCreate(void) {
  return answer(__func__, [] { return KernelProfile::instance().create(); });
}

stcProfilerResult_t stcptiKernelContextRelease(void) {
  return answer(__func__, [] { return KernelProfile::instance().release(); });
}

stcProfilerResult_t stcptiKernelContextReleaseAll(void) {
  return answer(__func__, []() -> Status {
    KernelProfile::instance().release_any();
    return {};
  });
}

stcProfilerResult_t stcptiKernelEnable(void) {
  return answer(__func__, [] { return KernelProfile::instance().enable(); });
}

stcProfilerResult_t stcptiKernelDisable(void) {
  return answer(__func__, [] { return KernelProfile::instance().disable(); });
}

stcProfilerResult_t stcptiKernelGetPerfDatas(STCpti_PerfDatas* datas) {
  return answer(__func__, [&]() -> Status {
    ANYNPU_TRY(api::check_pointer(datas, "datas"));
    ANYNPU_ASSIGN(auto launches, KernelProfile::instance().collected());
    auto result = give(std::move(launches));
    datas->pKernelPerfDatas = result->kernels.data();
    datas->kernelPerfDataSize = static_cast<uint32_t>(result->kernels.size());
    KernelProfile::instance().keep(std::move(result));
    return {};
  });
}

stcProfilerResult_t stcptiGetEventNameFromID(int id, const char** name) {
  return answer(__func__, [&]() -> Status {
    if (!name || id < 0 || id >= STC_PTI_EVENT_ID_MAX) {
      return fail(Code::invalid_argument, "event id {} or name is invalid; expected 0 to {}", id,
                  STC_PTI_EVENT_ID_MAX - 1);
    }
    *name = npc::event_name(id).data();  // a literal
    return {};
  });
}

bool stcptiKernelIsMcuCycle32Ovf(const STCpti_KernelNpcPerfData* data) {
  return data && data->mcuCycleHigh != 0;
}

uint64_t stcptiKernelGetMcuCycle64(const STCpti_KernelNpcPerfData* data) {
  if (!data) return 0;
  return uint64_t{data->mcuCycleHigh} << 32 | data->event[STC_PTI_EVENT_ID_MCU_CYCLE];
}

// Sums have 64 bits, which no run fills.
bool stcptiKernelIsMcuCycle64Ovf(const STCpti_KernelNpcPerfData*) { return false; }
