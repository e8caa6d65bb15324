// SPDX-License-Identifier: Apache-2.0
// aclopAttr: the attributes of a single operator.
#include "acl/acl_op.h"
#include "api/acl/entry.h"
#include "device/memory.h"
#include "service/op/op_objects.h"

namespace anynpu::acl {

namespace {

using service::OpAttr;

constexpr int kMostValues = 1 << 24;  // of a list: what a description may hold is far below

template <typename Make>
aclError set_attr(const char* function, aclopAttr* attr, const char* name, Make&& make) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<OpAttr>(to_handle(attr)));
    ANYNPU_TRY(check_pointer(name, "attrName"));
    if (*name == '\0') {
      return fail(Code::invalid_argument, "attrName is empty; expected the name of an attribute");
    }
    Result<singleop::Attr> made = make();
    if (!made.ok()) return made.status();
    pin->values[name] = std::move(*made);
    return {};
  });
}

Status check_count(int count, const void* values) {
  if (count < 0 || count > kMostValues) {
    return fail(Code::invalid_argument, "numValues is {}; expected 0 to {}", count, kMostValues);
  }
  return count == 0 ? Status() : check_pointer(values, "values");
}

template <typename T, typename C>
Result<singleop::Attr> list_of(int count, const C* values) {
  ANYNPU_TRY(check_count(count, values));
  if (count > 0) {
    ANYNPU_TRY(device::check_host_range(values, sizeof(C) * static_cast<size_t>(count),
                                        device::Access::read, "values")
                   .status());
  }
  std::vector<T> list;
  for (int i = 0; i < count; ++i) list.push_back(static_cast<T>(values[i]));
  return singleop::Attr(std::move(list));
}

Result<DType> dtype_of(aclDataType type) {
  ANYNPU_TRY(check_dtype(type));
  return static_cast<DType>(type);
}

Result<singleop::Attr> read_lists(int count, const int* sizes, const int64_t* const* values) {
  ANYNPU_TRY(check_count(count, values));
  if (count > 0) ANYNPU_TRY(check_pointer(sizes, "numValues"));
  std::vector<std::vector<int64_t>> lists;
  for (int i = 0; i < count; ++i) {
    ANYNPU_TRY(check_count(sizes[i], values[i]));
    lists.emplace_back(values[i], values[i] + sizes[i]);
  }
  return singleop::Attr(std::move(lists));
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclopAttr* aclopCreateAttr(void) {
  return enter_value(__func__, static_cast<aclopAttr*>(nullptr), []() -> Result<aclopAttr*> {
    return insert_object<aclopAttr*>(std::make_shared<OpAttr>());
  });
}

void aclopDestroyAttr(const aclopAttr* attr) {
  (void)enter<When::before_init>(__func__, [&]() -> Status { return remove_object<OpAttr>(attr); });
}

aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue) {
  return set_attr(__func__, attr, attrName,
                  [&]() -> Result<singleop::Attr> { return singleop::Attr(attrValue != 0); });
}

aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue) {
  return set_attr(__func__, attr, attrName,
                  [&]() -> Result<singleop::Attr> { return singleop::Attr(attrValue); });
}

aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue) {
  return set_attr(__func__, attr, attrName,
                  [&]() -> Result<singleop::Attr> { return singleop::Attr(attrValue); });
}

aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue) {
  return set_attr(__func__, attr, attrName, [&]() -> Result<singleop::Attr> {
    ANYNPU_TRY(check_pointer(attrValue, "attrValue"));
    return singleop::Attr(std::string(attrValue));
  });
}

aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue) {
  return set_attr(__func__, attr, attrName, [&]() -> Result<singleop::Attr> {
    ANYNPU_ASSIGN(const DType type, dtype_of(attrValue));
    return singleop::Attr(type);
  });
}

aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues,
                              const uint8_t* values) {
  return set_attr(__func__, attr, attrName, [&] { return list_of<bool>(numValues, values); });
}

aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues,
                             const int64_t* values) {
  return set_attr(__func__, attr, attrName, [&] { return list_of<int64_t>(numValues, values); });
}

aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues,
                               const float* values) {
  return set_attr(__func__, attr, attrName, [&] { return list_of<float>(numValues, values); });
}

aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName, int numValues,
                                const char** values) {
  return set_attr(__func__, attr, attrName, [&]() -> Result<singleop::Attr> {
    ANYNPU_TRY(check_count(numValues, values));
    std::vector<std::string> list;
    for (int i = 0; i < numValues; ++i) {
      ANYNPU_TRY(check_pointer(values[i], "an item of values"));
      list.emplace_back(values[i]);
    }
    return singleop::Attr(std::move(list));
  });
}

aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues,
                                  const aclDataType values[]) {
  return set_attr(__func__, attr, attrName, [&]() -> Result<singleop::Attr> {
    ANYNPU_TRY(check_count(numValues, values));
    std::vector<DType> list;
    for (int i = 0; i < numValues; ++i) {
      ANYNPU_ASSIGN(const DType type, dtype_of(values[i]));
      list.push_back(type);
    }
    return singleop::Attr(std::move(list));
  });
}

aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists,
                                 const int* numValues, const int64_t* const values[]) {
  return set_attr(__func__, attr, attrName,
                  [&] { return read_lists(numLists, numValues, values); });
}

}  // extern "C"
