// SPDX-License-Identifier: Apache-2.0
#include "npc/host/host.h"

#include "base/env.h"
#include "npc/host/device_choice.h"

namespace anynpu::npc {

namespace {

const std::vector<int>& clusters() {
  static const std::vector<int>& chosen =
      *new std::vector<int>(chosen_clusters(env::get(env::Name::stc_set_devices), kClusters));
  return chosen;
}

thread_local int current = 0;

}  // namespace

int device_count() { return static_cast<int>(clusters().size()); }

Status check_device(int number) {
  if (number >= 0 && number < device_count()) return {};
  if (device_count() == 0) {
    return fail(Code::no_context,
                "the process sees no NPC cluster, because STC_SET_DEVICES hides all of them; unset "
                "it, or name clusters 0 to {}",
                kClusters - 1);
  }
  return fail(Code::invalid_device, "device {} does not exist; expected 0 to {}", number,
              device_count() - 1);
}

Result<ClusterHost*> device(int number) {
  ANYNPU_TRY(check_device(number));
  return ClusterHost::get(clusters()[number]);
}

Status set_current_device(int number) {
  ANYNPU_TRY(check_device(number));
  current = number;
  return {};
}

int current_device_number() { return current; }

Result<ClusterHost*> current_device() { return device(current); }

}  // namespace anynpu::npc
