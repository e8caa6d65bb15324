// SPDX-License-Identifier: Apache-2.0
// Filling the weights of a plan, once their chunks have memory.
#include <vector>

#include "device/host_view.h"
#include "exec/plan.h"

namespace anynpu::exec {

namespace {

// Kernels pack on the host; what a device reads is packed in host memory and copied.
Status pack(Plan::PackedKernel& packed, const WeightChunk& chunk, std::byte* to) {
  const auto& inputs = packed.context.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // Weights without elements: nothing is read from them.
    const bool nothing = inputs[i].is_constant && inputs[i].constant.empty();
    if (nothing && packed.kernel->packs_input(i)) return {};
  }
  const size_t bytes = packed.kernel->packed_bytes();
  if (chunk.side == WeightSide::host) return packed.kernel->pack(packed.context, {to, bytes});
  std::vector<std::byte> staged(bytes);
  ANYNPU_TRY(packed.kernel->pack(packed.context, staged));
  return device::copy_bytes(to, staged.data(), bytes);
}

}  // namespace

Status Plan::fill_weights() {
  const auto address = [&](const Slot& slot) {
    return chunks[slot.chunk]->memory.data() + slot.offset;
  };
  for (PackedKernel& packed : kernels) {
    if (packed.packed.memory == OperandMemory::none) continue;
    ANYNPU_TRY(pack(packed, *chunks[packed.packed.chunk], address(packed.packed)),
               "while packing weights of {}", packed.context.label());
  }
  for (const RawConstant& raw : constants) {
    if (raw.bytes.empty()) continue;
    ANYNPU_TRY(device::copy_bytes(address(raw.place), raw.bytes.data(), raw.bytes.size()));
  }
  for (InnerPlans* plans : inner) ANYNPU_TRY(plans->fill_weights());
  return {};
}

void Plan::forget_graph() {
  own_graph = nullptr;
  for (PackedKernel& packed : kernels) packed.context = {};
  constants.clear();
  for (InnerPlans* plans : inner) plans->forget_graph();
}

}  // namespace anynpu::exec
