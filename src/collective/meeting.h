// SPDX-License-Identifier: Apache-2.0
// Rendezvous of processes of one machine and user that know the same text, such as a rank table:
// one hands out bytes, the others ask for them. It uses an abstract socket, which has no file, so
// nothing is left when a process is killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace anynpu::collective {

// Sends `bytes` to ranks 1 to ranks - 1. Fails at the deadline, naming the ranks that did not ask,
// and if another process hands out for the same text.
Status hand_out(const std::string& text, std::span<const std::byte> bytes, uint32_t ranks,
                const Deadline& deadline);
// Waits for the process that hands out, then fills `bytes`.
Status ask_for(const std::string& text, uint32_t rank, std::span<std::byte> bytes,
               const Deadline& deadline);

}  // namespace anynpu::collective
