// SPDX-License-Identifier: Apache-2.0
#include "service/finalize.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace anynpu::service {

namespace {

struct Finalizers {
  std::mutex mutex;
  std::vector<void (*)()> list;
};

Finalizers& finalizers() {
  static auto* all = new Finalizers;  // never destroyed: used until the process ends
  return *all;
}

}  // namespace

void on_finalize(void (*release)()) {
  Finalizers& all = finalizers();
  const std::lock_guard lock(all.mutex);
  if (std::find(all.list.begin(), all.list.end(), release) == all.list.end())
    all.list.push_back(release);
}

void run_finalizers() {
  Finalizers& all = finalizers();
  std::vector<void (*)()> list;
  {
    const std::lock_guard lock(all.mutex);
    list.assign(all.list.rbegin(), all.list.rend());
  }
  for (auto* release : list) release();
}

}  // namespace anynpu::service
