// SPDX-License-Identifier: Apache-2.0
// Any text as the file of --insert_op_conf.
#include <cstdint>
#include <string_view>

#include "compile/aipp_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)anynpu::compile::parse_aipp({reinterpret_cast<const char*>(data), size}).ok();
  return 0;
}
