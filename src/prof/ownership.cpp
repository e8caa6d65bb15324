// SPDX-License-Identifier: Apache-2.0
#include "prof/ownership.h"

#include <atomic>

namespace anynpu::prof {

namespace {
constinit std::atomic<Owner> g_owner{Owner::nobody};
}

const char* name_of(Owner owner) {
  constexpr const char* names[] = {"nobody", "the configuration of aclInit or msprof",
                                   "aclprofInit", "a model subscription", "anynpu.profiler"};
  return names[static_cast<int>(owner)];
}

Owner owner() { return g_owner.load(std::memory_order_acquire); }

bool claim(Owner who) {
  Owner expected = Owner::nobody;
  return g_owner.compare_exchange_strong(expected, who) || expected == who;
}

void release(Owner who) { g_owner.compare_exchange_strong(who, Owner::nobody); }

}  // namespace anynpu::prof
