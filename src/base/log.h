// SPDX-License-Identifier: Apache-2.0
// The log, controlled by the vendor's environment variables (env.def: ASCEND_GLOBAL_LOG_LEVEL and
// others). Lines look like the vendor's:
//   [ERROR] DEVICE(1234,python3):2026-11-15-05:30:00.123.456 [stream.cpp:42]1235 text
// They go to <log path>/debug/plog/plog-<pid>_<time>.log when a log or work path is set, to stdout
// with ASCEND_SLOG_PRINT_TO_STDOUT=1 (instead of the file), to stderr with ANYNPU_VERBOSE=log (as
// well); with none of them a line costs a load and a branch and is dropped. Nothing is opened
// before the first line. Thread-safe; a forked child writes to a file of its own. Logging never
// fails: if the folder cannot be written, there is no log file.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/format.h"

namespace anynpu::log {

enum class Level : uint8_t { debug, info, warning, error, event };

namespace detail {
// Bit per level. All bits are set until the variables are read by the first line.
extern std::atomic<uint32_t> enabled_levels;
void write(Level level, std::string_view module, std::string_view file, int line,
           std::string_view text);

// "src/device/stream.cpp" -> "device"; "" when the path has no folder under src.
constexpr std::string_view folder_of(std::string_view path) {
  const size_t src = path.rfind("src/");
  if (src == std::string_view::npos) return {};
  path.remove_prefix(src + 4);
  const size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

constexpr std::string_view base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}
}  // namespace detail

inline bool enabled(Level level) {
  return detail::enabled_levels.load(std::memory_order_relaxed) >> static_cast<int>(level) & 1;
}

// For lines with their own source location and module, such as the application's.
inline void write(Level level, std::string_view module, std::string_view file, int line,
                  std::string_view text) {
  if (enabled(level)) detail::write(level, module, file, line, text);
}

// Reads the variables again; a file in another folder is closed, the next line opens what it needs.
void reload();

}  // namespace anynpu::log

// ANYNPU_LOG(info, "loaded '{}' in {} us", path, time). Arguments are evaluated only when enabled.
#define ANYNPU_LOG(level, ...)                                                                    \
  do {                                                                                            \
    if (::anynpu::log::enabled(::anynpu::log::Level::level)) {                                    \
      constexpr std::string_view log_folder_ = ::anynpu::log::detail::folder_of(__FILE__);        \
      constexpr std::string_view log_file_ = ::anynpu::log::detail::base_name(__FILE__);          \
      ::anynpu::log::detail::write(::anynpu::log::Level::level, log_folder_, log_file_, __LINE__, \
                                   ::anynpu::format(__VA_ARGS__));                                \
    }                                                                                             \
  } while (0)
