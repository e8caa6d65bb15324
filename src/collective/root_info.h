// SPDX-License-Identifier: Apache-2.0
// The root info: bytes that one process creates and all ranks of a communicator pass in; they say
// where the ranks rendezvous.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "collective/exchange.h"

namespace anynpu::collective {

inline constexpr size_t kRootInfoBytes = 4108;
using RootInfo = std::span<std::byte, kRootInfoBytes>;

Status make_root_info(RootInfo info);
// Joins as `rank` of `ranks`. Fails for bytes that are not a root info.
Result<std::unique_ptr<Exchange>> join_root(std::span<const std::byte, kRootInfoBytes> info,
                                            uint32_t rank, uint32_t ranks);

Status check_rank_numbers(uint32_t rank, uint32_t ranks);

}  // namespace anynpu::collective
