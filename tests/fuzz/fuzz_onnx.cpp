// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ONNX model: imported, compiled, written, read back and run. Whatever compiles
// must come back from its own file.
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "compile/compile.h"
#include "import/onnx/onnx.h"
#include "om/container.h"
#include "run_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anynpu;
  auto owner = std::make_shared<const std::vector<uint8_t>>(data, data + size);
  auto source = onnx::import_memory(std::as_bytes(std::span(*owner)), owner);
  if (!source.ok()) return 0;
  (void)graph::print(source->graph);
  const auto model = compile::compile(std::move(source->graph), {});
  if (!model.ok()) return 0;
  const auto bytes = om::to_bytes(*model);
  auto again = bytes.ok() ? om::read_copy(*bytes) : Result<om::Model>(bytes.status());
  if (!again.ok()) std::abort();
  fuzz::run_model(std::move(*again), {data, size});
  return 0;
}
