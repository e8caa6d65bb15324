// SPDX-License-Identifier: Apache-2.0
// Any text as acl.json: of aclInit, and of aclmdlSetDump.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "service/config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config =
      anynpu::service::parse_config({reinterpret_cast<const char*>(data), size}, "acl.json");
  if (!config.ok() && config.status().message().empty()) std::abort();
  return 0;
}
