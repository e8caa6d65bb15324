// SPDX-License-Identifier: Apache-2.0
// Host memory that a queued copy will write is protected until the program has waited for the copy.
// The copy goes to our own shadow memory; the pages of its target are protected, and get the bytes
// when the host has waited. A plain load or store before that faults and is reported with its
// source line. Only whole pages are protected, so that neighbours are not affected; memory of
// aclrtMallocHost gets pages of its own, so that small blocks are protected too.
//
// pinned (the usual mode): memory of aclrtMallocHost; the program continues with the new bytes.
// all (--guard): all host memory; the program continues with the old bytes, as on a card.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anynpu::check {

class Call;

enum class GuardMode : uint8_t { none, pinned, all };
void set_guard_mode(GuardMode mode);
bool may_guard();
// The shadow memory for a copy to [target, target + bytes) that is queued on `stream`; null when it
// is not guarded.
void* guard_target(void* target, size_t bytes, uint64_t stream);
// The copy was queued as the last task of `stream`; or it was not (`queued` false).
void guard_queued(void* shadow, uint64_t stream, bool queued);
// Ends guards whose copies the host has waited for; the bytes are copied to the target.
void settle_guards();
// Waits for guarded copies to the memory arguments of the call.
void lift_guards(Call& call);
void lift_guards_at(uint64_t address, uint64_t bytes);
// At the end of the program.
void drop_guards();

}  // namespace anynpu::check
