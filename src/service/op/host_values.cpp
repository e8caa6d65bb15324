// SPDX-License-Identifier: Apache-2.0
#include "service/op/host_values.h"

#include "device/host_view.h"
#include "device/memory.h"
#include "tensor/data_buffer.h"

namespace anynpu::service {

namespace {

constexpr size_t kMostElements = 1024;

Status take_value(const void* buffer, TensorDesc& desc) {
  const size_t bytes = desc.byte_count();
  ANYNPU_ASSIGN(auto pin, resolve<DataBuffer>(reinterpret_cast<Handle>(buffer)));
  if (pin->data == nullptr || pin->size < bytes) return {};  // refused where buffers are bound
  ANYNPU_ASSIGN(auto range,
                device::check_range(pin->data, bytes, device::Access::read, "an input"));
  desc.constant.resize(bytes);
  ANYNPU_TRY(device::copy_bytes(desc.constant.data(), range.address, bytes));
  desc.is_constant = true;
  return {};
}

}  // namespace

Status take_host_values(const OpBuffers& buffers, singleop::SingleOp& op) {
  const size_t count = std::min(op.inputs.size(), static_cast<size_t>(buffers.inputs));
  for (size_t i = 0; i < count; ++i) {
    TensorDesc& desc = op.inputs[i];
    const bool small = desc.byte_count() > 0 && desc.element_count() <= kMostElements;
    if (desc.placement != Placement::host || desc.is_constant || !small) continue;
    ANYNPU_TRY(take_value(buffers.input[i], desc), "input {} of {}", i, op.type);
  }
  return {};
}

}  // namespace anynpu::service
