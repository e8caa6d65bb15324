// SPDX-License-Identifier: Apache-2.0
// The lines that the interface prints on stdout. The level is one for the process: 1 debug, 2 info,
// 3 warning, 4 error; lines below it are left out.
#pragma once

#include <string>

namespace anynpu::aclruntime {

enum class LogLevel { debug = 1, info = 2, warn = 3, error = 4 };

void set_log_level(int level);
bool logs(LogLevel level);
// Prints "[INFO] text" at once, also from threads.
void log_line(LogLevel level, const std::string& text);

}  // namespace anynpu::aclruntime
