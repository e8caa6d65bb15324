// SPDX-License-Identifier: Apache-2.0
// Any bytes as an .air file, a graph of the vendor's operators: shown as JSON, imported, compiled
// and run.
#include <cstdint>
#include <memory>
#include <vector>

#include "compile/compile.h"
#include "import/ge/ge.h"
#include "import/ge/json.h"
#include "run_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anynpu;
  auto owner = std::make_shared<const std::vector<uint8_t>>(data, data + size);
  const auto bytes = std::as_bytes(std::span(*owner));
  if (const auto shown = ge::model_def_json(bytes); shown.ok()) (void)shown->dump(2);
  auto graph = ge::import_air(bytes, owner);
  if (!graph.ok()) return 0;
  auto model = compile::compile(std::move(*graph), {});
  if (model.ok()) fuzz::run_model(std::move(*model), {data, size});
  return 0;
}
