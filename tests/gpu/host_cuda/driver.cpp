// SPDX-License-Identifier: Apache-2.0
// The CUDA driver for tests without a GPU (README.md): memory is the process's, work is done when
// it is enqueued.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

namespace {

bool told(std::string_view what) {
  const char* const given = std::getenv("HOST_CUDA");
  return given && what == given;
}

size_t total_bytes() {
  const char* const given = std::getenv("HOST_CUDA_MIB");
  return (given ? static_cast<size_t>(std::atoll(given)) : 4096) << 20;
}

std::atomic<size_t> used_bytes{0};
std::atomic<bool> broken{false};  // after a fault of a kernel, as the driver does, for good
std::mutex& launching = *new std::mutex;

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

struct Event {
  std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
};

using Launch = void (*)(unsigned blocks, unsigned threads, void** arguments);

CUresult state() { return broken ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS; }

CUresult launch(CUfunction function, unsigned blocks, unsigned threads, void** arguments) {
  if (broken) return state();
  if (told("fault")) {
    broken = true;
    return CUDA_SUCCESS;  // the next call that looks at the stream says so
  }
  if (told("plan")) return CUDA_SUCCESS;
  const std::lock_guard lock(launching);
  reinterpret_cast<Launch>(function)(blocks, threads, arguments);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuGetErrorName(CUresult code, const char** text) {
  *text = code == CUDA_ERROR_OUT_OF_MEMORY        ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == CUDA_ERROR_ILLEGAL_ADDRESS    ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == CUDA_ERROR_NOT_SUPPORTED      ? "CUDA_ERROR_NOT_SUPPORTED"
          : code == CUDA_ERROR_DEVICE_UNAVAILABLE ? "CUDA_ERROR_DEVICE_UNAVAILABLE"
                                                  : "CUDA_ERROR";
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGetErrorString(CUresult code, const char** text) {
  *text = code == CUDA_ERROR_OUT_OF_MEMORY     ? "out of memory"
          : code == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
          : code == CUDA_ERROR_DEVICE_UNAVAILABLE
              ? "CUDA-capable device(s) is/are busy or unavailable"
              : "an error";
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuInit(unsigned) { return told("none") ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS; }
CUresult CUDAAPI cuDriverGetVersion(int* version) {
  *version = told("old") ? 12040 : 13000;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGet(CUdevice* device, int unit) {
  *device = unit;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetName(char* name, int bytes, CUdevice) {
  std::strncpy(name, "CPU in place of a GPU", static_cast<size_t>(bytes));
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  const bool old = told("old_card");
  *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? (old ? 7 : 8)
           : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? (old ? 0 : 9)
           : which == CU_DEVICE_ATTRIBUTE_MAX_PITCH                ? 1 << 30
           : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? 1
                                                                   : 0;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetPCIBusId(char* bus, int bytes, CUdevice) {
  std::strncpy(bus, "0000:00:00.0", static_cast<size_t>(bytes));
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceTotalMem(size_t* bytes, CUdevice) {
  *bytes = total_bytes();
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  if (told("busy")) return CUDA_ERROR_DEVICE_UNAVAILABLE;
  static int one;
  *context = reinterpret_cast<CUcontext>(&one);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0, *greatest = -5;
  return CUDA_SUCCESS;
}

// ---- Memory

CUresult CUDAAPI cuMemGetInfo(size_t* free, size_t* total) {
  *total = total_bytes();
  *free = *total - used_bytes;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t, CUdeviceptr,
                                     unsigned long long) {
  void* const made =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(made);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  munmap(pointer(address), bytes);
  return CUDA_SUCCESS;
}
// A handle is the number of bytes.
CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                             const CUmemAllocationProp*, unsigned long long) {
  if (used_bytes + bytes > total_bytes()) return CUDA_ERROR_OUT_OF_MEMORY;
  used_bytes += bytes;
  *handle = bytes;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle) {
  used_bytes -= static_cast<size_t>(handle);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
                          unsigned long long) {
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemUnmap(CUdeviceptr address, size_t bytes) {
  madvise(pointer(address), bytes, MADV_DONTNEED);
  mprotect(pointer(address), bytes, PROT_NONE);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc*, size_t) {
  return mprotect(pointer(address), bytes, PROT_READ | PROT_WRITE) == 0 ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_INVALID_VALUE;
}
CUresult CUDAAPI cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp*,
                                               CUmemAllocationGranularity_flags) {
  *bytes = size_t{2} << 20;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned) {
  void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(made);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemFree(CUdeviceptr) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
  if (!broken) std::memmove(pointer(to), pointer(from), bytes);
  return state();
}
CUresult CUDAAPI cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream) {
  for (size_t row = 0; row < copy->Height && !broken; ++row) {
    std::memmove(pointer(copy->dstDevice + row * copy->dstPitch),
                 pointer(copy->srcDevice + row * copy->srcPitch), copy->WidthInBytes);
  }
  return state();
}
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream) {
  if (!broken) std::memset(pointer(to), value, bytes);
  return state();
}
CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream) {
  *address = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr address, CUstream) {
  std::free(pointer(address));
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  *address = std::calloc(1, bytes);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemHostRegister(void*, size_t, unsigned) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuMemHostUnregister(void*) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  *can = 0;
  return CUDA_SUCCESS;
}

// ---- Streams and events

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* stream, unsigned, int) {
  *stream = reinterpret_cast<CUstream>(new char);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamDestroy(CUstream stream) {
  delete reinterpret_cast<char*>(stream);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamSynchronize(CUstream) { return state(); }
CUresult CUDAAPI cuStreamQuery(CUstream) { return state(); }
CUresult CUDAAPI cuStreamAddCallback(CUstream stream, CUstreamCallback call, void* data, unsigned) {
  call(stream, state(), data);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(new Event);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventDestroy(CUevent event) {
  delete reinterpret_cast<Event*>(event);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventRecord(CUevent event, CUstream) {
  *reinterpret_cast<Event*>(event) = Event();
  return state();
}
CUresult CUDAAPI cuEventQuery(CUevent) { return state(); }
CUresult CUDAAPI cuEventSynchronize(CUevent) { return state(); }
CUresult CUDAAPI cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  *ms = std::chrono::duration<float, std::milli>(reinterpret_cast<Event*>(end)->time -
                                                 reinterpret_cast<Event*>(begin)->time)
            .count();
  return state();
}
CUresult CUDAAPI cuStreamWaitEvent(CUstream, CUevent, unsigned) { return state(); }

// ---- Kernels and graphs

CUresult CUDAAPI cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* code) {
  void* const library = dlopen(static_cast<const char*>(code), RTLD_NOW | RTLD_LOCAL);
  *module = static_cast<CUmodule>(library);
  return library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
CUresult CUDAAPI cuModuleGetFunction(CUfunction* function, CUmodule module, const char*) {
  *function = reinterpret_cast<CUfunction>(dlsym(module, "host_launch"));
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z,
                                unsigned threads, unsigned, unsigned, unsigned, CUstream,
                                void** arguments, void**) {
  if (y != 1 || z != 1) return CUDA_ERROR_NOT_SUPPORTED;
  return launch(function, x, threads, arguments);
}
CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                  void** arguments, void**) {
  return launch(function, config->gridDimX, config->blockDimX, arguments);
}
CUresult CUDAAPI cuStreamBeginCapture(CUstream, CUstreamCaptureMode) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult CUDAAPI cuStreamEndCapture(CUstream, CUgraph*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult CUDAAPI cuGraphInstantiate(CUgraphExec*, CUgraph, unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult CUDAAPI cuGraphLaunch(CUgraphExec, CUstream) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult CUDAAPI cuGraphDestroy(CUgraph) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec) { return CUDA_SUCCESS; }

}  // extern "C"
