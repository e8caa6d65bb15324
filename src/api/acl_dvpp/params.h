// SPDX-License-Identifier: Apache-2.0
// Parameters of channels that programs set and get by number (aclvencSetChannelDescParam and its
// kin): a table per channel says which field a number stands for and what fits in it.
#pragma once

#include <cstring>
#include <span>

#include "api/acl_dvpp/objects.h"
#include "device/runtime.h"

namespace anynpu::dvpp {

template <typename T>
struct Param {
  const char* name;
  uint32_t T::*field;  // null: the number is handled by hand, or cannot be set
  uint32_t least;
  uint32_t most;
};

inline Status check_length(size_t length, size_t expected) {
  if (length == expected) return {};
  return fail(Code::invalid_argument, "the length is {}; this parameter has {} bytes", length,
              expected);
}

// A value that a program passes by address.
template <typename V>
Status take_param(size_t length, const void* param, V* value) {
  ANYNPU_TRY(check_length(length, sizeof(V)));
  ANYNPU_TRY(acl::check_pointer(param, "param"));
  std::memcpy(value, param, sizeof(V));
  return {};
}

template <typename V>
Status give_param(const V& value, size_t length, size_t* written, void* param) {
  if (length < sizeof(V))
    return fail(Code::invalid_argument, "the length is {}; this parameter has {} bytes", length,
                sizeof(V));
  ANYNPU_TRY(acl::check_pointer(param, "param"));
  ANYNPU_TRY(acl::check_pointer(written, "paramRetSize"));
  std::memcpy(param, &value, sizeof(V));
  *written = sizeof(V);
  return {};
}

template <typename T>
Result<const Param<T>*> find_param(std::span<const Param<T>> table, int64_t number) {
  if (number >= 0 && number < static_cast<int64_t>(table.size()) && table[number].field != nullptr)
    return &table[number];
  return fail(Code::invalid_argument,
              "the parameter {} cannot be used here; expected one of 0 to {}", number,
              table.size() - 1);
}

template <typename T>
Status check_value(const Param<T>& param, uint32_t value) {
  if (value >= param.least && value <= param.most) return {};
  return fail(Code::invalid_argument, "the {} is {}; expected {} to {}", param.name, value,
              param.least, param.most);
}

template <typename T>
Status set_param(T& object, std::span<const Param<T>> table, int64_t number, size_t length,
                 const void* from) {
  ANYNPU_ASSIGN(const Param<T>* param, find_param<T>(table, number));
  uint32_t value = 0;
  ANYNPU_TRY(take_param(length, from, &value));
  ANYNPU_TRY(check_value(*param, value));
  object.*param->field = value;
  return {};
}

template <typename T>
Status get_param(const T& object, std::span<const Param<T>> table, int64_t number, size_t length,
                 size_t* written, void* to) {
  ANYNPU_ASSIGN(const Param<T>* param, find_param<T>(table, number));
  return give_param(object.*param->field, length, written, to);
}

// A setter of one field, with the same check as by number.
template <typename T>
aclError set_checked(const char* function, const void* handle, std::span<const Param<T>> table,
                     int64_t number, uint32_t value) {
  return acl::enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<T>(acl::to_handle(handle)));
    ANYNPU_ASSIGN(const Param<T>* param, find_param<T>(table, number));
    ANYNPU_TRY(check_value(*param, value));
    pin.get()->*param->field = value;
    return {};
  });
}

template <typename T, typename Value>
Value get_checked(const char* function, const void* handle, std::span<const Param<T>> table,
                  int64_t number) {
  return get<T, Value>(function, handle, table[number].field);
}

}  // namespace anynpu::dvpp

// The setter and the getter of one value of a channel's description: row `number` of its table.
#define ANYNPU_API_VALUE(setter, getter, Handle, Desc, table, type, number) \
  aclError setter(Handle* channelDesc, type value) {                        \
    return set_checked<Desc>(__func__, channelDesc, table, number, value);  \
  }                                                                         \
  type getter(const Handle* channelDesc) {                                  \
    return get_checked<Desc, type>(__func__, channelDesc, table, number);   \
  }

// The same of what is no number: threads, callbacks, memory.
#define ANYNPU_API_FIELD(setter, getter, Handle, Desc, type, field) \
  aclError setter(Handle* channelDesc, type value) {                \
    return set<Desc>(__func__, channelDesc, &Desc::field, value);   \
  }                                                                 \
  type getter(const Handle* channelDesc) {                          \
    return get<Desc, type>(__func__, channelDesc, &Desc::field);    \
  }
