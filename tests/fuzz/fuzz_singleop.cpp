// SPDX-License-Identifier: Apache-2.0
// Any text as the file of --singleop. Operators that are read are compiled and run.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "compile/single_op.h"
#include "run_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anynpu;
  const auto ops =
      singleop::parse_file_text({reinterpret_cast<const char*>(data), size}, "the input");
  if (!ops.ok()) return 0;
  for (size_t i = 0; i < std::min<size_t>(ops->size(), 8); ++i) {
    auto model = compile::compile_single_op((*ops)[i], {});
    if (model.ok()) fuzz::run_model(std::move(*model), {data, size});
  }
  return 0;
}
