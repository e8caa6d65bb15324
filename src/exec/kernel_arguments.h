// SPDX-License-Identifier: Apache-2.0
// From the arguments of a kernel as a host program lays them out (addresses of 8 bytes, numbers of
// their own size) to the words that an NPC core takes. An address in device memory becomes the
// address of a copy of its whole allocation, so programs may pass interior addresses and several
// into one allocation. Not thread-safe: one launch, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "exec/device_kernel.h"

namespace anynpu::exec {

// Where a list of arguments in one piece holds the offset of data behind it.
struct PlaceHolder {
  uint32_t address_at = 0;  // the 8 bytes that the kernel reads as an address
  uint32_t data_at = 0;     // what it points to, in the same piece
};

// Adds one argument whose size is known: 1, 2 or 4 bytes are a number; 8 an address of device
// memory or a number that fits 32 bits; any other size a copy, whose address the kernel gets.
Status add_argument(KernelLaunch& launch, std::span<const std::byte> value);
// Adds the address of a copy of `data`.
void add_copy(KernelLaunch& launch, std::span<const std::byte> data);
// Adds all arguments of a piece. Where one ends is known from the kernel's debug information (-g);
// without it, from addresses being 8 bytes on multiples of 8. What could be read in two ways is
// refused.
Status add_arguments(KernelLaunch& launch, const DeviceKernel& kernel,
                     std::span<const std::byte> piece, std::span<const PlaceHolder> holders);

}  // namespace anynpu::exec
