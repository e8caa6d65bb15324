// SPDX-License-Identifier: Apache-2.0
// Structs that channels store as bytes for their getters.
#pragma once

#include <cstring>
#include <type_traits>

#include "service/media/record.h"

namespace anynpu::mpi {

template <typename T>
media::Record record_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  return {bytes, bytes + sizeof value};
}

// False when the program never wrote it.
template <typename T>
bool give_record(const media::Record& record, T* to) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (record.size() != sizeof *to) return false;
  std::memcpy(to, record.data(), sizeof *to);
  return true;
}

}  // namespace anynpu::mpi
