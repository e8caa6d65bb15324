// SPDX-License-Identifier: Apache-2.0
//
// One oneDNN build under test. Prints "key=value" lines; tools/probe_deps compiles, runs and reads
// it.
//
//   probe bench   speed and correctness on THREADS threads
//   probe core    fp32 kernels on CPU time; with THREADS=1 a figure that other load disturbs least
//   probe quick   one GEMM and its output hash (what children and determinism checks run)
//   probe exec    quick, then fork + exec of "probe quick"
//   probe fork    quick, then a plain fork whose child runs quick again
//   probe callers quick from two threads at once: the hashes must agree
//
// Built with -DPROBE_TBB, PROBE_ARENA chooses how TBB is capped:
//   workers  task_arena(THREADS, 1): TBB starts the helpers
//   guests   task_arena(THREADS, THREADS): TBB starts none, our own threads join the arena
#include <cpuid.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <thread>
#include <vector>

#ifdef PROBE_TBB
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#endif

namespace {

using dnnl::memory;
using Dims = memory::dims;
using Tag = memory::format_tag;
using Type = memory::data_type;

[[maybe_unused]] int threads() {
  const char* s = std::getenv("THREADS");
  return s ? std::max(1, std::atoi(s)) : 2;
}

int os_threads() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("Threads:", 0) == 0) return std::atoi(line.c_str() + 8);
  return -1;
}

// ---- CPU and ISA cap -------------------------------------------------------------------------

struct Cpu {
  bool amx_tile = false;
  unsigned palettes = 0;  // CPUID.1D:EAX, 0 where the leaf is missing
  bool avx512_fp16 = false;
};

Cpu read_cpu() {
  Cpu cpu;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    cpu.amx_tile = d >> 24 & 1;
    cpu.avx512_fp16 = d >> 23 & 1;
  }
  if (__get_cpuid_count(0x1D, 0, &a, &b, &c, &d)) cpu.palettes = a;
  return cpu;
}

// Must precede the first primitive: oneDNN freezes its ISA then.
void cap_isa(const Cpu& cpu) {
  if (cpu.palettes != 0) return;
#if DNNL_VERSION_MAJOR >= 3
  dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_fp16);
#else
  dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
#endif
}

const char* runtime_name(unsigned r) {
  switch (r) {
    case DNNL_RUNTIME_NONE:
      return "none";
    case DNNL_RUNTIME_SEQ:
      return "seq";
    case DNNL_RUNTIME_OMP:
      return "omp";
    case DNNL_RUNTIME_TBB:
      return "tbb";
    case DNNL_RUNTIME_THREADPOOL:
      return "threadpool";
    case DNNL_RUNTIME_OCL:
      return "ocl";
    case DNNL_RUNTIME_SYCL:
      return "sycl";
  }
  return "?";
}

// ---- running inside the threading runtime ----------------------------------------------------

#ifdef PROBE_TBB
// All slots reserved for callers: TBB never creates a thread; guests lend themselves while a plan
// runs.
class GuestArena {
 public:
  explicit GuestArena(int n) : arena_(n, static_cast<unsigned>(n)), guests_(n - 1) {}

  void run(const std::function<void()>& work) {
    tbb::task_group group;
    auto hold = std::make_unique<tbb::task_handle>(group.defer([] {}));
    std::vector<std::thread> team;  // production: helpers of the process-wide pool
    for (int i = 0; i < guests_; ++i)
      team.emplace_back([&] { arena_.execute([&] { group.wait(); }); });
    arena_.execute(work);
    hold.reset();  // last reference: every guest's wait() returns
    for (auto& t : team) t.join();
  }

 private:
  tbb::task_arena arena_;
  int guests_;
};
#endif

void in_runtime(const std::function<void()>& work) {
#ifdef PROBE_TBB
  const char* kind = std::getenv("PROBE_ARENA");
  if (kind && !std::strcmp(kind, "workers")) {
    static auto* arena = new tbb::task_arena(threads(), 1);
    return arena->execute(work);
  }
  if (kind && !std::strcmp(kind, "guests")) {
    static auto* arena = new GuestArena(threads());
    return arena->run(work);
  }
#endif
  work();
}

// ---- problems --------------------------------------------------------------------------------

const dnnl::engine& engine() {
  static auto* e = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *e;
}

// Reproducible values in [-1, 1) with full mantissas, so that another order of summation changes
// the bytes.
std::vector<float> noise(std::size_t n, std::uint32_t seed) {
  std::vector<float> v(n);
  for (auto& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = (static_cast<int>(seed >> 8) - (1 << 23)) / float(1 << 23);
  }
  return v;
}

std::uint64_t fnv1a(const void* p, std::size_t n) {
  auto* b = static_cast<const unsigned char*>(p);
  std::uint64_t h = 1469598103934665603ull;
  for (std::size_t i = 0; i < n; ++i) h = (h ^ b[i]) * 1099511628211ull;
  return h;
}

memory load(const memory::desc& want, const Dims& dims, Tag plain, std::vector<float>& data,
            dnnl::stream& s) {
  memory from({dims, Type::f32, plain}, engine(), data.data());
  memory to(want, engine());
  dnnl::reorder(from, to).execute(s, from, to);
  s.wait();
  return to;
}

std::vector<float> store(memory& from, const Dims& dims, Tag plain, dnnl::stream& s) {
  std::size_t n = 1;
  for (auto d : dims) n *= static_cast<std::size_t>(d);
  std::vector<float> out(n);
  memory to({dims, Type::f32, plain}, engine(), out.data());
  dnnl::reorder(from, to).execute(s, from, to);
  s.wait();
  return out;
}

struct Outcome {
  double gflops = 0, max_error = 0;
  std::uint64_t hash = 0;
  std::string kernel;
};

clockid_t timing_clock = CLOCK_MONOTONIC;

double now() {
  timespec t;
  clock_gettime(timing_clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Best of several batches of about 60 ms each: other work on the machine only ever slows a batch.
double best_seconds(const std::function<void()>& once) {
  auto lap = [&](int n) {
    const double start = now();
    for (int i = 0; i < n; ++i) once();
    return (now() - start) / n;
  };
  lap(2);
  const int n = std::clamp(static_cast<int>(0.06 / lap(1)), 1, 2000);
  double best = 1e9;
  for (int i = 0; i < 12; ++i) best = std::min(best, lap(n));
  return best;
}

Outcome gemm(Type type, int size, bool timed) {
  const memory::dim n = size;
  const Dims dims{n, n};
  dnnl::stream s(engine());
  const memory::desc a_md(dims, type, Tag::ab), b_md(dims, type, Tag::any),
      c_md(dims, type, Tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  dnnl::matmul::primitive_desc pd(engine(), a_md, b_md, c_md);
#else
  dnnl::matmul::primitive_desc pd({a_md, b_md, c_md}, engine());
#endif
  auto a = noise(n * n, 1), b = noise(n * n, 2);
  auto am = load(pd.src_desc(), dims, Tag::ab, a, s),
       bm = load(pd.weights_desc(), dims, Tag::ab, b, s);
  a = store(am, dims, Tag::ab, s),
  b = store(bm, dims, Tag::ab, s);  // as rounded to the type under test
  memory cm(pd.dst_desc(), engine());
  dnnl::matmul prim(pd);
  auto once = [&] {
    prim.execute(s, {{DNNL_ARG_SRC, am}, {DNNL_ARG_WEIGHTS, bm}, {DNNL_ARG_DST, cm}});
    s.wait();
  };
  once();
  auto c = store(cm, dims, Tag::ab, s);
  Outcome out;
  out.kernel = pd.impl_info_str();
  out.hash = fnv1a(c.data(), c.size() * sizeof(float));
  for (int k = 0; k < 512; ++k) {
    const int i = k * 131 % size, j = k * 197 % size;
    double want = 0;
    for (int p = 0; p < size; ++p) want += double(a[i * n + p]) * b[p * n + j];
    out.max_error =
        std::max(out.max_error, std::abs(want - c[i * n + j]) / std::sqrt(double(size)));
  }
  if (timed) out.gflops = 2.0 * size * size * size / best_seconds(once) * 1e-9;
  return out;
}

// Batch 1, stride 1, same padding, ReLU fused: the shapes of ResNet-50's inner blocks.
Outcome conv(Type type, int ic, int oc, int hw, int k) {
  const memory::dim pad = k / 2;
  const Dims sd{1, ic, hw, hw}, wd{oc, ic, k, k}, dd{1, oc, hw, hw}, one{1, 1}, pads{pad, pad};
  dnnl::stream s(engine());
  const memory::desc sm(sd, type, Tag::any), wm(wd, type, Tag::any), dm(dd, type, Tag::any);
  dnnl::post_ops relu;
  dnnl::primitive_attr attr;
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algo = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  relu.append_eltwise(dnnl::algorithm::eltwise_relu, 0.f, 0.f);
  attr.set_post_ops(relu);
  dnnl::convolution_forward::primitive_desc pd(engine(), kind, algo, sm, wm, dm, one, pads, pads,
                                               attr);
#else
  relu.append_eltwise(1.f, dnnl::algorithm::eltwise_relu, 0.f, 0.f);
  attr.set_post_ops(relu);
  dnnl::convolution_forward::primitive_desc pd({kind, algo, sm, wm, dm, one, pads, pads}, attr,
                                               engine());
#endif
  auto x = noise(std::size_t(ic) * hw * hw, 3), w = noise(std::size_t(oc) * ic * k * k, 4);
  auto xm = load(pd.src_desc(), sd, Tag::nchw, x, s),
       fm = load(pd.weights_desc(), wd, Tag::oihw, w, s);
  x = store(xm, sd, Tag::nchw, s),
  w = store(fm, wd, Tag::oihw, s);  // as rounded to the type under test
  memory ym(pd.dst_desc(), engine());
  dnnl::convolution_forward prim(pd);
  auto once = [&] {
    prim.execute(s, {{DNNL_ARG_SRC, xm}, {DNNL_ARG_WEIGHTS, fm}, {DNNL_ARG_DST, ym}});
    s.wait();
  };
  once();
  auto y = store(ym, dd, Tag::nchw, s);
  Outcome out;
  out.kernel = pd.impl_info_str();
  out.hash = fnv1a(y.data(), y.size() * sizeof(float));
  for (int t = 0; t < 512; ++t) {
    const int o = t * 7 % oc, r = t * 11 % hw, q = t * 13 % hw;
    double want = 0;
    for (int c = 0; c < ic; ++c)
      for (int i = 0; i < k; ++i)
        for (int j = 0; j < k; ++j) {
          const int h = r + i - int(pad), v = q + j - int(pad);
          if (h < 0 || v < 0 || h >= hw || v >= hw) continue;
          want += double(x[(std::size_t(c) * hw + h) * hw + v]) *
                  w[((std::size_t(o) * ic + c) * k + i) * k + j];
        }
    want = std::max(want, 0.0);
    out.max_error = std::max(out.max_error, std::abs(want - y[(std::size_t(o) * hw + r) * hw + q]) /
                                                std::sqrt(double(ic * k * k)));
  }
  out.gflops = 2.0 * oc * ic * k * k * hw * hw / best_seconds(once) * 1e-9;
  return out;
}

void report(const char* name, Type type, const std::function<Outcome()>& run) {
  try {
    const auto o = run();
    const bool ok = o.max_error < (type == Type::f32 ? 1e-4 : 4e-2);
    std::printf("%s.gflops=%.0f\n%s.ok=%d\n%s.error=%.2g\n%s.hash=%016llx\n%s.kernel=%s\n", name,
                o.gflops, name, ok, name, o.max_error, name,
                static_cast<unsigned long long>(o.hash), name, o.kernel.c_str());
  } catch (const dnnl::error& e) {
    std::printf("%s.error_text=%s\n", name, e.what());
  }
  std::fflush(stdout);
}

std::uint64_t quick() {
  std::uint64_t hash = 0;
  in_runtime([&] { hash = gemm(Type::f32, 384, false).hash; });
  return hash;
}

void bench(const Cpu& cpu) {
  const auto* v = dnnl_version();
  std::printf("version=%d.%d.%d\ncpu_runtime=%s\n", v->major, v->minor, v->patch,
              runtime_name(v->cpu_runtime));
  std::printf("amx_announced=%d\npalettes=%u\navx512_fp16=%d\n", cpu.amx_tile, cpu.palettes,
              cpu.avx512_fp16);
  std::printf("effective_isa=0x%x\n", static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
  in_runtime([] {
    for (auto [suffix, type] : {std::pair{"f32", Type::f32}, std::pair{"f16", Type::f16},
                                std::pair{"bf16", Type::bf16}}) {
      const std::string t = suffix;
      report(("gemm512_" + t).c_str(), type, [&] { return gemm(type, 512, true); });
      report(("gemm1024_" + t).c_str(), type, [&] { return gemm(type, 1024, true); });
      report(("conv3x3_" + t).c_str(), type, [&] { return conv(type, 128, 128, 28, 3); });
      report(("conv1x1_" + t).c_str(), type, [&] { return conv(type, 64, 256, 56, 1); });
    }
    // How many threads the process has while work is going on.
    std::printf("os_threads=%d\n", os_threads());
  });
}

void core() {
  timing_clock = CLOCK_PROCESS_CPUTIME_ID;
  in_runtime([] {
    report("core_gemm512", Type::f32, [] { return gemm(Type::f32, 512, true); });
    report("core_gemm1024", Type::f32, [] { return gemm(Type::f32, 1024, true); });
    report("core_conv3x3", Type::f32, [] { return conv(Type::f32, 128, 128, 28, 3); });
    report("core_conv1x1", Type::f32, [] { return conv(Type::f32, 64, 256, 56, 1); });
  });
}

// Waits for the child; prints how it ended. A hung child is killed.
void await_child(const char* key, pid_t pid) {
  int status = 0;
  for (int ms = 0; ms < 10000; ms += 10) {
    if (waitpid(pid, &status, WNOHANG) == pid) {
      if (WIFEXITED(status))
        std::printf("%s=%s\n", key, WEXITSTATUS(status) == 0 ? "ok" : "wrong result");
      else
        std::printf("%s=signal %d\n", key, WTERMSIG(status));
      return;
    }
    usleep(10000);
  }
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  std::printf("%s=hang\n", key);
}

}  // namespace

// For a Python process that has other packages loaded (ctypes).
extern "C" __attribute__((visibility("default"))) std::uint64_t probe_quick() {
  cap_isa(read_cpu());
  return quick();
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "bench";
  const Cpu cpu = read_cpu();
  cap_isa(cpu);
  if (mode == "bench") {
    bench(cpu);
  } else if (mode == "core") {
    core();
  } else if (mode == "quick") {
    std::printf("hash=%016llx\n", static_cast<unsigned long long>(quick()));
  } else if (mode == "exec") {
    quick();
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
      execl("/proc/self/exe", argv[0], "quick", nullptr);
      _exit(127);
    }
    await_child("exec", pid);
  } else if (mode == "fork") {
    const auto want = quick();
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) _exit(quick() == want ? 0 : 1);
    await_child("fork", pid);
  } else if (mode == "callers") {
    const auto want = quick();
    bool same[2] = {true, true};
    std::thread team[2];
    for (int i = 0; i < 2; ++i)
      team[i] = std::thread([&, i] {
        for (int k = 0; k < 20; ++k) same[i] &= quick() == want;
      });
    for (auto& t : team) t.join();
    std::printf("callers=%s\ncallers_threads=%d\n", same[0] && same[1] ? "same bytes" : "DIFFER",
                os_threads());
  } else {
    return 2;
  }
  return 0;
}
