// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace anynpu::bench {

namespace {

struct Benchmark {
  const char* name;
  void (*run)(Report&);
};

std::vector<Benchmark>& benchmarks() {
  static std::vector<Benchmark> list;
  return list;
}

const char* verdict(const BenchRow& row) {
  if (row.measured.high <= row.limit) return "met";
  return row.measured.low > row.limit ? "MISSED" : "near";
}

std::string number(double value) {
  char buffer[40];
  const double size = std::fabs(value);
  std::snprintf(buffer, sizeof buffer, size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : "%.3g", value);
  return buffer;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

Estimate estimate(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const double median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  // Ranks between which the true median lies in 95 of 100 cases (normal form of the binomial).
  const double spread = 1.96 * std::sqrt(static_cast<double>(n)) / 2;
  const double middle = static_cast<double>(n) / 2;
  const auto low = static_cast<size_t>(std::max(0.0, std::floor(middle - spread)));
  const auto high = std::min(n - 1, static_cast<size_t>(std::ceil(middle + spread)));
  return {median, values[low], values[high]};
}

Estimate value_of(const Side& side, size_t samples) {
  side();
  std::vector<double> values;
  for (size_t i = 0; i < samples; ++i) values.push_back(side());
  return estimate(std::move(values));
}

namespace {
template <typename Join>
Estimate pairs_of(const Side& a, const Side& b, size_t pairs, Join join) {
  a();
  b();
  std::vector<double> values;
  for (size_t i = 0; i < pairs; ++i) {
    // The order alternates too, so that neither side always runs on the other's warm caches.
    double x, y;
    if (i % 2) {
      y = b();
      x = a();
    } else {
      x = a();
      y = b();
    }
    values.push_back(join(x, y));
  }
  return estimate(std::move(values));
}
}  // namespace

Estimate ratio_of(const Side& a, const Side& b, size_t pairs) {
  return pairs_of(a, b, pairs, [](double x, double y) { return y > 0 ? x / y : 0.0; });
}

Estimate difference_of(const Side& a, const Side& b, size_t pairs) {
  return pairs_of(a, b, pairs, [](double x, double y) { return x - y; });
}

double private_memory_kib() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (!file) return 0;
  char line[256];
  double kib = 0;
  while (std::fgets(line, sizeof line, file)) {
    if (std::strncmp(line, "RssAnon:", 8) == 0) kib = std::atof(line + 8);
  }
  std::fclose(file);
  return kib;
}

double process_cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

void Report::skip(std::string what, std::string reason) {
  skipped_.emplace_back(std::move(what), std::move(reason));
}

void Report::print_table() const {
  for (const BenchRow& row : rows_) {
    std::printf("%-58s | %11s | %11s | %10s .. %-10s | %-6s%s%s\n", row.what.c_str(),
                ("<= " + number(row.limit) + " " + row.unit).c_str(),
                (number(row.measured.median) + " " + row.unit).c_str(),
                number(row.measured.low).c_str(), number(row.measured.high).c_str(), verdict(row),
                row.note.empty() ? "" : " | ", row.note.c_str());
  }
  for (const auto& [what, reason] : skipped_) {
    std::printf("%-58s | not measured: %s\n", what.c_str(), reason.c_str());
  }
}

bool Report::write_json(const std::string& path) const {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return false;
  std::fprintf(file, "{\"rows\": [");
  const char* comma = "";
  for (const BenchRow& row : rows_) {
    std::fprintf(file,
                 "%s\n  {\"what\": %s, \"limit\": %.9g, \"unit\": %s, \"measured\": %.9g, \"low\": "
                 "%.9g, \"high\": %.9g, \"verdict\": \"%s\", \"note\": %s}",
                 comma, json_text(row.what).c_str(), row.limit, json_text(row.unit).c_str(),
                 row.measured.median, row.measured.low, row.measured.high, verdict(row),
                 json_text(row.note).c_str());
    comma = ",";
  }
  std::fprintf(file, "],\n \"skipped\": [");
  comma = "";
  for (const auto& [what, reason] : skipped_) {
    std::fprintf(file, "%s\n  {\"what\": %s, \"reason\": %s}", comma, json_text(what).c_str(),
                 json_text(reason).c_str());
    comma = ",";
  }
  std::fprintf(file, "]}\n");
  return std::fclose(file) == 0;
}

Registration::Registration(const char* name, void (*run)(Report&)) {
  benchmarks().push_back({name, run});
}

}  // namespace anynpu::bench

// anynpu_bench [--json FILE] [--list] [--only NAME | word ...]: all rows, the one of that name,
// or those whose name contains one of the words.
int main(int argc, char** argv) {
  using namespace anynpu::bench;
  std::string json;
  std::vector<std::string> wanted;
  std::string only;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json" && i + 1 < argc) {
      json = argv[++i];
    } else if (word == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else if (word == "--list") {
      list = true;
    } else {
      wanted.push_back(word);
    }
  }
  auto& all = benchmarks();
  std::sort(all.begin(), all.end(),
            [](const Benchmark& a, const Benchmark& b) { return std::strcmp(a.name, b.name) < 0; });
  Report report;
  for (const Benchmark& benchmark : all) {
    if (list) {
      std::printf("%s\n", benchmark.name);
      continue;
    }
    if (!only.empty() && only != benchmark.name) continue;
    const bool take = wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](auto& word) {
                        return std::strstr(benchmark.name, word.c_str()) != nullptr;
                      });
    if (take) benchmark.run(report);
  }
  if (list) return 0;
  report.print_table();
  if (!json.empty() && !report.write_json(json)) {
    std::fprintf(stderr, "anynpu_bench: cannot write %s\n", json.c_str());
    return 1;
  }
  return 0;
}
