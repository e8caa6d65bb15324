// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cctype>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/fork_guard.h"
#include "base/quiet_write.h"
#include "base/text.h"

namespace anynpu::log {

namespace {

constexpr uint32_t kAllLevels = 0x1f;
constexpr uint32_t kEventBit = 1u << static_cast<int>(Level::event);
constexpr uint64_t kMaxFileBytes = 20u << 20;  // the vendor's limits: 20 MB a file, 10 files
constexpr size_t kMaxFiles = 10;
constexpr const char* kLevelNames[] = {"DEBUG", "INFO", "WARNING", "ERROR", "EVENT"};

// All output state. Never destroyed: lines may come from destructors after main.
struct Sink {
  std::mutex mutex;
  bool configured = false;
  bool to_stdout = false;
  bool to_stderr = false;
  std::optional<std::string> folder;
  int fd = -1;
  pid_t pid = 0;
  uint64_t written = 0;
  std::deque<std::string> files;
};

Sink& sink() {
  static auto* s = new Sink;
  return *s;
}

uint32_t levels_from_environment() {
  const int64_t lowest = env::integer(env::Name::log_level);
  uint32_t mask = lowest < 0 || lowest > 4 ? 1u << static_cast<int>(Level::error)
                                           : (kAllLevels & ~kEventBit) >> lowest << lowest;
  mask &= ~kEventBit;
  if (env::flag(env::Name::log_events)) mask |= kEventBit;
  return mask;
}

void configure(Sink& s) {
  s.to_stdout = env::flag(env::Name::log_to_stdout);
  s.to_stderr = env::lists(env::Name::verbose, "log");
  s.folder = s.to_stdout ? std::nullopt : env::log_path();
  const bool anywhere = s.to_stdout || s.to_stderr || s.folder;
  detail::enabled_levels.store(anywhere ? levels_from_environment() : 0, std::memory_order_relaxed);
  s.configured = true;
}

void close_file(Sink& s) {
  if (s.fd >= 0) ::close(s.fd);
  s.fd = -1;
}

std::string time_text(const char* layout, const timespec& t) {
  tm parts;
  localtime_r(&t.tv_sec, &parts);
  char text[64];
  const size_t length = strftime(text, sizeof text, layout, &parts);
  return std::string(text, length);
}

void open_file(Sink& s, const timespec& now) {
  const std::string folder = *s.folder + "/debug/plog";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path = format("{}/plog-{}_{}{:03}.log", folder, s.pid,
                                  time_text("%Y%m%d%H%M%S", now), now.tv_nsec / 1'000'000);
  s.fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0640);
  s.written = 0;
  if (s.fd < 0) {
    s.folder.reset();
    return;
  }
  s.files.push_back(path);
  if (s.files.size() > kMaxFiles) {
    ::unlink(s.files.front().c_str());
    s.files.pop_front();
  }
}

bool write_all(int fd, std::string_view text) {
  const QuietWrite quiet;
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

const std::string& process_name() {
  static const auto* name = [] {
    char text[64] = "";
    const int fd = ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;
    if (fd >= 0) {
      length = ::read(fd, text, sizeof text);
      ::close(fd);
    }
    while (length > 0 && text[length - 1] == '\n') --length;
    return new std::string(text, length > 0 ? static_cast<size_t>(length) : 0);
  }();
  return *name;
}

std::string compose(Level level, std::string_view module, std::string_view file, int line,
                    std::string_view text, const timespec& now) {
  const std::string name = upper(module.empty() ? "ANYNPU" : module);
  std::string out = format("[{}] {}({},{}):{}.{:03}.{:03} [{}:{}]{} ",
                           kLevelNames[static_cast<int>(level)], name, ::getpid(), process_name(),
                           time_text("%Y-%m-%d-%H:%M:%S", now), now.tv_nsec / 1'000'000,
                           now.tv_nsec / 1'000 % 1'000, file, line, ::syscall(SYS_gettid));
  out += text;
  if (out.back() != '\n') out += '\n';
  return out;
}

}  // namespace

namespace detail {

std::atomic<uint32_t> enabled_levels{kAllLevels};

void write(Level level, std::string_view module, std::string_view file, int line,
           std::string_view text) {
  Sink& s = sink();
  std::unique_lock lock(s.mutex, std::defer_lock);
  // In a forked child the lock may be held by a thread that does not exist there: drop the line.
  if (in_forked_child() ? !lock.try_lock() : (lock.lock(), false)) return;
  if (!s.configured) configure(s);
  if (!enabled(level)) return;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const std::string out = compose(level, module, file, line, text, now);
  if (s.to_stdout) write_all(STDOUT_FILENO, out);
  if (s.to_stderr) write_all(STDERR_FILENO, out);
  if (!s.folder) return;
  if (s.pid != ::getpid() || s.written > kMaxFileBytes) {
    close_file(s);
    if (s.pid != ::getpid()) s.files.clear();  // a forked child leaves its parent's files alone
    s.pid = ::getpid();
  }
  if (s.fd < 0) open_file(s, now);
  if (s.fd >= 0 && write_all(s.fd, out)) s.written += out.size();
}

}  // namespace detail

void reload() {
  Sink& s = sink();
  std::lock_guard lock(s.mutex);
  const auto before = s.folder;
  configure(s);
  if (s.folder != before) close_file(s);
}

}  // namespace anynpu::log
