// SPDX-License-Identifier: Apache-2.0
#include "api/acl/lifecycle.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace anynpu::acl {

namespace detail {
std::atomic<Life> current_life{Life::fresh};
}

namespace {

struct Finalizers {
  std::mutex mutex;
  std::vector<void (*)()> list;
};

Finalizers& finalizers() {
  static auto* f = new Finalizers;
  return *f;
}

}  // namespace

void on_finalize(void (*release)()) {
  Finalizers& f = finalizers();
  std::lock_guard lock(f.mutex);
  if (std::find(f.list.begin(), f.list.end(), release) == f.list.end()) f.list.push_back(release);
}

void run_finalizers() {
  Finalizers& f = finalizers();
  std::vector<void (*)()> list;
  {
    std::lock_guard lock(f.mutex);
    list.assign(f.list.rbegin(), f.list.rend());
  }
  for (auto* release : list) release();
}

}  // namespace anynpu::acl
