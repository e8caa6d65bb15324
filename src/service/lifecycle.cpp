// SPDX-License-Identifier: Apache-2.0
#include "service/lifecycle.h"

namespace anynpu::service {

namespace detail {
std::atomic<Life> current_life{Life::fresh};
}

namespace {

std::mutex& life_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

std::atomic<uint64_t> initialisations{0};

}  // namespace

uint64_t count_initialisation() { return ++initialisations; }

uint64_t drop_initialisation() {
  return initialisations > 0 ? --initialisations : initialisations.load();
}

void forget_initialisations() { initialisations = 0; }

LifeChange::LifeChange() : lock_(life_mutex()) {}

Status explain_uninitialised() {
  if (life() == Life::finalised) {
    return fail(
        Code::not_initialized,
        "the call came after aclFinalize; expected an initialised library: move aclFinalize to "
        "the end, or call aclInit again");
  }
  return fail(Code::not_initialized,
              "the call came before aclInit; expected an initialised library: call aclInit first");
}

}  // namespace anynpu::service
