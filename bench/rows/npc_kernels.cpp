// SPDX-License-Identifier: Apache-2.0
// Kernels on an NPC core against the same C++ compiled natively by clang-19 -O2, counters and
// budget on, and against qemu-riscv32; what a launch and a load cost.
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
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../harness.h"
#include "../npc_sources.h"
#include "base/thread_pool.h"
#include "npc/cluster.h"
#include "npc/module.h"

namespace anynpu::bench {
namespace {

namespace fs = std::filesystem;

struct Kernel {
  const char* name;
  const char* source;   // the file it is in
  uint32_t times;       // against native code: milliseconds
  uint32_t many_times;  // against qemu: long enough that its start, 8 ms and uneven, is little; 0:
                        // not against qemu, which has no math.h
};
constexpr Kernel kKernels[] = {{"integer", "first", 2'000'000, 20'000'000},
                               {"matrix", "second", 4'000'000, 20'000'000},
                               {"floats", "first", 2'000'000, 2'000'000},
                               {"bodies", "second", 1'000'000, 400'000},
                               {"branchy", "first", 2'000'000, 6'000'000},
                               {"sort", "second", 1'000'000, 6'000'000},
                               {"recursive", "first", 100'000'000, 1'000'000'000},
                               {"queens", "second", 200'000, 12'000'000},
                               {"indirect", "first", 1'000'000, 2'000'000},
                               {"objects", "second", 1'000'000, 2'000'000},
                               {"memory", "first", 1'000'000, 10'000'000},
                               {"stream", "second", 4'000'000, 40'000'000},
                               {"softmax", "math", 500'000, 0},
                               {"gelu", "math", 200'000, 0}};
constexpr double kSlowest = 1 / 0.60;  // each kernel at least 0.60 of native speed
constexpr double kMean = 1 / 0.88;
constexpr size_t kBufferBytes = 65536 * 4;

struct Source {
  std::vector<std::byte> object;
  void* native = nullptr;
};

struct Built {
  std::string folder;  // with one program for qemu-riscv32 a kernel, where it is installed
  std::map<std::string, Source> sources;
};

// A kernel as a program of its own for qemu-riscv32: no library, one call, exit.
const char kProgram[] = R"(
#include SOURCE
alignas(64) static u memory_of_kernel[65536];
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
    if (kernel.many_times == 0) continue;
    for (const uint32_t times : {0u, kernel.many_times}) {
      const std::string command =
          "cd " + folder +
          " && clang-19 --target=riscv32-unknown-elf -march=rv32imafc -mabi=ilp32 -O2"
          " -ffreestanding -fno-rtti -nostdlib -static -fuse-ld=lld -w '-DSOURCE=\"" +
          kernel.source + ".cc\"' -DRUN=" + kernel.name + " -DTIMES=" + std::to_string(times) +
          "u program.cc -o " + kernel.name + std::to_string(times) + " 2>/dev/null";
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

// Compiles both forms of a file of kernels; no object when a compiler is missing.
Source build_source(const std::string& folder, const std::string& name, const char* text) {
  Source source;
  std::ofstream(folder + "/" + name + ".cc") << text;
  const std::string command = "cd " + folder + " && " ANYNPU_STC_BIN "/stc-clang++ -O2 -c " + name +
                              ".cc && " ANYNPU_STC_BIN "/stc-ld.lld " + name +
                              ".o /usr/local/hpe/riscv32npu/lib/libnpurt_hld.a -r -o " + name +
                              "-device.o && clang-19 -O2 -fno-rtti -fPIC -shared -nostdlib " +
                              name + ".cc -lm -o " + name + ".so";
  if (std::system(command.c_str()) != 0) return source;
  std::ifstream in(folder + "/" + name + "-device.o", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  source.object.resize(bytes.size());
  std::memcpy(source.object.data(), bytes.data(), bytes.size());
  source.native = dlopen((folder + "/" + name + ".so").c_str(), RTLD_NOW);
  return source;
}

Built build() {
  Built built;
  built.folder = (fs::temp_directory_path() / "npc-bench-XXXXXX").string();
  if (!mkdtemp(built.folder.data())) return built;
  built.sources["first"] = build_source(built.folder, "first", kFirstKernels);
  built.sources["second"] = build_source(built.folder, "second", kSecondKernels);
  built.sources["math"] = build_source(built.folder, "math", kMathKernels);
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

using NativeKernel = void (*)(uint32_t*, uint32_t);

// Everything that the rows need, built and loaded.
struct Subject {
  Built built;
  npc::Cluster* cluster = nullptr;
  std::map<std::string, std::shared_ptr<npc::Module>> modules;
  uint32_t data = 0;
  std::vector<uint32_t> buffer = std::vector<uint32_t>(kBufferBytes / 4);

  // CPU time on an NPC, and of native code.
  double launch(const Kernel& kernel, uint32_t times, int cores) {
    npc::LaunchRequest request;
    request.kernel = kernel.name;
    request.args = {data, times};
    request.core_num = cores;
    npc::LaunchStats stats;
    Status status;
    const double taken =
        thread_ns([&] { status = cluster->launch(*modules.at(kernel.source), request, &stats); });
    if (!status.ok()) {  // the time of a refusal says nothing
      std::fprintf(stderr, "%s\n", status.to_string().c_str());
      std::exit(1);
    }
    return taken;
  }
  double native(const Kernel& kernel, uint32_t times) {
    const auto code =
        reinterpret_cast<NativeKernel>(dlsym(built.sources.at(kernel.source).native, kernel.name));
    return code ? thread_ns([&] { code(buffer.data(), times); }) : 0;
  }
};

void loads(Report& report, Subject& s) {
  const auto load = [&] {
    return thread_ns([&] {
             keep(npc::Module::load(*s.cluster, s.built.sources.at("first").object).ok());
           }) /
           1e6;
  };
  report.add({"load a small module the first time, translated", 100, "ms", value_of([&] {
                fs::remove_all(s.built.folder + "/cache");
                return load();
              }),
              "CPU time, without the cache"});
  report.add({"load a small module from the cache", 10, "ms", value_of(load), ""});
}

void against_native(Report& report, Subject& s) {
  double product = 1;
  for (const Kernel& kernel : kKernels) {
    const Estimate ratio = ratio_of([&] { return s.launch(kernel, kernel.times, 1); },
                                    [&] { return s.native(kernel, kernel.times); }, 21);
    product *= ratio.median;
    report.add({std::string("NPC kernel '") + kernel.name + "' against native code", kSlowest, "x",
                ratio, "CPU time, one core, counters and budget on"});
  }
  const double mean = std::pow(product, 1.0 / std::size(kKernels));
  report.add({"NPC kernels against native code, geometric mean",
              kMean,
              "x",
              {mean, mean, mean},
              "of the medians above"});
}

// One value a round: the geometric mean over the kernels. Native code runs in the same rounds: how
// much faster than qemu anything can be depends on the kernels.
void against_qemu(Report& report, Subject& s) {
  if (!build_for_qemu(s.built.folder)) {
    report.skip("NPC kernels against qemu-riscv32", "qemu-user is not installed");
    return;
  }
  constexpr int kRounds = 21;
  std::vector<double> ours, native;
  std::map<std::string, std::vector<double>> each;
  for (int round = 0; round < kRounds; ++round) {
    double product = 1, native_product = 1;
    for (const Kernel& kernel : kKernels) {
      if (kernel.many_times == 0) continue;
      const std::string program = s.built.folder + "/" + kernel.name;
      const double taken = s.launch(kernel, kernel.many_times, 1);
      const double qemu =
          qemu_ns(program + std::to_string(kernel.many_times)) - qemu_ns(program + "0");
      if (qemu <= 0) {
        report.skip("NPC kernels against qemu-riscv32", "a run of qemu-riscv32 failed");
        return;
      }
      each[kernel.name].push_back(taken / qemu);
      product *= taken / qemu;
      native_product *= s.native(kernel, kernel.many_times) / qemu;
    }
    const double root = 1.0 / static_cast<double>(each.size());
    ours.push_back(std::pow(product, root));
    native.push_back(std::pow(native_product, root));
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", estimate(native).median);
  std::string note = std::string("CPU time without qemu's start; native code ") + text;
  for (const auto& [name, ratios] : each) {
    std::snprintf(text, sizeof text, "%.3f", estimate(ratios).median);
    note += std::string(", ") + name + " " + text;
  }
  report.add({"NPC kernels against qemu-riscv32, geometric mean", 1 / 8.0, "x",
              estimate(std::move(ours)), note});
}

}  // namespace

ANYNPU_BENCH(npc_kernels) {
  Subject s;
  s.built = build();
  auto cluster = npc::Cluster::get(0);
  for (const auto& [name, source] : s.built.sources) {
    if (source.native && cluster.ok()) continue;
    report.skip("NPC kernels against native code", "clang-19 is needed");
    return;
  }
  s.cluster = *cluster;
  setenv("ASCEND_CACHE_PATH", (s.built.folder + "/cache").c_str(), 1);
  loads(report, s);
  auto data = s.cluster->allocate(kBufferBytes);
  for (const auto& [name, source] : s.built.sources) {
    auto module = npc::Module::load(*s.cluster, source.object);
    if (module.ok() && data.ok()) {
      s.modules[name] = *module;
      continue;
    }
    report.skip("NPC kernels against native code", "a module does not load");
    return;
  }
  s.data = *data;
  const Kernel empty{"empty", "first", 0, 0};
  report.add({"launch an empty kernel on eight cores", 25, "us",
              value_of([&] { return ns_per_call(100, [&] { s.launch(empty, 0, 8); }) / 1e3; }),
              "without a stream"});
  against_native(report, s);
  against_qemu(report, s);
  const size_t threads = ThreadPool::instance().threads();
  report.add({"eight NPCs: share of the cores' time that is not used", 0.1, "", value_of([&] {
                const double cpu = process_cpu_ms();
                const double wall =
                    ns_per_call(1, [&] { s.launch(kKernels[0], 20'000'000, 8); }) / 1e6;
                return 1 - (process_cpu_ms() - cpu) /
                               (wall * static_cast<double>(std::min<size_t>(threads, 8)));
              }),
              "on a machine with nothing else to do"});
  fs::remove_all(s.built.folder);
}

}  // namespace anynpu::bench
