// SPDX-License-Identifier: Apache-2.0
// Labels: positions in the lanes of built instances that a task can jump to, and lists of them.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/context.h"

namespace anynpu::service {

class Instance;

struct Label {
  static constexpr size_t kMost = 65535;

  std::weak_ptr<device::Context> context;
  bool set = false;
  std::weak_ptr<Instance> instance;  // that it was set in
  uint32_t lane = 0, at = 0;         // where, once the instance is built
};
struct LabelList {
  std::vector<std::shared_ptr<Label>> labels;
};

Result<Handle> create_label();
Status destroy_label(Handle handle);
// One to 65535 labels.
Result<Handle> create_label_list(std::span<const Handle> labels);
Status destroy_label_list(Handle handle);

// Sets the label at this position of a bound stream, once per label.
Status set_label(Handle label, Handle stream);
// A task that jumps to the label whose index (32 bits) is in device memory; to the last one for
// indices beyond `count`, the length of the list.
Status switch_label(const void* index, uint32_t count, Handle list, Handle stream);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::Label, label);
ANYNPU_HANDLE_TYPE(service::LabelList, label_list);
}  // namespace anynpu
