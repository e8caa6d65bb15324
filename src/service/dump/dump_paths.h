// SPDX-License-Identifier: Apache-2.0
// The folders of dumps, and data that a program adds to an exception dump. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "base/env.h"
#include "base/result.h"
#include "exec/dump_file.h"
#include "service/config/config.h"

namespace anynpu::service {

bool is_exception(const DumpConfig& config);
// The folder of the configuration; a relative one starts at the program's folder (guide 7.12).
std::string dump_root(const DumpConfig& config);
// The first of these variables that is set; else the folder of the configuration.
std::string root_by(std::initializer_list<env::Name> names, const DumpConfig& config);
// "{root}/extra-info/data-dump/{device}": below the folder that the environment names, else below
// that of the configuration, else below the current one.
std::string exception_root(const DumpConfig& config);
std::string exception_folder(const DumpConfig& config, int32_t device);

// The folder of an active dump: 1 to 3 are the kinds of exceptions, 4 data, 5 overflow. Null when
// it is off; the text is never freed.
Result<const char*> dump_path(int kind);

// The folder of the current device with a trailing '/'; bad_call_order when no exception dump is
// active.
Result<std::string> exception_path();
// Writes "{folder}/{file}.custom.{milliseconds}".
Status save_exception_dump(const char* file, const char* tag, const exec::OperatorDump& dump);

}  // namespace anynpu::service
