// SPDX-License-Identifier: Apache-2.0
// Any bytes as a frozen GraphDef of TensorFlow: imported, compiled and run.
#include <cstdint>
#include <memory>

#include "compile/compile.h"
#include "import/tensorflow/tensorflow.h"
#include "run_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anynpu;
  auto owner = std::make_shared<const std::vector<uint8_t>>(data, data + size);
  auto graph = tensorflow::import_memory(std::as_bytes(std::span(*owner)), owner, {});
  if (!graph.ok()) return 0;
  (void)graph::print(*graph);
  auto model = compile::compile(std::move(*graph), {});
  if (model.ok()) fuzz::run_model(std::move(*model), {data, size});
  return 0;
}
