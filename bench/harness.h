// SPDX-License-Identifier: Apache-2.0
// The benchmark harness: a row is something that users notice, its target, and the measurement.
// Comparisons run as alternating pairs (A B A B ...), so that other load on the machine affects
// both sides equally; a row shows the median and its 95 % interval (order statistics: no assumption
// about the distribution). Rows register themselves, one small file per row in rows/.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace anynpu::bench {

struct Estimate {
  double median = 0;
  double low = 0;
  double high = 0;
};

constexpr size_t kPairs = 31;        // at least 20 wherever a side takes less than a second
constexpr size_t kShortPairs = 201;  // for batches of microseconds

// One timed batch; returns the figure of the row (for example nanoseconds per call).
using Side = std::function<double()>;

// Median of the values with its 95 % interval.
Estimate estimate(std::vector<double> values);

// One warm-up, then `samples` batches.
Estimate value_of(const Side& side, size_t samples = kPairs);

// One warm-up of both, then alternating pairs: a/b, or a - b.
Estimate ratio_of(const Side& a, const Side& b, size_t pairs = kPairs);
Estimate difference_of(const Side& a, const Side& b, size_t pairs = kPairs);

// Nanoseconds per call of body over `calls` calls.
template <typename Body>
double ns_per_call(size_t calls, Body&& body) {
  const uint64_t begin = now_ns();
  for (size_t i = 0; i < calls; ++i) body();
  return static_cast<double>(now_ns() - begin) / static_cast<double>(calls);
}

// Keeps the compiler from dropping a result.
template <typename T>
inline void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// Resident memory of this process that no file backs, in KiB.
double private_memory_kib();

// CPU time of the whole process so far, in milliseconds.
double process_cpu_ms();

struct BenchRow {
  std::string what;
  double limit = 0;  // the target is "at most limit", in `unit`
  std::string unit;
  Estimate measured;
  std::string note;  // what else was measured in the same run
};

class Report {
 public:
  void add(BenchRow row) { rows_.push_back(std::move(row)); }
  // A row that could not be measured here, and why.
  void skip(std::string what, std::string reason);
  void print_table() const;
  bool write_json(const std::string& path) const;

 private:
  std::vector<BenchRow> rows_;
  std::vector<std::pair<std::string, std::string>> skipped_;
};

struct Registration {
  Registration(const char* name, void (*run)(Report&));
};

}  // namespace anynpu::bench

// ANYNPU_BENCH(handle_lookup) { report.add(...); }
#define ANYNPU_BENCH(name)                                                             \
  static void bench_##name(::anynpu::bench::Report& report);                           \
  static const ::anynpu::bench::Registration registration_##name(#name, bench_##name); \
  static void bench_##name(::anynpu::bench::Report& report)
