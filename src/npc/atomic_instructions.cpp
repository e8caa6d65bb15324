// SPDX-License-Identifier: Apache-2.0
// Atomics on memory that all cores of a cluster see, by atomics of the host. sc.w succeeds when the
// word still has the value that lr.w read.
#include "npc/core.h"
#include "npc/decode.h"
#include "npc/instructions.h"
#include "npc/kernel_watch.h"

namespace anynpu::npc {

namespace {

uint32_t* atomic_word(Core& core, uint32_t address, Permission permission) {
  if (address & 3) {
    core.trap_misaligned(address);
    return nullptr;
  }
  std::byte* at = core.unwatched_at(address, 4, permission);
  if (!at) core.trap_access(address, 4, permission & kWrite);
  if (at && core.watch) core.watch->atomic(core, address, permission & kWrite);
  return reinterpret_cast<uint32_t*>(at);
}

// What amomin, amomax and their unsigned forms leave in memory.
uint32_t chosen(Op op, uint32_t old, uint32_t value) {
  const bool is_signed = op == Op::amomin_w || op == Op::amomax_w;
  const bool below =
      is_signed ? static_cast<int32_t>(value) < static_cast<int32_t>(old) : value < old;
  const bool smallest = op == Op::amomin_w || op == Op::amominu_w;
  return below == smallest ? value : old;
}

uint32_t store_conditional(Core& core, uint32_t* word, uint32_t address, uint32_t value) {
  uint32_t expected = core.reserved_value;
  const bool stored = core.reserved_address == address &&
                      __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST,
                                                  __ATOMIC_SEQ_CST);
  core.reserved_address = 1;
  return stored ? 0 : 1;
}

}  // namespace

bool run_atomic(Core& core, const Decoded& d) {
  const uint32_t address = core.x[d.rs1];
  const uint32_t value = core.x[d.rs2];
  uint32_t* word = atomic_word(core, address, d.op == Op::lr_w ? kRead : kReadWrite);
  if (!word) return false;
  uint32_t old = 0;
  switch (d.op) {
    case Op::lr_w:
      old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
      core.reserved_address = address;
      core.reserved_value = old;
      break;
    case Op::sc_w:
      old = store_conditional(core, word, address, value);
      break;
    case Op::amoswap_w:
      old = __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
      break;
    case Op::amoadd_w:
      old = __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
      break;
    case Op::amoxor_w:
      old = __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST);
      break;
    case Op::amoand_w:
      old = __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);
      break;
    case Op::amoor_w:
      old = __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);
      break;
    default:
      old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
      while (!__atomic_compare_exchange_n(word, &old, chosen(d.op, old, value), false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      }
  }
  core.x[d.rd] = old;
  return true;
}

}  // namespace anynpu::npc
