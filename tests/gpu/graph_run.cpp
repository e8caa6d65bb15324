// SPDX-License-Identifier: Apache-2.0
// Median times in microseconds of aclmdlRIExecuteAsync for a captured stream, and of cuGraphLaunch
// for the same work captured with the driver API. Of the calls alone; the GPU does the work later.
#include <acl/acl.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kTasks = 20, kRounds = 200, kRow = 10;
constexpr size_t kBytes = 4096;

void check(int code, const char* what) {
  if (code == 0) return;
  const char* const why = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", what, code, why ? why : "");
  std::exit(2);
}

template <typename Call, typename Wait>
double median_us(Call call, Wait wait) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kRow; ++i) {
      const auto start = std::chrono::steady_clock::now();
      call();
      const std::chrono::duration<double, std::micro> taken =
          std::chrono::steady_clock::now() - start;
      if (round > 10) times.push_back(taken.count());
    }
    wait();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double captured_us() {
  aclrtStream stream = nullptr;
  check(aclrtCreateStream(&stream), "aclrtCreateStream");
  void* block = nullptr;
  check(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), "aclmdlRICaptureBegin");
  for (int i = 0; i < kTasks; ++i)
    check(aclrtMemsetAsync(block, kBytes, i, kBytes, stream), "aclrtMemsetAsync");
  aclmdlRI recorded = nullptr;
  check(aclmdlRICaptureEnd(stream, &recorded), "aclmdlRICaptureEnd");
  const double us =
      median_us([&] { check(aclmdlRIExecuteAsync(recorded, stream), "aclmdlRIExecuteAsync"); },
                [&] { check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream"); });
  check(aclmdlRIDestroy(recorded), "aclmdlRIDestroy");
  return us;
}

// The few functions of the driver that are called, with the types of cuda.h reduced to pointers.
struct Driver {
  int (*get_device)(int*, int);
  int (*retain)(void**, int);
  int (*set_current)(void*);
  int (*allocate)(unsigned long long*, size_t);
  int (*create_stream)(void**, unsigned);
  int (*begin)(void*, int);
  int (*end)(void*, void**);
  int (*fill)(unsigned long long, unsigned char, size_t, void*);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*launch)(void*, void*);
  int (*wait)(void*);
};

double driver_us() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) check(1, "libcuda.so.1");
  Driver cuda{};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function) check(1, name);
  };
  find(cuda.get_device, "cuDeviceGet");
  find(cuda.retain, "cuDevicePrimaryCtxRetain");
  find(cuda.set_current, "cuCtxSetCurrent");
  find(cuda.allocate, "cuMemAlloc_v2");
  find(cuda.create_stream, "cuStreamCreate");
  find(cuda.begin, "cuStreamBeginCapture_v2");
  find(cuda.end, "cuStreamEndCapture");
  find(cuda.fill, "cuMemsetD8Async");
  find(cuda.instantiate, "cuGraphInstantiateWithFlags");
  find(cuda.launch, "cuGraphLaunch");
  find(cuda.wait, "cuStreamSynchronize");
  int device = 0;
  void *context = nullptr, *stream = nullptr, *graph = nullptr, *ready = nullptr;
  unsigned long long block = 0;
  check(cuda.get_device(&device, 0), "cuDeviceGet");
  check(cuda.retain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuda.set_current(context), "cuCtxSetCurrent");
  check(cuda.allocate(&block, kBytes), "cuMemAlloc");
  check(cuda.create_stream(&stream, 1), "cuStreamCreate");
  check(cuda.begin(stream, 0), "cuStreamBeginCapture");
  for (int i = 0; i < kTasks; ++i)
    check(cuda.fill(block, static_cast<unsigned char>(i), kBytes, stream), "cuMemsetD8Async");
  check(cuda.end(stream, &graph), "cuStreamEndCapture");
  check(cuda.instantiate(&ready, graph, 0), "cuGraphInstantiate");
  return median_us([&] { check(cuda.launch(ready, stream), "cuGraphLaunch"); },
                   [&] { check(cuda.wait(stream), "cuStreamSynchronize"); });
}

}  // namespace

int main() {
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  std::printf("captured %.2f\n", captured_us());
  std::printf("driver %.2f\n", driver_us());
  aclFinalize();
  return 0;
}
