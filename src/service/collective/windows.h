// SPDX-License-Identifier: Apache-2.0
// Memory that a program announces to a communicator: ranges of addresses, the parts of them that
// are mapped, and windows that peers may reach. Operations here reach all memory of the device
// anyway, so announcements are checked and remembered, nothing more. Thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "base/handle_table.h"

namespace anynpu::service {

Status set_memory_range(Handle communicator, void* base, size_t bytes);
Status unset_memory_range(Handle communicator, void* base);
// A part of a range that was set.
Status activate_memory(Handle communicator, void* address, size_t bytes);
Status deactivate_memory(Handle communicator, void* address);

// The result names the window.
Result<void*> register_window(Handle communicator, void* address, size_t bytes);
Status deregister_window(Handle communicator, void* window);
Status exchange_window(Handle communicator, void* window, const uint32_t* peers, uint32_t count);

// There are no network cards to switch to: only "no backup" is accepted.
Status set_working_cards(Handle communicator, const uint32_t* ranks, const bool* backup,
                         uint32_t count);

}  // namespace anynpu::service
