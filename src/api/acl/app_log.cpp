// SPDX-License-Identifier: Apache-2.0
// aclAppLog: lines of the application in the same log, under the module APP.
#include <cstdarg>
#include <cstdio>
#include <string>

#include "acl/acl_base.h"
#include "base/log.h"

extern "C" void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
                          const char* fmt, ...) {
  using namespace anynpu;
  // Levels that do not exist are not worth a failure: the function has no way to report one.
  if (!fmt || logLevel < ACL_DEBUG || logLevel > ACL_ERROR) return;
  const auto level = static_cast<log::Level>(logLevel);
  if (!log::enabled(level)) return;
  try {
    va_list arguments;
    va_start(arguments, fmt);
    va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, fmt, arguments);
    std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
    if (length > 0) std::vsnprintf(text.data(), text.size() + 1, fmt, again);
    va_end(again);
    va_end(arguments);
    if (func && *func) text = std::string(func) + ": " + text;
    const std::string_view place = file ? log::detail::base_name(file) : std::string_view("");
    log::write(level, "APP", place, static_cast<int>(line), text);
  } catch (...) {
    // A line that finds no memory is lost.
  }
}
