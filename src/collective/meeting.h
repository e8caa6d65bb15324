// SPDX-License-Identifier: Apache-2.0
// Processes of one machine and user that know a text, such as that of a rank table, find each other
// by it: one hands out bytes, the others ask for them. The place is a socket of the kernel without
// a file, so nothing stays behind when a process is killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace anynpu::collective {

// Gives `bytes` to ranks 1 to ranks - 1. Fails at the deadline and says who did not ask, and when
// another process hands out for the same text.
Status hand_out(const std::string& text, std::span<const std::byte> bytes, uint32_t ranks,
                const Deadline& deadline);
// Waits until somebody hands out, then fills `bytes`.
Status ask_for(const std::string& text, uint32_t rank, std::span<std::byte> bytes,
               const Deadline& deadline);

}  // namespace anynpu::collective
