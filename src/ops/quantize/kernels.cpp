// SPDX-License-Identifier: Apache-2.0
// The kernels of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear in order.
#include "ops/families.h"
#include "ops/quantize/linear.h"
#include "ops/registry.h"

namespace anynpu::ops::quantize {

void register_family(Registry& registry) {
  add_schemas(registry);
  for (std::string_view op : {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}) {
    // Rows of f32 (or short floats, widened) and of 8 and 16 bits, by the widest registers there
    // are.
    std::vector<KernelLine> list = row_kernels(op);
    // All types and ways to divide: the oracle of the tests.
    list.push_back(reference_kernel(op));
    registry.add_kernels(op, list);
  }
  register_byte_table(registry);
}

}  // namespace anynpu::ops::quantize
