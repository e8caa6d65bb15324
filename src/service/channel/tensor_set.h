// SPDX-License-Identifier: Apache-2.0
// Sets of tensors for channels. An item describes a tensor and refers to memory of the program;
// received items have their own memory. A set is a list of items: it owns those that it received,
// the program destroys those that it added. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"

namespace anynpu::service {

struct TensorItem {
  static constexpr int32_t kLeastType = -1, kMostType = 4;  // undefined ... last piece of a tensor

  int32_t type = 0;   // tensor, end of sequence, ... as the interface numbers them
  int32_t dtype = 0;  // likewise
  std::vector<int64_t> dims{};
  std::shared_ptr<void> data{};  // without an owner: memory of the program
  size_t bytes = 0;
  size_t pieces = 1, piece = 0;  // of a large tensor that comes in pieces
};
using SharedItem = std::shared_ptr<const TensorItem>;

struct TensorSet {
  struct RegisteredItem {
    Handle handle;
    SharedItem item;
  };
  std::mutex mutex;  // guards what follows
  std::string name;
  std::vector<RegisteredItem> items;
  bool received = false;  // the items are the set's own

  void drop_received();  // the mutex is held
  ~TensorSet() { drop_received(); }
};

// Refers to `data`, which is read when the item is sent.
Result<Handle> create_tensor_item(int32_t type, std::span<const int64_t> dims, int32_t dtype,
                                  void* data, size_t bytes);
Result<SharedItem> tensor_item(Handle item);
// Fails when the tensor has more dimensions than `dims` has room for.
Status copy_dims(Handle item, std::span<int64_t> dims);

Status add_tensor_item(Handle set, Handle item);
// The handle of item `index`; it is the one that was added.
Result<Handle> item_of_set(Handle set, size_t index);
Result<size_t> tensor_set_size(Handle set);
// Valid as long as the set, up to the next receive; "" for one that received nothing.
Result<const char*> tensor_set_name(Handle set);

// For channels: what a set holds, and what it holds after a receive. A set with items that the
// program added receives nothing: bad_call_order.
Result<std::vector<SharedItem>> items_of_set(Handle set);
Status check_receiver(Handle set);
Status fill_set(Handle set, std::string name, std::vector<TensorItem> items);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::TensorItem, channel_item);
ANYNPU_HANDLE_TYPE(service::TensorSet, channel_dataset);
}  // namespace anynpu
