// SPDX-License-Identifier: Apache-2.0
// Configuration files as text.
#pragma once

#include <string>

#include "base/result.h"

namespace anynpu::service {

// The whole text of a regular file of at most 8 MiB. Never blocks on pipes or devices.
Result<std::string> read_config_file(const std::string& path);

}  // namespace anynpu::service
