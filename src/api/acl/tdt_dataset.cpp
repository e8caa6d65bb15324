// SPDX-License-Identifier: Apache-2.0
// Tensors that go through channels, and sets of them (acl_tdt.h).
#include "acl/acl_tdt.h"
#include "api/acl/object_calls.h"
#include "service/channel/tensor_set.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::enter_value;
using acl::to_handle;
using service::TensorItem;

namespace {

// A field of an item; `failed` when there is none.
template <typename T, typename Read>
T read_item(const char* function, const acltdtDataItem* item, T failed, Read read) {
  return enter_value(function, failed, [&]() -> Result<T> {
    ANYNPU_ASSIGN(const auto found, service::tensor_item(to_handle(item)));
    return static_cast<T>(read(*found));
  });
}

Result<std::span<const int64_t>> check_dims(const int64_t* dims, size_t count) {
  if (count > 0) ANYNPU_TRY(check_pointer(dims, "dims"));
  return std::span(dims, count);
}

}  // namespace

extern "C" {

acltdtDataItem* acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t* dims, size_t dimNum,
                                     aclDataType dataType, void* data, size_t size) {
  using Item = acltdtDataItem*;
  return enter_value(__func__, Item{}, [&]() -> Result<Item> {
    ANYNPU_ASSIGN(const auto checked, check_dims(dims, dimNum));
    ANYNPU_ASSIGN(const Handle item,
                  service::create_tensor_item(tdtType, checked, dataType, data, size));
    return acl::from_handle<Item>(item);
  });
}

aclError acltdtDestroyDataItem(acltdtDataItem* dataItem) {
  return acl::destroy<TensorItem>(__func__, dataItem);
}

acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem* dataItem) {
  return read_item(__func__, dataItem, ACL_TENSOR_DATA_UNDEFINED,
                   [](const TensorItem& item) { return item.type; });
}

aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem* dataItem) {
  return read_item(__func__, dataItem, ACL_DT_UNDEFINED,
                   [](const TensorItem& item) { return item.dtype; });
}

void* acltdtGetDataAddrFromItem(const acltdtDataItem* dataItem) {
  return read_item(__func__, dataItem, static_cast<void*>(nullptr),
                   [](const TensorItem& item) { return item.data.get(); });
}

size_t acltdtGetDataSizeFromItem(const acltdtDataItem* dataItem) {
  return read_item(__func__, dataItem, size_t{0},
                   [](const TensorItem& item) { return item.bytes; });
}

size_t acltdtGetDimNumFromItem(const acltdtDataItem* dataItem) {
  return read_item(__func__, dataItem, size_t{0},
                   [](const TensorItem& item) { return item.dims.size(); });
}

aclError acltdtGetDimsFromItem(const acltdtDataItem* dataItem, int64_t* dims, size_t dimNum) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_dims(dims, dimNum).status());
    return service::copy_dims(to_handle(dataItem), {dims, dimNum});
  });
}

aclError acltdtGetSliceInfoFromItem(const acltdtDataItem* dataItem, size_t* sliceNum,
                                    size_t* sliceId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(sliceNum, "sliceNum"));
    ANYNPU_TRY(check_pointer(sliceId, "sliceId"));
    ANYNPU_ASSIGN(const auto item, service::tensor_item(to_handle(dataItem)));
    *sliceNum = item->pieces;
    *sliceId = item->piece;
    return {};
  });
}

acltdtDataset* acltdtCreateDataset(void) {
  return acl::create<acltdtDataset*, service::TensorSet>(__func__);
}

aclError acltdtDestroyDataset(acltdtDataset* dataset) {
  return acl::destroy<service::TensorSet>(__func__, dataset);
}

aclError acltdtAddDataItem(acltdtDataset* dataset, acltdtDataItem* dataItem) {
  return enter(__func__,
               [&] { return service::add_tensor_item(to_handle(dataset), to_handle(dataItem)); });
}

acltdtDataItem* acltdtGetDataItem(const acltdtDataset* dataset, size_t index) {
  using Item = acltdtDataItem*;
  return enter_value(__func__, Item{}, [&]() -> Result<Item> {
    ANYNPU_ASSIGN(const Handle item, service::item_of_set(to_handle(dataset), index));
    return acl::from_handle<Item>(item);
  });
}

size_t acltdtGetDatasetSize(const acltdtDataset* dataset) {
  return enter_value(__func__, size_t{0},
                     [&] { return service::tensor_set_size(to_handle(dataset)); });
}

const char* acltdtGetDatasetName(const acltdtDataset* dataset) {
  return enter_value(__func__, static_cast<const char*>(nullptr),
                     [&] { return service::tensor_set_name(to_handle(dataset)); });
}

}  // extern "C"
