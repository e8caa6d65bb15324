// SPDX-License-Identifier: Apache-2.0
#include "npc/host/kernel_profile.h"

namespace anynpu::npc {

namespace {
constexpr const char* kStateNames[] = {"no context exists", "the context is new",
                                       "collection is on", "collection is off"};
}

KernelProfile& KernelProfile::instance() {
  static KernelProfile& profile = *new KernelProfile;
  return profile;
}

// The lock is held.
Status KernelProfile::move_on(State from, State other, State to, const char* what) {
  const State now = state_.load(std::memory_order_relaxed);
  if (now == from || now == other) {
    state_.store(to, std::memory_order_relaxed);
    return {};
  }
  return fail(Code::bad_call_order,
              "{}: {}; expected the order create (init), enable, disable, release", what,
              kStateNames[static_cast<int>(now)]);
}

Status KernelProfile::create() {
  std::lock_guard lock(mutex_);
  return move_on(State::none, State::none, State::created, "create");
}

Status KernelProfile::enable() {
  std::lock_guard lock(mutex_);
  ANYNPU_TRY(move_on(State::created, State::disabled, State::enabled, "enable"));
  launches_.clear();
  return {};
}

Status KernelProfile::disable() {
  std::lock_guard lock(mutex_);
  return move_on(State::enabled, State::enabled, State::disabled, "disable");
}

Status KernelProfile::release() {
  std::lock_guard lock(mutex_);
  ANYNPU_TRY(move_on(State::created, State::disabled, State::none, "release"));
  launches_.clear();
  given_.reset();
  return {};
}

void KernelProfile::release_any() {
  std::lock_guard lock(mutex_);
  state_.store(State::none, std::memory_order_relaxed);
  launches_.clear();
  given_.reset();
}

void KernelProfile::add(LaunchStats stats) {
  std::lock_guard lock(mutex_);
  if (state_.load(std::memory_order_relaxed) != State::none) launches_.push_back(std::move(stats));
}

Result<std::vector<LaunchStats>> KernelProfile::collected() const {
  std::lock_guard lock(mutex_);
  const State now = state_.load(std::memory_order_relaxed);
  if (now == State::enabled || now == State::disabled) return launches_;
  return fail(Code::bad_call_order, "get_perf_datas: {}; expected enable before it",
              kStateNames[static_cast<int>(now)]);
}

void KernelProfile::keep(std::shared_ptr<const void> given) {
  std::lock_guard lock(mutex_);
  given_ = std::move(given);
}

}  // namespace anynpu::npc
