// SPDX-License-Identifier: Apache-2.0
// Checks that all calls for sharing with other processes have in common.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "api/acl/entry.h"
#include "base/shared_file.h"

namespace anynpu::acl {

constexpr size_t kKeyBytes = 65;  // the documented room for a key with its final 0

// Flags of an export: 0, or the bit that disables the check of process ids.
inline Result<SharedFile::Admit> check_share_flags(uint64_t flags, uint64_t disable_check) {
  if (flags == 0) return SharedFile::Admit::listed;
  if (flags == disable_check) return SharedFile::Admit::anyone;
  return fail(Code::invalid_argument,
              "flags is {}; expected 0, or {} to disable the check of process ids", flags,
              disable_check);
}

inline Result<std::span<const int32_t>> check_pids(const int32_t* pids, size_t count) {
  ANYNPU_TRY(check_pointer(pids, "pid"));
  if (count >= 1 && count <= SharedFile::kMostPids) return std::span<const int32_t>(pids, count);
  return fail(Code::invalid_argument, "the number of process ids is {}; expected 1 to {}", count,
              SharedFile::kMostPids);
}

inline Status check_key_room(const char* key, size_t length) {
  ANYNPU_TRY(check_pointer(key, "key"));
  if (length >= kKeyBytes) return {};
  return fail(Code::invalid_argument, "len is {}; a key needs room for {} bytes", length,
              kKeyBytes);
}

// A key that a program passed; no more than its documented length is read.
inline Result<std::string> check_key(const char* key) {
  ANYNPU_TRY(check_pointer(key, "key"));
  return std::string(key, strnlen(key, kKeyBytes));
}

}  // namespace anynpu::acl
