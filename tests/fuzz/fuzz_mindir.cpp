// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .mindir of MindSpore: imported, compiled and run.
#include <cstdint>
#include <memory>
#include <vector>

#include "compile/compile.h"
#include "import/mindspore/mindspore.h"
#include "run_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anynpu;
  auto owner = std::make_shared<const std::vector<uint8_t>>(data, data + size);
  auto graph = mindspore::import_memory(std::as_bytes(std::span(*owner)), owner);
  if (!graph.ok()) return 0;
  auto model = compile::compile(std::move(*graph), {});
  if (model.ok()) fuzz::run_model(std::move(*model), {data, size});
  return 0;
}
