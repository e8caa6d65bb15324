// SPDX-License-Identifier: Apache-2.0
// Kernels on an NPC core against the same C++ compiled natively by clang-19 -O2, counters and
// budget on; what a launch and a load cost.
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../harness.h"
#include "base/thread_pool.h"
#include "npc/cluster.h"
#include "npc/module.h"

namespace anynpu::bench {
namespace {

namespace fs = std::filesystem;

// Each takes a buffer of 64 Ki words and a repeat count.
const char kSource[] = R"(
typedef unsigned u;
extern "C" void empty() {}
extern "C" void integer(u* data, u times) {
  u h = 1;
  for (u i = 0; i < times; ++i) { h ^= h << 13; h ^= h >> 17; h ^= h << 5; h += i; }
  data[0] = h;
}
extern "C" void floats(u* words, u times) {
  float* a = (float*)words; float* b = a + 4096;
  for (u r = 0; r < times / 4096; ++r) for (u i = 0; i < 4096; ++i) b[i] = a[i] * 0.5f + b[i];
}
extern "C" void branchy(u* data, u times) {
  u x = 12345, odd = 0, steps = 0;
  for (u i = 0; i < times; ++i) {
    if (x == 1) x = i + 7;
    if (x & 1) { x = 3 * x + 1; ++odd; } else x >>= 1;
    ++steps;
  }
  data[0] = odd; data[1] = steps;
}
__attribute__((noinline)) static u fib(u n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" void recursive(u* data, u times) { u n = 10; for (u t = times; t > 200; t /= 2) ++n; data[0] = fib(n); }
static u f0(u x) { return x + 1; }
static u f1(u x) { return x * 3; }
static u f2(u x) { return x ^ 0x55; }
static u f3(u x) { return x - 7; }
extern "C" void indirect(u* data, u times) {
  u (*volatile table[4])(u) = {f0, f1, f2, f3};
  u x = 1;
  for (u i = 0; i < times; ++i) x = table[i & 3](x);
  data[0] = x;
}
extern "C" void memory(u* data, u times) {
  u at = 0;
  for (u i = 0; i < times; ++i) { at = (at * 1103515245u + 12345u + data[at & 65535]) & 65535; data[at] += i; }
  data[0] = at;
}
)";

struct Kernel {
  const char* name;
  uint32_t times;
};
constexpr Kernel kKernels[] = {{"integer", 2000000},  {"floats", 2000000},   {"branchy", 2000000},
                               {"recursive", 400000}, {"indirect", 1000000}, {"memory", 1000000}};
constexpr double kSlowest = 1 / 0.60;  // each kernel at least 0.60 of native speed
constexpr double kMean = 1 / 0.88;
constexpr size_t kBufferBytes = 65536 * 4;

struct Built {
  std::vector<std::byte> object;
  void* native = nullptr;
  std::string folder;  // with one program for qemu-riscv32 a kernel, where it is installed
};

// The same kernels as programs of their own for qemu-riscv32: no library, one call, exit.
const char kProgram[] = R"(
#include "kernel.cc"
static u memory_of_kernel[65536];
extern "C" __attribute__((noreturn)) void _start() {
  RUN(memory_of_kernel, TIMES);
  register int code asm("a0") = 0; register int call asm("a7") = 93;
  asm volatile("ecall" : : "r"(code), "r"(call));
  __builtin_unreachable();
}
)";

bool build_for_qemu(const std::string& folder) {
  std::ofstream(folder + "/program.cc") << kProgram;
  for (const Kernel& kernel : kKernels) {
    for (const uint32_t times : {0u, kernel.times}) {
      const std::string command = "cd " + folder +
                                  " && clang-19 --target=riscv32-unknown-elf -march=rv32imafc "
                                  "-mabi=ilp32 -O2 -ffreestanding"
                                  " -nostdlib -static -fuse-ld=lld -w -DRUN=" +
                                  kernel.name + " -DTIMES=" + std::to_string(times) +
                                  "u program.cc -o " + kernel.name + std::to_string(times) +
                                  " 2>/dev/null";
      if (std::system(command.c_str()) != 0) return false;
    }
  }
  return std::system("command -v qemu-riscv32 > /dev/null") == 0;
}

// CPU time of one run under qemu, in nanoseconds; 0 when it fails. User and system time together:
// the kernel splits a short run between them by guess, and only the sum is exact.
double qemu_ns(const std::string& program) {
  char* const arguments[] = {const_cast<char*>("qemu-riscv32"), const_cast<char*>(program.c_str()),
                             nullptr};
  pid_t child = 0;
  int status = 0;
  rusage used{};
  if (posix_spawnp(&child, "qemu-riscv32", nullptr, nullptr, arguments, environ) != 0) return 0;
  if (wait4(child, &status, 0, &used) != child || status != 0) return 0;
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3;
}

// Compiles both forms; no object when a compiler is missing.
Built build() {
  Built built;
  std::string folder = (fs::temp_directory_path() / "npc-bench-XXXXXX").string();
  if (!mkdtemp(folder.data())) return built;
  std::ofstream(folder + "/kernel.cc") << kSource;
  const std::string command = "cd " + folder +
                              " && " ANYNPU_STC_BIN
                              "/stc-clang++ -O2 -c kernel.cc"
                              " && " ANYNPU_STC_BIN
                              "/stc-ld.lld kernel.o -r -o device.o"
                              " && clang-19 -O2 -fPIC -shared -nostdlib kernel.cc -o native.so";
  if (std::system(command.c_str()) == 0) {
    std::ifstream in(folder + "/device.o", std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    built.object.resize(text.size());
    std::memcpy(built.object.data(), text.data(), text.size());
    built.native = dlopen((folder + "/native.so").c_str(), RTLD_NOW);
  }
  built.folder = folder;
  return built;
}

// CPU time of this thread: one core runs on it from start to end.
template <typename Body>
double thread_ns(Body&& body) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  };
  const double begin = now();
  body();
  return now() - begin;
}

}  // namespace

ANYNPU_BENCH(npc_kernels) {
  const Built built = build();
  auto cluster = npc::Cluster::get(0);
  if (!built.native || !cluster.ok()) {
    report.skip("NPC kernels against native code", "clang-19 is needed");
    return;
  }
  npc::Cluster& c = **cluster;
  const auto load = [&] {
    return thread_ns([&] { keep(npc::Module::load(c, built.object).ok()); }) / 1e6;
  };
  setenv("ASCEND_CACHE_PATH", (built.folder + "/cache").c_str(), 1);
  report.add({"load a small module the first time, translated", 100, "ms", value_of([&] {
                fs::remove_all(built.folder + "/cache");
                return load();
              }),
              "CPU time, without the cache"});
  report.add({"load a small module from the cache", 10, "ms", value_of(load), ""});
  auto module = npc::Module::load(c, built.object);
  auto data = c.allocate(kBufferBytes);
  if (!module.ok() || !data.ok()) {
    report.skip("NPC kernels against native code", "the module does not load");
    return;
  }
  const auto launch = [&](const char* name, uint32_t times, int cores) {
    npc::LaunchRequest request;
    request.kernel = name;
    request.args = {*data, times};
    request.core_num = cores;
    npc::LaunchStats stats;
    keep(c.launch(**module, request, &stats).ok());
  };
  report.add({"launch an empty kernel on eight cores", 25, "us",
              value_of([&] { return ns_per_call(100, [&] { launch("empty", 0, 8); }) / 1e3; }),
              "without a stream"});
  std::vector<uint32_t> buffer(kBufferBytes / 4);
  double product = 1;
  for (const Kernel& kernel : kKernels) {
    const auto native =
        reinterpret_cast<void (*)(uint32_t*, uint32_t)>(dlsym(built.native, kernel.name));
    if (!native) continue;
    const Estimate ratio =
        ratio_of([&] { return thread_ns([&] { launch(kernel.name, kernel.times, 1); }); },
                 [&] { return thread_ns([&] { native(buffer.data(), kernel.times); }); }, 21);
    product *= ratio.median;
    report.add({std::string("NPC kernel '") + kernel.name + "' against native code", kSlowest, "x",
                ratio, "CPU time, one core, counters and budget on"});
  }
  if (build_for_qemu(built.folder)) {
    double faster = 1;
    for (const Kernel& kernel : kKernels) {
      const std::string program = built.folder + "/" + kernel.name;
      const Estimate ratio = ratio_of(
          [&] { return thread_ns([&] { launch(kernel.name, kernel.times, 1); }); },
          [&] { return qemu_ns(program + std::to_string(kernel.times)) - qemu_ns(program + "0"); },
          11);
      faster *= ratio.median;
    }
    const double mean = std::pow(faster, 1.0 / std::size(kKernels));
    if (mean > 0) {
      report.add({"NPC kernels against qemu-riscv32, geometric mean",
                  1 / 8.0,
                  "x",
                  {mean, mean, mean},
                  "CPU time without qemu's start"});
    } else {
      report.skip("NPC kernels against qemu-riscv32", "a run of qemu-riscv32 failed");
    }
  } else {
    report.skip("NPC kernels against qemu-riscv32", "qemu-user is not installed");
  }
  const size_t threads = ThreadPool::instance().threads();
  report.add({"eight NPCs: share of the cores' time that is not used", 0.1, "", value_of([&] {
                const double cpu = process_cpu_ms();
                const double wall = ns_per_call(1, [&] { launch("integer", 20'000'000, 8); }) / 1e6;
                return 1 - (process_cpu_ms() - cpu) /
                               (wall * static_cast<double>(std::min<size_t>(threads, 8)));
              }),
              "on a machine with nothing else to do"});
  fs::remove_all(built.folder);
  const double mean = std::pow(product, 1.0 / std::size(kKernels));
  report.add({"NPC kernels against native code, geometric mean",
              kMean,
              "x",
              {mean, mean, mean},
              "of the medians above"});
}

}  // namespace anynpu::bench
