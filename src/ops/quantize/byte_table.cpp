// SPDX-License-Identifier: Apache-2.0
// ByteTable: each byte is replaced by its entry of a constant table of 256. Plans make it from
// functions of one quantised tensor (compile/quantized_tables.cpp).
#include "ops/blocked_layout.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/quantize/linear.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/simd/lanes_quant.h"

namespace anynpu::ops::quantize {

namespace {

constexpr size_t kLeastBytes = 32 << 10;  // of a thread

Status byte_table_rule(OpContext& context) {
  const Operand& table = context.inputs[1];
  if (table.fully_known() && table.shape != Shape{256}) {
    return fail(Code::shape_mismatch, "{}: the table is {}, expected 256 entries", context.label(),
                to_string(table.shape));
  }
  if (!context.inputs[0].has_shape) return {};
  return set_output(context, 0, DType::u8, context.inputs[0].shape);
}

template <void (*kLookUp)(const uint8_t* table, const uint8_t* in, int64_t count, uint8_t* out)>
PlanResult plan_byte_table(const OpContext& context) {
  const Layout layout = context.inputs[0].layout;
  const auto count = static_cast<size_t>(stored_elements(context.inputs[0].shape, layout));
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(count, kLeastBytes, [&](size_t begin, size_t end) {
      kLookUp(input_of<uint8_t>(args, 1), input_of<uint8_t>(args, 0) + begin,
              static_cast<int64_t>(end - begin), output_of<uint8_t>(args, 0) + begin);
    });
  });
  plan->input_layouts = {layout, Layout::plain};
  plan->output_layouts = {layout};
  plan->in_place_input = 0;
  return plan;
}

void look_up(const uint8_t* table, const uint8_t* in, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = table[in[i]];
}

Status can_run_wide_table(const OpContext&) { return check_vbmi(); }

const KernelLine kByteTable[] = {
    // The table in four registers: two VPERMI2B for 64 bytes.
    {"table_avx512_vbmi",
     {DType::u8},
     can_run_wide_table,
     create_plain<plan_byte_table<look_up_bytes>>},
    {"table", {DType::u8}, nullptr, create_plain<plan_byte_table<look_up>>},
};

}  // namespace

void register_byte_table(Registry& registry) {
  registry.add(OpSchema{.name = "ByteTable",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"}, {"table", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", {DType::u8}}},
                        .traits = OpTraits::linear().with(PrecisionClass::fixed),
                        .shape = byte_table_rule});
  registry.add_kernels("ByteTable", kByteTable, "anynpu");
}

}  // namespace anynpu::ops::quantize
