// SPDX-License-Identifier: Apache-2.0
// Encoder settings that are stored but have no effect here (venc_idle.def): if a program sets one,
// the log says so, and docs/media.md names them.
#pragma once

#include <string>

#include "acl/dvpp/hi_dvpp.h"

namespace anynpu::mpi {

class IdleSettings {
 public:
  // All fields of `group` and of nested structs that are set and have no effect. Of a union only
  // the active member is checked; `rate_mode` selects that of hi_venc_rc_param.
  template <typename Group>
  static std::string names_in(const Group& group, int32_t rate_mode = 0) {
    IdleSettings found;
    found.rate_mode_ = rate_mode;
    found.look_into(group);
    return found.names_;
  }

 private:
  void add(const char* name, bool set) {
    if (set) names_ += (names_.empty() ? "" : ", ") + std::string(name);
  }
  template <typename Value>
  static bool is_set(const Value& value) {
    return value != Value{};
  }
  template <typename Value, size_t n>
  static bool is_set(const Value (&values)[n]) {
    for (const Value& value : values)
      if (is_set(value)) return true;
    return false;
  }

  int32_t selected_in(const hi_venc_attr& group) const { return group.type; }
  int32_t selected_in(const hi_venc_rc_attr& group) const { return group.rc_mode; }
  int32_t selected_in(const hi_venc_gop_attr& group) const { return group.gop_mode; }
  int32_t selected_in(const hi_venc_mod_param& group) const { return group.mod_type; }
  int32_t selected_in(const hi_venc_rc_param&) const { return rate_mode_; }

  template <typename Group>
  void look_into([[maybe_unused]] const Group& group) {
#define IDLE(field) \
  if constexpr (requires { group.field; }) add(#field, is_set(group.field));
#define INSIDE(member) \
  if constexpr (requires { group.member; }) look_into(group.member);
#define MEMBER(member, number)                                   \
  if constexpr (requires { group.member; }) {                    \
    if (selected_in(group) == (number)) look_into(group.member); \
  }
#include "api/acl_dvpp_mpi/venc_idle.def"
#undef IDLE
#undef INSIDE
#undef MEMBER
  }

  std::string names_;
  int32_t rate_mode_ = 0;
};

}  // namespace anynpu::mpi
