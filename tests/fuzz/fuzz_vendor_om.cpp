// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .om file of the vendor's atc: its parts read, its graph rebuilt and run.
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "compile/open_model.h"
#include "om/vendor.h"
#include "run_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anynpu;
  auto owner = std::make_shared<std::vector<uint8_t>>(data, data + size);
  if (size >= 4) std::memcpy(owner->data(), "IMOD", 4);
  const auto bytes = std::as_bytes(std::span(*owner));
  if (const auto file = om::read_vendor_file(bytes); file.ok()) {
    const auto description = om::read_vendor_description(*file);
    (void)om::describe_vendor_file(*file, description.ok() ? &*description : nullptr);
    (void)om::vendor_command(*file, description.ok() ? &*description : nullptr);
  }
  auto model = compile::rebuild_vendor(bytes, owner);
  if (model.ok()) fuzz::run_model(std::move(*model), {data, size});
  return 0;
}
