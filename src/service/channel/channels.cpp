// SPDX-License-Identifier: Apache-2.0
#include "service/channel/channels.h"

#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "device/buffer_queue.h"
#include "device/host_view.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "service/channel/tensor_set.h"
#include "service/check_pointer.h"
#include "service/new_handle.h"
#include "service/queue/queues.h"

namespace anynpu::service {

namespace {

using device::BufferQueues;
using device::QueueBuffer;

constexpr size_t kLeastCapacity = 2, kMostCapacity = 8192;
constexpr size_t kLongestName = 127;

// Names that are taken, of (device, name).
struct ChannelNames {
  std::mutex mutex;
  std::set<std::pair<uint32_t, std::string>> taken;
};

ChannelNames& names() {
  static auto* all = new ChannelNames;
  return *all;
}

using ChannelPin = HandleTable::Pin<DataChannel>;

Result<ChannelPin> open_channel(Handle handle) {
  ANYNPU_ASSIGN(auto found, resolve<DataChannel>(handle));
  const std::lock_guard lock(found->mutex);
  if (!found->stopped) return found;
  return fail(Code::bad_call_order, "channel '{}' was stopped; destroy it and create another",
              found->name);
}

Status stop(DataChannel& channel) {
  const std::lock_guard lock(channel.mutex);
  if (std::exchange(channel.stopped, true)) return {};
  (void)all_queues().destroy(channel.queue);  // gone already after finalising
  return {};
}

Status check_channel_name(const char* name) {
  ANYNPU_TRY(check_pointer(name, "name"));
  const size_t length = strnlen(name, kLongestName + 1);
  if (length >= 1 && length <= kLongestName) return {};
  return fail(Code::invalid_argument, "the name has {} bytes or more; expected 1 to {}", length,
              kLongestName);
}

// An item as it travels: the buffer has its data, its length and, in front, what describes it.
struct ItemHead {
  int32_t type, dtype;
  uint64_t pieces, piece, dims, bytes;
};

Result<std::shared_ptr<QueueBuffer>> packed(const TensorItem& item) {
  const ItemHead head{item.type, item.dtype, item.pieces, item.piece, item.dims.size(), item.bytes};
  const size_t front = sizeof head + item.dims.size() * sizeof(int64_t);
  ANYNPU_ASSIGN(auto buffer, QueueBuffer::create(front + item.bytes));
  std::memcpy(buffer->data.get(), &head, sizeof head);
  if (front > sizeof head) {
    std::memcpy(buffer->data.get() + sizeof head, item.dims.data(), front - sizeof head);
  }
  if (item.bytes == 0) return buffer;
  ANYNPU_ASSIGN(const auto range, device::check_range(item.data.get(), item.bytes,
                                                      device::Access::read, "the item's data"));
  ANYNPU_TRY(device::copy_bytes(buffer->data.get() + front, range.address, item.bytes));
  return buffer;
}

TensorItem unpacked(const QueueBuffer& buffer) {
  ItemHead head;
  std::memcpy(&head, buffer.data.get(), sizeof head);
  TensorItem item{head.type, head.dtype};
  item.dims.resize(head.dims);
  if (head.dims > 0) {
    std::memcpy(item.dims.data(), buffer.data.get() + sizeof head, head.dims * sizeof(int64_t));
  }
  item.pieces = head.pieces;
  item.piece = head.piece;
  item.bytes = head.bytes;
  const size_t front = sizeof head + head.dims * sizeof(int64_t);
  if (head.bytes > 0) item.data = {buffer.data, buffer.data.get() + front};
  return item;
}

// A set as it travels: an empty buffer with a chain of its items.
Result<std::shared_ptr<QueueBuffer>> packed(const std::vector<SharedItem>& items) {
  ANYNPU_ASSIGN(auto set, QueueBuffer::create(0));
  for (size_t i = 0; i < items.size(); ++i) {
    ANYNPU_ASSIGN(auto buffer, packed(*items[i]), "item {}", i);
    set->chain.push_back(std::move(buffer));
  }
  return set;
}

// A queue that disappears during a wait was stopped.
Status channel_status(const Status& status, const DataChannel& channel, Code late) {
  if (status.code() == Code::timeout) {
    return fail(late, "channel '{}' stayed {} for the time given", channel.name,
                late == Code::queue_full ? "full" : "empty");
  }
  if (status.code() != Code::not_found) return status;
  return fail(Code::bad_call_order, "channel '{}' was stopped during the call", channel.name);
}

}  // namespace

Result<Handle> create_channel(uint32_t device, const char* name, size_t capacity) {
  ANYNPU_TRY(device::Runtime::instance().device(static_cast<int32_t>(device)).status());
  ANYNPU_TRY(check_channel_name(name));
  if (capacity < kLeastCapacity || capacity > kMostCapacity) {
    return fail(Code::invalid_argument, "capacity is {}; expected {} to {}", capacity,
                kLeastCapacity, kMostCapacity);
  }
  {
    const std::lock_guard lock(names().mutex);
    if (!names().taken.emplace(device, name).second) {
      return fail(Code::already_exists,
                  "device {} has a channel '{}' already; destroy it, or use another name", device,
                  name);
    }
  }
  // Its end gives the name back.
  auto channel = std::make_shared<DataChannel>(device, name);
  ANYNPU_ASSIGN(channel->queue, all_queues().create({name, static_cast<uint32_t>(capacity)}));
  return new_handle(std::move(channel));
}

DataChannel::~DataChannel() {
  const std::lock_guard lock(names().mutex);
  names().taken.erase({device, name});
}

Status stop_channel(Handle handle) {
  ANYNPU_ASSIGN(auto found, resolve<DataChannel>(handle));
  return stop(*found);
}

Status destroy_channel(Handle handle) {
  const auto ended = HandleTable::instance().remove<DataChannel>(handle);
  if (!ended) return HandleTable::instance().explain(handle, HandleTag::data_channel);
  return stop(*ended);
}

Status clean_channel(Handle handle) {
  ANYNPU_ASSIGN(const auto channel, open_channel(handle));
  while (true) {
    const Status status = all_queues().pop(channel->queue, Deadline::after_ms(0)).status();
    if (status.code() == Code::timeout) return {};
    ANYNPU_TRY(channel_status(status, *channel, Code::queue_empty));
  }
}

Result<size_t> sets_in_channel(Handle handle) {
  ANYNPU_ASSIGN(const auto channel, open_channel(handle));
  return all_queues().length(channel->queue);
}

Status send_set(Handle handle, Handle set, int32_t timeout_ms) {
  ANYNPU_ASSIGN(const auto channel, open_channel(handle));
  ANYNPU_ASSIGN(const Deadline deadline, queue_deadline(timeout_ms));
  ANYNPU_ASSIGN(const auto items, items_of_set(set));
  ANYNPU_ASSIGN(const auto buffer, packed(items));
  return channel_status(all_queues().push(channel->queue, buffer, deadline), *channel,
                        Code::queue_full);
}

Status receive_set(Handle handle, Handle set, int32_t timeout_ms) {
  ANYNPU_ASSIGN(const auto channel, open_channel(handle));
  ANYNPU_ASSIGN(const Deadline deadline, queue_deadline(timeout_ms));
  ANYNPU_TRY(check_receiver(set));
  const auto taken = all_queues().pop(channel->queue, deadline);
  if (!taken.ok()) return channel_status(taken.status(), *channel, Code::queue_empty);
  std::vector<TensorItem> items;
  for (const auto& buffer : (*taken)->chain) items.push_back(unpacked(*buffer));
  return fill_set(set, channel->name, std::move(items));
}

}  // namespace anynpu::service
