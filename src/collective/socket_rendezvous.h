// SPDX-License-Identifier: Apache-2.0
// Rendezvous of processes of one machine and user that know the same text, such as a rank table:
// rank 0 sends bytes, the others receive them. It uses an abstract socket, which has no file, so
// nothing is left when a process is killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace anynpu::collective {

// Sends `bytes` to ranks 1 to ranks - 1. Fails at the deadline, naming the ranks that did not
// connect, and if another process sends for the same text.
Status send_to_all_ranks(const std::string& text, std::span<const std::byte> bytes, uint32_t ranks,
                         const Deadline& deadline);
// Waits for the process of rank 0, then fills `bytes`.
Status receive_from_rank_zero(const std::string& text, uint32_t rank, std::span<std::byte> bytes,
                              const Deadline& deadline);

}  // namespace anynpu::collective
