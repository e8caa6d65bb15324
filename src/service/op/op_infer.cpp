// SPDX-License-Identifier: Apache-2.0
#include "service/op/op_infer.h"

#include "device/host_view.h"
#include "device/memory.h"
#include "import/singleop/table.h"
#include "service/check_pointer.h"
#include "tensor/data_buffer.h"

namespace anynpu::service {

namespace {

// Lists of sizes and axes are small; data is not read.
constexpr size_t kMostElements = 1024;

Status read_values(int count, const void* const* inputs, singleop::SingleOp& op) {
  if (count == 0 || !inputs) return {};
  const bool by_values = [&] {
    const singleop::VendorOp* row = singleop::find_vendor_op(op.type);
    return row && singleop::sized_by_values(*row) && op.type != "Range";
  }();
  for (int i = 0; i < count; ++i) {
    TensorDesc& desc = op.inputs[static_cast<size_t>(i)];
    ANYNPU_ASSIGN(auto pin, resolve<DataBuffer>(reinterpret_cast<Handle>(inputs[i])), "input {}",
                  i);
    const size_t bytes = desc.byte_count();
    const bool small = desc.element_count() > 0 && desc.element_count() <= kMostElements;
    if (by_values || desc.is_constant || !small || !pin->data || pin->size < bytes) continue;
    if (desc.dtype != DType::i32 && desc.dtype != DType::i64 && op.type != "Range") continue;
    ANYNPU_ASSIGN(auto range,
                  device::check_range(pin->data, bytes, device::Access::read, "an input"),
                  "input {}", i);
    desc.constant.resize(bytes);
    ANYNPU_TRY(device::copy_bytes(desc.constant.data(), range.address, bytes), "input {}", i);
    desc.is_constant = true;
  }
  return {};
}

}  // namespace

Status infer_shapes(const OpArguments& arguments, const void* const* inputs) {
  ANYNPU_TRY(check_pointer(arguments.type, "opType"));
  auto op = read_op(arguments);
  if (!op.ok()) return op.status();
  ANYNPU_TRY(read_values(arguments.inputs, inputs, *op));
  auto outputs = singleop::infer_outputs(*op);
  if (!outputs.ok()) return op_failure(outputs.status());
  for (size_t o = 0; o < outputs->size(); ++o) {
    auto desc = resolve<TensorDesc>(reinterpret_cast<Handle>(arguments.output_desc[o]));
    if (!desc.ok()) return desc.status();
    const TensorDesc& made = (*outputs)[o];
    if ((*desc)->dtype == DType::undefined) (*desc)->dtype = made.dtype;
    if ((*desc)->format == Format::undefined) (*desc)->format = made.format;
    (*desc)->shape = made.shape;
    (*desc)->shape_ranges = made.shape_ranges;
  }
  return {};
}

}  // namespace anynpu::service
