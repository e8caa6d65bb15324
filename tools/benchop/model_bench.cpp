// SPDX-License-Identifier: Apache-2.0
#include "model_bench.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "exec/model.h"
#include "om/container.h"

namespace {

using namespace anynpu;

struct Loaded {
  std::shared_ptr<exec::LoadedModel> model;
  std::vector<std::vector<float>> inputs, outputs;
  std::vector<exec::Buffer> in, out;
};

Result<Loaded> load(const ModelBenchOptions& options) {
  Loaded loaded;
  const uint64_t start = now_ns();
  ANYNPU_ASSIGN(om::Model file, om::read_file(options.path));
  const uint64_t read = now_ns();
  ANYNPU_ASSIGN(loaded.model, exec::LoadedModel::load(file.graph));
  const auto sizes = loaded.model->sizes();
  std::printf("%s: read %.1f ms, load %.1f ms, weights %.1f MB, work %.1f MB, %zu threads\n",
              options.path, static_cast<double>(read - start) / 1e6,
              static_cast<double>(now_ns() - read) / 1e6,
              static_cast<double>(sizes.weight_bytes) / 1e6,
              static_cast<double>(sizes.work_bytes) / 1e6, ThreadPool::instance().threads());
  std::mt19937 random(1);
  std::uniform_real_distribution<float> draw(-1, 1);
  for (const auto& info : loaded.model->inputs()) {
    loaded.inputs.emplace_back(info.bytes / sizeof(float) + 1);
    for (float& x : loaded.inputs.back()) x = draw(random);
    loaded.in.push_back({loaded.inputs.back().data(), info.bytes});
  }
  for (const auto& info : loaded.model->outputs()) {
    loaded.outputs.emplace_back(info.bytes / sizeof(float) + 1);
    loaded.out.push_back({loaded.outputs.back().data(), info.bytes});
  }
  // One file per input, in order, commas between them.
  std::string names = options.input ? options.input : "";
  for (size_t i = 0; i < loaded.in.size() && !names.empty(); ++i) {
    const std::string name = names.substr(0, names.find(','));
    names.erase(0, std::min(names.size(), name.size() + 1));
    std::ifstream stream(name, std::ios::binary);
    stream.read(static_cast<char*>(loaded.in[i].data),
                static_cast<std::streamsize>(loaded.in[i].bytes));
    if (!stream) return fail(Code::io_error, "'{}' cannot be read", name);
  }
  return loaded;
}

// Of all threads: what other programs on the machine disturb least.
double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

Status print_steps(Loaded& loaded, int times) {
  const auto infos = loaded.model->steps();
  std::vector<std::vector<uint64_t>> all(infos.size());
  std::vector<uint64_t> taken;
  for (int i = 0; i < times; ++i) {
    ANYNPU_TRY(loaded.model->run_timed(loaded.in, loaded.out, taken));
    for (size_t s = 0; s < taken.size(); ++s) all[s].push_back(taken[s]);
  }
  double best = 0, middle = 0;
  for (std::vector<uint64_t>& step : all) {
    std::sort(step.begin(), step.end());
    best += static_cast<double>(step.front());
    middle += static_cast<double>(step[step.size() / 2]);
  }
  std::printf("sum of the best of each step: %.3f ms; of their medians: %.3f ms\n", best / 1e6,
              middle / 1e6);
  for (size_t s = 0; s < infos.size(); ++s) {
    const auto least = static_cast<double>(all[s].front());
    std::printf("  %9.1f us %5.1f %%  median %9.1f us  %-18s %s\n", least / 1e3,
                100.0 * least / best, static_cast<double>(all[s][all[s].size() / 2]) / 1e3,
                infos[s].kernel.c_str(), infos[s].name.c_str());
  }
  return {};
}

Status bench(const ModelBenchOptions& options) {
  ANYNPU_ASSIGN(Loaded loaded, load(options));
  std::vector<double> times, busy;
  for (int i = 0; i < options.times; ++i) {
    const uint64_t start = now_ns();
    const double cpu = cpu_ms();
    ANYNPU_TRY(loaded.model->run(loaded.in, loaded.out));
    times.push_back(static_cast<double>(now_ns() - start) / 1e6);
    busy.push_back(cpu_ms() - cpu);
  }
  std::sort(times.begin(), times.end());
  std::sort(busy.begin(), busy.end());
  std::printf(
      "run: best %.3f ms, median %.3f ms of %d; processor time best %.3f ms, median %.3f ms\n",
      times.front(), times[times.size() / 2], options.times, busy.front(), busy[busy.size() / 2]);
  if (options.output) {
    std::ofstream stream(options.output, std::ios::binary);
    stream.write(static_cast<const char*>(loaded.out[0].data),
                 static_cast<std::streamsize>(loaded.out[0].bytes));
  }
  return options.steps ? print_steps(loaded, options.times) : Status{};
}

}  // namespace

int bench_model(const ModelBenchOptions& options) {
  const Status status = bench(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "benchop: %s\n", status.to_string().c_str());
  return 1;
}
