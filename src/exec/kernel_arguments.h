// SPDX-License-Identifier: Apache-2.0
// Converts the arguments of a kernel from the host's layout (8-byte addresses, numbers of their own
// size) to the words that an NPC core takes. An address in device memory becomes the address of a
// copy of its whole allocation, so programs may pass interior addresses, and several into one
// allocation. Not thread-safe: one launch, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "exec/device_kernel.h"

namespace anynpu::exec {

// A placeholder in an argument block: the offset of data that follows the arguments.
struct PlaceHolder {
  uint32_t address_at = 0;  // the 8 bytes that the kernel reads as an address
  uint32_t data_at = 0;     // what it points to, in the same piece
};

// Adds one argument whose size is known: 1, 2 or 4 bytes are a number; 8 an address of device
// memory or a number that fits 32 bits; any other size a copy, whose address the kernel gets.
Status add_argument(KernelLaunch& launch, std::span<const std::byte> value);
// Adds the address of a copy of `data`.
void add_copy(KernelLaunch& launch, std::span<const std::byte> data);
// Adds all arguments of a block. The kernel's debug information (-g) says where each ends; without
// it, addresses are assumed to be 8 bytes at multiples of 8, and ambiguous blocks are
// refused.
Status add_arguments(KernelLaunch& launch, const DeviceKernel& kernel,
                     std::span<const std::byte> piece, std::span<const PlaceHolder> holders);

}  // namespace anynpu::exec
