// SPDX-License-Identifier: Apache-2.0
#include "service/channel/tensor_set.h"

#include <algorithm>

#include "service/new_handle.h"

namespace anynpu::service {

namespace {

constexpr size_t kMostDims = 128;
constexpr size_t kMostItems = size_t{1} << 16;

template <typename Use>
Status with_set(Handle handle, Use use) {
  ANYNPU_ASSIGN(auto set, resolve<TensorSet>(handle));
  const std::lock_guard lock(set->mutex);
  return use(*set);
}

Status check_added(const TensorSet& set) {
  if (set.received || set.items.empty()) return {};
  return fail(Code::bad_call_order,
              "the dataset holds {} items that were added to it; receive into a new one",
              set.items.size());
}

}  // namespace

void TensorSet::drop_received() {
  if (!received) return;
  for (const RegisteredItem& entry : items)
    HandleTable::instance().remove<TensorItem>(entry.handle);
  items.clear();
}

Result<Handle> create_tensor_item(int32_t type, std::span<const int64_t> dims, int32_t dtype,
                                  void* data, size_t bytes) {
  if (type < TensorItem::kLeastType || type > TensorItem::kMostType) {
    return fail(Code::invalid_argument, "tdtType is {}; expected {} to {}", type,
                TensorItem::kLeastType, TensorItem::kMostType);
  }
  if (dims.size() > kMostDims) {
    return fail(Code::invalid_argument, "dimNum is {}; expected at most {}", dims.size(),
                kMostDims);
  }
  if (!data && bytes > 0) {
    return fail(Code::invalid_argument,
                "data is null, but size is {}; pass the address of so many bytes", bytes);
  }
  auto item = std::make_shared<TensorItem>();
  *item = {type, dtype, {dims.begin(), dims.end()}, {std::shared_ptr<void>(), data}, bytes};
  return new_handle(std::move(item));
}

Result<SharedItem> tensor_item(Handle handle) {
  ANYNPU_ASSIGN(auto item, resolve<TensorItem>(handle));
  return SharedItem(item.share());
}

Status copy_dims(Handle handle, std::span<int64_t> dims) {
  ANYNPU_ASSIGN(const SharedItem item, tensor_item(handle));
  if (item->dims.size() > dims.size()) {
    return fail(Code::invalid_argument, "dimNum is {}; the tensor has {} dimensions", dims.size(),
                item->dims.size());
  }
  std::copy(item->dims.begin(), item->dims.end(), dims.begin());
  return {};
}

Status add_tensor_item(Handle handle, Handle item_handle) {
  ANYNPU_ASSIGN(SharedItem item, tensor_item(item_handle));
  return with_set(handle, [&](TensorSet& set) -> Status {
    if (set.items.size() >= kMostItems) {
      return fail(Code::limit_exceeded, "the dataset has {} items, the most there can be",
                  set.items.size());
    }
    set.drop_received();
    set.received = false;
    set.items.push_back({item_handle, std::move(item)});
    return {};
  });
}

Result<Handle> item_of_set(Handle handle, size_t index) {
  Handle item = 0;
  ANYNPU_TRY(with_set(handle, [&](TensorSet& set) -> Status {
    if (index >= set.items.size()) {
      return fail(Code::invalid_argument, "index is {}; the dataset has {} items", index,
                  set.items.size());
    }
    item = set.items[index].handle;
    return {};
  }));
  return item;
}

Result<size_t> tensor_set_size(Handle handle) {
  ANYNPU_ASSIGN(const auto items, items_of_set(handle));
  return items.size();
}

Result<const char*> tensor_set_name(Handle handle) {
  ANYNPU_ASSIGN(auto set, resolve<TensorSet>(handle));
  const std::lock_guard lock(set->mutex);
  return set->name.c_str();
}

Result<std::vector<SharedItem>> items_of_set(Handle handle) {
  std::vector<SharedItem> items;
  ANYNPU_TRY(with_set(handle, [&](TensorSet& set) -> Status {
    for (const TensorSet::RegisteredItem& entry : set.items) items.push_back(entry.item);
    return {};
  }));
  return items;
}

Status check_receiver(Handle handle) { return with_set(handle, check_added); }

Status fill_set(Handle handle, std::string name, std::vector<TensorItem> items) {
  return with_set(handle, [&](TensorSet& set) -> Status {
    ANYNPU_TRY(check_added(set));
    set.drop_received();
    set.received = true;
    set.name = std::move(name);
    for (TensorItem& item : items) {
      auto shared = std::make_shared<TensorItem>(std::move(item));
      set.items.push_back({HandleTable::instance().insert(shared), shared});
    }
    return {};
  });
}

}  // namespace anynpu::service
