// SPDX-License-Identifier: Apache-2.0
#include "service/collective/communicators.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include "base/guarded_touch.h"
#include "collective/rank_table.h"
#include "collective/rendezvous.h"
#include "device/device.h"
#include "device/runtime.h"
#include "service/check_pointer.h"
#include "service/finalize.h"

namespace anynpu::service {

using collective::Communicator;
using collective::Exchange;

namespace {

// Handles in use, for finalising.
struct Handles {
  std::mutex mutex;
  std::set<Handle> all;
};
Handles& handles() {
  static auto* all = new Handles;
  return *all;
}

void release_all() {
  std::set<Handle> ended;
  {
    std::lock_guard lock(handles().mutex);
    ended.swap(handles().all);
  }
  for (const Handle handle : ended) HandleTable::instance().remove<Communicator>(handle);
  collective::Rendezvous::release_all();
}

Result<Handle> keep(std::shared_ptr<Communicator> made) {
  const Handle handle = HandleTable::instance().insert(std::move(made));
  if (!handle) {
    return fail(Code::out_of_handles, "no handle is free; destroy objects that are no longer used");
  }
  on_finalize(release_all);
  std::lock_guard lock(handles().mutex);
  handles().all.insert(handle);
  return handle;
}

Result<int32_t> current_device() {
  ANYNPU_ASSIGN(auto context, device::Runtime::instance().current());
  return context->device()->id();
}

Status check_name(const CommunicatorOptions& options) {
  if (options.name.size() < Communicator::kNameBytes) return {};
  return fail(Code::invalid_argument, "the name has {} characters; expected at most {}",
              options.name.size(), Communicator::kNameBytes - 1);
}

Status check_root_pointer(const void* info, bool written) {
  const bool good =
      info && (written ? can_write(const_cast<void*>(info), collective::kRootInfoBytes)
                       : can_read(info, collective::kRootInfoBytes));
  if (good) return {};
  return fail(Code::invalid_argument, "rootInfo is {}; expected the address of {} bytes", info,
              collective::kRootInfoBytes);
}

}  // namespace

Result<std::shared_ptr<Communicator>> find_communicator(Handle handle) {
  ANYNPU_ASSIGN(auto pin, resolve<Communicator>(handle));
  return pin->shared_from_this();
}

Result<Handle> find_communicator(std::string_view name, int32_t device) {
  std::lock_guard lock(handles().mutex);
  std::string known;
  for (const Handle handle : handles().all) {
    auto pin = resolve<Communicator>(handle);
    if (!pin.ok()) continue;
    if ((*pin)->name() == name && (*pin)->device() == device) return handle;
    known +=
        format("{}'{}' (device {})", known.empty() ? "" : ", ", (*pin)->name(), (*pin)->device());
  }
  return fail(Code::invalid_argument, "no communicator is called '{}' on device {}; there {}", name,
              device, known.empty() ? std::string("is none") : "are " + known);
}

Status get_root_info(void* info) {
  ANYNPU_TRY(check_root_pointer(info, true));
  on_finalize(release_all);
  return collective::make_root_info(
      collective::RootInfo(static_cast<std::byte*>(info), collective::kRootInfoBytes));
}

Result<Handle> init_by_root(uint32_t ranks, const void* info, uint32_t rank,
                            const CommunicatorOptions& options) {
  ANYNPU_TRY(check_root_pointer(info, false));
  ANYNPU_TRY(check_name(options));
  ANYNPU_ASSIGN(const int32_t device, current_device());
  const std::span<const std::byte, collective::kRootInfoBytes> bytes(
      static_cast<const std::byte*>(info), collective::kRootInfoBytes);
  ANYNPU_ASSIGN(auto exchange, collective::join_root(bytes, rank, ranks));
  ANYNPU_ASSIGN(auto made, Communicator::make(std::move(exchange), rank, ranks, device, options));
  return keep(std::move(made));
}

Status init_all(std::span<const int32_t> devices, Handle* out) {
  const auto ranks = static_cast<uint32_t>(devices.size());
  ANYNPU_TRY(collective::check_rank_numbers(0, ranks));
  for (size_t i = 0; i < devices.size(); ++i) {
    ANYNPU_TRY(device::Runtime::instance().device(devices[i]).status());
    if (std::find(devices.begin(), devices.begin() + static_cast<ptrdiff_t>(i), devices[i]) !=
        devices.begin() + static_cast<ptrdiff_t>(i)) {
      return fail(Code::invalid_argument, "device {} is listed twice; expected one rank a device",
                  devices[i]);
    }
  }
  ANYNPU_ASSIGN(auto rendezvous, collective::Rendezvous::create());
  const Deadline deadline = collective::connect_deadline();
  std::vector<std::shared_ptr<Communicator>> made;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    ANYNPU_ASSIGN(auto exchange, collective::RendezvousExchange::join(rendezvous, rank, ranks));
    ANYNPU_ASSIGN(auto one,
                  Communicator::publish(std::move(exchange), rank, ranks, devices[rank], {}));
    made.push_back(std::move(one));
  }
  for (auto& one : made) ANYNPU_TRY(one->connect(deadline));
  for (auto& one : made) ANYNPU_TRY(one->wait_connected(deadline));
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    ANYNPU_ASSIGN(out[rank], keep(std::move(made[rank])));
  }
  return {};
}

Result<Handle> init_by_table(const char* path, uint32_t rank, const CommunicatorOptions& options) {
  ANYNPU_TRY(check_pointer(path, "clusterInfo"));
  ANYNPU_TRY(check_name(options));
  ANYNPU_ASSIGN(const auto table, collective::RankTable::read(path));
  const auto ranks = static_cast<uint32_t>(table.ranks.size());
  ANYNPU_TRY(collective::check_rank_numbers(rank, ranks));
  ANYNPU_ASSIGN(const int32_t device, current_device());
  ANYNPU_ASSIGN(auto exchange, collective::join_table(table, rank));
  ANYNPU_ASSIGN(auto made, Communicator::make(std::move(exchange), rank, ranks, device, options));
  return keep(std::move(made));
}

Result<Handle> init_sub(Handle parent_handle, std::span<const uint32_t> ranks, uint64_t id,
                        uint32_t sub_rank, const CommunicatorOptions& options) {
  ANYNPU_ASSIGN(auto parent, find_communicator(parent_handle));
  ANYNPU_TRY(check_name(options));
  if (ranks.empty()) return Handle{0};
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] >= parent->size()) {
      return fail(Code::invalid_argument, "rankIds[{}] is {}; expected a rank below {}", i,
                  ranks[i], parent->size());
    }
    if (std::find(ranks.begin(), ranks.begin() + static_cast<ptrdiff_t>(i), ranks[i]) !=
        ranks.begin() + static_cast<ptrdiff_t>(i)) {
      return fail(Code::invalid_argument, "rank {} is listed twice in rankIds", ranks[i]);
    }
  }
  if (std::find(ranks.begin(), ranks.end(), parent->rank()) == ranks.end()) return Handle{0};
  if (sub_rank >= ranks.size() || ranks[sub_rank] != parent->rank()) {
    return fail(Code::invalid_argument,
                "subCommRankId is {}, but rankIds of {} ranks does not have this rank, {}, there",
                sub_rank, ranks.size(), parent->rank());
  }
  ANYNPU_ASSIGN(auto made, parent->make_sub(ranks, id, sub_rank, options));
  return keep(std::move(made));
}

Status destroy_communicator(Handle handle) {
  ANYNPU_TRY(find_communicator(handle).status());
  {
    std::lock_guard lock(handles().mutex);
    handles().all.erase(handle);
  }
  if (HandleTable::instance().remove<Communicator>(handle)) return {};
  return HandleTable::instance().explain(handle, HandleTag::communicator);
}

Status resume_communicator(Handle handle) {
  ANYNPU_ASSIGN(auto communicator, find_communicator(handle));
  return communicator->resume(collective::connect_deadline());
}

Status communicator_failure(Handle handle, Status* failure) {
  ANYNPU_ASSIGN(auto communicator, find_communicator(handle));
  *failure = communicator->failure();
  return {};
}

Status communicator_name(Handle handle, char* name) {
  ANYNPU_ASSIGN(auto communicator, find_communicator(handle));
  const std::string& text = communicator->name();
  if (!name || !can_write(name, text.size() + 1)) {
    return fail(Code::invalid_argument, "commName is {}; expected room for {} bytes",
                static_cast<const void*>(name), Communicator::kNameBytes);
  }
  std::memcpy(name, text.c_str(), text.size() + 1);
  return {};
}

}  // namespace anynpu::service
