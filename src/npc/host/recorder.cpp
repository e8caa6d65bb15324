// SPDX-License-Identifier: Apache-2.0
#include "npc/host/recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "base/env.h"
#include "base/json.h"
#include "base/quiet_write.h"

namespace anynpu::npc {

namespace {

constexpr size_t kFlushBytes = 64 << 10;

struct Lines {
  std::mutex mutex;
  std::string text;
  std::string path;
  pid_t owner = 0;
};

Lines& lines() {
  static Lines& one = *new Lines;
  return one;
}

// The lock is held.
void flush(Lines& out) {
  if (out.text.empty() || getpid() != out.owner) return;  // a forked child has its parent's lines
  const int file =
      ::open(out.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file >= 0) {
    const QuietWrite quiet;
    (void)!::write(file, out.text.data(), out.text.size());
    ::close(file);
  }
  out.text.clear();
}

void append(const json::Value& line) {
  Lines& out = lines();
  std::lock_guard lock(out.mutex);
  out.text += line.dump() + "\n";
  if (out.text.size() >= kFlushBytes) flush(out);
}

template <typename Numbers>
json::Value array_of(const Numbers& numbers) {
  json::Array array;
  for (const uint64_t number : numbers) array.emplace_back(number);
  return array;
}

Recorder* start() {
  const std::string folder = env::text(env::Name::stc_prof);
  if (folder.empty()) return nullptr;
  Lines& out = lines();
  out.owner = getpid();
  out.path = format("{}/hpe-{}.jsonl", folder, out.owner);
  std::atexit([] {
    std::lock_guard lock(lines().mutex);
    flush(lines());
  });
  return new Recorder;
}

}  // namespace

Recorder* recorder() {
  static Recorder* const one = start();
  return one;
}

void Recorder::add_kernel(const LaunchStats& stats, uint32_t stream, int thread) {
  json::Value line{json::Object{}};
  line.set("kernel", stats.kernel);
  line.set("cluster", stats.cluster);
  line.set("stream", uint64_t{stream});
  line.set("tid", thread);
  line.set("start_ns", stats.start_ns);
  line.set("end_ns", stats.end_ns);
  json::Array cores;
  json::Array instructions;
  for (const CoreCounters& core : stats.cores) {
    cores.push_back(array_of(core.events));
    instructions.emplace_back(core.instructions);
  }
  line.set("npc", std::move(cores));
  line.set("instructions", std::move(instructions));
  line.set("dma", array_of(stats.dma));
  append(line);
}

void Recorder::add_copy(const char* kind, int cluster, uint64_t bytes, uint64_t start_ns,
                        uint64_t end_ns) {
  json::Value line{json::Object{}};
  line.set("copy", kind);
  line.set("cluster", cluster);
  line.set("bytes", bytes);
  line.set("start_ns", start_ns);
  line.set("end_ns", end_ns);
  append(line);
}

}  // namespace anynpu::npc
