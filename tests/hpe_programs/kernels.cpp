// SPDX-License-Identifier: Apache-2.0
// hpe.h and stcpti.h from C++: modules, kernels, the registered image, unified streams, counters.
// The argument is the object of the kernels.
#include <hpe.h>
#include <stcpti.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#define EXPECT(call, wanted)                                                 \
  do {                                                                       \
    const long got = static_cast<long>(call);                                \
    if (got != static_cast<long>(wanted)) {                                  \
      std::printf("line %d: %s = %ld, expected %ld\n", __LINE__, #call, got, \
                  static_cast<long>(wanted));                                \
      std::exit(1);                                                          \
    }                                                                        \
  } while (0)
#define OK(call) EXPECT(call, 0)

static uint32_t word(void* pointer) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pointer));
}

static void who(stcModule_t* module, int cores, stcStream_t stream) {
  void* out = nullptr;
  int result[8] = {};
  OK(stcMalloc(&out, sizeof result));
  OK(stcMemcpy(out, result, sizeof result, stcMemcpyHostToDevice));
  const uint32_t params[] = {word(out)};
  const unsigned char pointer = stcParamPointer, single = stcParamFloat, none = 9;
  EXPECT(stcLaunchKernelTyped(module, "who", {params, 1}, &single), stcErrorInvalidValue);
  EXPECT(stcLaunchKernelTyped(module, "who", {params, 1}, &none), stcErrorInvalidValue);
  OK(stcConfigureCall(cores, stream));
  if (cores % 2) {
    OK(stcLaunchKernelTyped(module, "who", {params, 1}, &pointer));
  } else {
    OK(stcLaunchKernel(module, "who", {params, 1}));
  }
  OK(stcStreamSynchronize(stream));
  OK(stcMemcpy(result, out, sizeof result, stcMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) EXPECT(result[i], i < cores ? 100 * cores + i : 0);
  OK(stcFree(out));
}

static void launches(const std::vector<char>& image) {
  stcModule_t module = nullptr;
  EXPECT(stcModuleLoadData(&module, image.data(), 0), stcErrorNoImage);
  EXPECT(stcModuleLoadData(&module, "rubbish", 7), stcErrorInvalidImage);
  EXPECT(stcLaunchKernel(nullptr, "who", {nullptr, 0}), stcErrorNoModule);
  OK(stcModuleLoadData(&module, image.data(), image.size()));
  for (int cores = 1; cores <= 8; ++cores) who(&module, cores, 0);
  EXPECT(stcLaunchKernel(&module, "no_such", {nullptr, 0}), stcErrorInvalidKernel);
  EXPECT(stcLaunchKernel(&module, "who", {nullptr, 3}), stcErrorInvalidValue);
  EXPECT(stcConfigureCall(9), stcErrorInvalidCoreNum);
  EXPECT(stcLaunchKernel(&module, "nothing", {nullptr, 0}), stcErrorInvalidCoreNum);
  EXPECT(stcGetLastError(), stcErrorInvalidCoreNum);
  OK(stcLaunchKernel(&module, "nothing", {nullptr, 0}));  // the next call has eight again
  OK(stcDeviceSynchronize());

  void* out = nullptr;
  void* released = nullptr;
  stcStream_t other = nullptr;
  OK(stcMalloc(&out, 4));
  OK(stcMalloc(&released, 4));
  OK(stcStreamCreate(&other));
  const auto write_released = [&](int value) {
    OK(stcMemcpyAsync(released, &value, 4, stcMemcpyHostToDevice, other));
    OK(stcStreamSynchronize(other));
  };
  write_released(0);
  const uint32_t flag[] = {word(released)}, params[] = {word(out), 1000};
  OK(stcLaunchKernel(&module, "hold", {flag, 1}));  // until the flag is 1
  OK(stcConfigureCall(1));
  OK(stcLaunchKernel(&module, "work", {params, 2}));
  EXPECT(stcModuleUnload(module), stcErrorNpuTaskRunning);
  OK(stcFree(out));  // the queued kernel still finds it
  write_released(1);
  OK(stcDeviceSynchronize());
  OK(stcStreamDestroy(other));
  OK(stcFree(released));
  OK(stcModuleUnload(module));
  EXPECT(stcModuleUnload(module), stcErrorInvalidModule);
  EXPECT(stcLaunchKernel(&module, "nothing", {nullptr, 0}), stcErrorInvalidModule);
}

static void registered(const std::vector<char>& image) {
  EXPECT(stcRegisterFatBinary(nullptr), stcErrorNoImage);
  EXPECT(stcRegisterFatBinary("this is text and no object of any machine, "
                              "not even of a small one"),
         stcErrorInvalidImage);
  EXPECT(stcUnregisterFatBinary(), stcErrorNoImage);
  OK(stcRegisterFatBinary(image.data()));
  EXPECT(stcRegisterFatBinary(image.data()), stcErrorInvalidValue);
  who(nullptr, 4, 0);
  OK(stcSetDevice(2));
  who(nullptr, 5, 0);
  stcStream_t unified = nullptr;
  OK(stcStreamCreateUnified(&unified));
  for (int device = 0; device < 4; ++device) {
    OK(stcSetDevice(device));
    who(nullptr, device + 1, unified);
  }
  OK(stcStreamDestroy(unified));
  OK(stcSetDevice(0));
  OK(stcUnregisterFatBinary());
}

static void counters(const std::vector<char>& image) {
  STCpti_PerfDatas datas;
  const char* name = nullptr;
  stcModule_t module = nullptr;
  OK(stcModuleLoadData(&module, image.data(), image.size()));
  EXPECT(stcptiKernelEnable(), STC_PROFILER_ERROR);
  EXPECT(stcptiKernelGetPerfDatas(&datas), STC_PROFILER_ERROR);
  OK(stcptiKernelContextCreate());
  OK(stcptiKernelEnable());
  OK(stcConfigureCall(3));
  OK(stcLaunchKernel(&module, "nothing", {nullptr, 0}));
  OK(stcDeviceSynchronize());
  OK(stcptiKernelGetPerfDatas(&datas));
  EXPECT(datas.kernelPerfDataSize, 1);
  const STCpti_KernelPerfDatas& kernel = datas.pKernelPerfDatas[0];
  EXPECT(std::strcmp(kernel.pKernelName, "nothing"), 0);
  EXPECT(kernel.kernelNpcPerfDataSize, 3);
  const STCpti_KernelNpcPerfData& npc = kernel.arrKernelNpcPerfData[2];
  EXPECT(npc.event[STC_PTI_EVENT_ID_MCU_CYCLE] > 0, true);
  EXPECT(stcptiKernelGetMcuCycle64(&npc), npc.event[STC_PTI_EVENT_ID_MCU_CYCLE]);
  EXPECT(stcptiKernelIsMcuCycle32Ovf(&npc), false);
  EXPECT(stcptiKernelIsMcuCycle64Ovf(&npc), false);
  STCpti_KernelNpcPerfData longer = npc;  // as after 3 * 2^32 cycles more
  longer.mcuCycleHigh = 3;
  EXPECT(stcptiKernelIsMcuCycle32Ovf(&longer), true);
  EXPECT(stcptiKernelGetMcuCycle64(&longer), (3ull << 32) + npc.event[STC_PTI_EVENT_ID_MCU_CYCLE]);
  EXPECT(stcptiKernelIsMcuCycle64Ovf(&longer), false);
  EXPECT(stcptiKernelGetPerfDatas(nullptr), STC_PROFILER_ERROR_INVALID_ARGU);
  OK(stcptiGetEventNameFromID(STC_PTI_EVENT_ID_SYSDMA1_DMA_C1_BYTE, &name));
  EXPECT(std::strcmp(name, "SYSDMA1_DMA_C1_BYTE"), 0);
  EXPECT(stcptiGetEventNameFromID(53, &name), STC_PROFILER_ERROR_INVALID_ARGU);
  OK(stcptiKernelDisable());
  OK(stcptiKernelContextRelease());
  OK(stcptiKernelContextReleaseAll());
  OK(stcModuleUnload(module));
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> image((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  launches(image);
  registered(image);
  counters(image);
  std::puts("all fine");
  return 0;
}
