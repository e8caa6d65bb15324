// SPDX-License-Identifier: Apache-2.0
// Parameters of channel descriptions that programs set and get by number
// (aclvencSetChannelDescParam and similar), many also by their own functions: a table per
// description maps numbers to fields and their valid ranges.
#pragma once

#include <cstring>
#include <span>

#include "api/acl_dvpp/objects.h"

namespace anynpu::dvpp {

template <typename Desc>
struct Param {
  const char* name;
  void* (*at)(Desc&);
  size_t bytes;
  uint32_t least, most;  // of values with four bytes
  bool writable = true;
};

namespace detail {
template <typename Desc, typename Value>
Desc owner_of(Value Desc::*);
}

// The row of a table for one field.
template <auto field>
constexpr auto param(const char* name, uint32_t least = 0, uint32_t most = UINT32_MAX) {
  using Desc = decltype(detail::owner_of(field));
  return Param<Desc>{name, [](Desc& desc) -> void* { return &(desc.*field); },
                     sizeof(std::declval<Desc&>().*field), least, most};
}
template <auto field>
constexpr auto read_only(const char* name) {
  auto made = param<field>(name);
  made.writable = false;
  return made;
}

template <typename Desc>
Result<const Param<Desc>*> find_param(std::span<const Param<Desc>> table, int64_t number) {
  if (number >= 0 && number < static_cast<int64_t>(table.size())) return &table[number];
  return fail(Code::invalid_argument, "the parameter {} does not exist; expected one of 0 to {}",
              number, table.size() - 1);
}

template <typename Desc>
aclError set_param(const char* function, const void* handle, std::span<const Param<Desc>> table,
                   int64_t number, size_t length, const void* from) {
  return acl::enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<Desc>(acl::to_handle(handle)));
    ANYNPU_ASSIGN(const Param<Desc>* param, find_param<Desc>(table, number));
    if (!param->writable)
      return fail(Code::invalid_argument, "the {} can be read, not set", param->name);
    if (length != param->bytes)
      return fail(Code::invalid_argument, "the length is {}; the {} has {} bytes", length,
                  param->name, param->bytes);
    ANYNPU_TRY(acl::check_pointer(from, "param"));
    if (uint32_t value = 0; length == sizeof value) {
      std::memcpy(&value, from, sizeof value);
      if (value < param->least || value > param->most)
        return fail(Code::invalid_argument, "the {} is {}; expected {} to {}", param->name, value,
                    param->least, param->most);
    }
    std::memcpy(param->at(*pin), from, length);
    return {};
  });
}

template <typename Desc>
aclError get_param(const char* function, const void* handle, std::span<const Param<Desc>> table,
                   int64_t number, size_t length, size_t* written, void* to) {
  return acl::enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<Desc>(acl::to_handle(handle)));
    ANYNPU_ASSIGN(const Param<Desc>* param, find_param<Desc>(table, number));
    if (length < param->bytes)
      return fail(Code::invalid_argument, "the length is {}; the {} has {} bytes", length,
                  param->name, param->bytes);
    ANYNPU_TRY(acl::check_pointer(to, "param"));
    ANYNPU_TRY(acl::check_pointer(written, "paramRetSize"));
    std::memcpy(to, param->at(*pin), param->bytes);
    *written = param->bytes;
    return {};
  });
}

// The value of a row, for a function that returns it.
template <typename Desc, typename Value>
Value value_of(const char* function, const void* handle, const Param<Desc>& param) {
  return acl::enter_value(function, Value{}, [&]() -> Result<Value> {
    ANYNPU_ASSIGN(auto pin, resolve<Desc>(acl::to_handle(handle)));
    Value value{};
    std::memcpy(&value, param.at(*pin), sizeof value);
    return value;
  });
}

}  // namespace anynpu::dvpp

// The setter and the getter of one value of a description: row `number` of its table.
#define ANYNPU_API_VALUE(setter, getter, Handle, Desc, table, type, number)             \
  aclError setter(Handle* channelDesc, type value) {                                    \
    return set_param<Desc>(__func__, channelDesc, table, number, sizeof value, &value); \
  }                                                                                     \
  type getter(const Handle* channelDesc) {                                              \
    static_assert(std::size(table) > (number));                                         \
    return value_of<Desc, type>(__func__, channelDesc, (table)[number]);                \
  }

// The same of all values, by number.
#define ANYNPU_API_VALUES(setter, getter, Handle, Type, Desc, table)                              \
  aclError setter(Handle* channelDesc, Type paramType, size_t length, const void* param) {        \
    return set_param<Desc>(__func__, channelDesc, table, paramType, length, param);               \
  }                                                                                               \
  aclError getter(const Handle* channelDesc, Type paramType, size_t length, size_t* paramRetSize, \
                  void* param) {                                                                  \
    return get_param<Desc>(__func__, channelDesc, table, paramType, length, paramRetSize, param); \
  }
