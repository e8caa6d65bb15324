// SPDX-License-Identifier: Apache-2.0
// Checks a pointer argument: not null, and readable or, if it is not const, writable memory.
// Handles and void pointers are only compared with null.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/guarded_touch.h"
#include "base/memory_probe.h"
#include "base/status.h"

namespace anynpu::service {

inline Status null_pointer(const char* name) {
  return fail(Code::invalid_argument, "{} is null; expected the address of a variable or text",
              name);
}

template <typename T>
Status check_pointer(T* pointer, const char* name) {
  if (!pointer) [[unlikely]]
    return null_pointer(name);
  if constexpr (std::is_object_v<T>) {
    if constexpr (requires { sizeof(T); }) {
      // Texts of C programs are not always const.
      constexpr bool reads = std::is_const_v<T> || std::is_same_v<T, char>;
      bool good;
      if constexpr (reads)
        good = can_read(pointer, sizeof(T));
      else
        good = can_write(pointer, sizeof(T));
      if (!good) [[unlikely]] {
        return fail(Code::invalid_argument,
                    "{} is {:#x}, where this process has no memory to {}; expected the address of "
                    "a variable or text",
                    name, reinterpret_cast<uintptr_t>(pointer), reads ? "read" : "write");
      }
    }
  }
  return {};
}

// The same for an argument that may be left out.
template <typename T>
Status check_optional(T* pointer, const char* name) {
  return pointer ? check_pointer(pointer, name) : Status();
}

// The same for a list of `count`.
template <typename T>
Status check_array(T* array, size_t count, const char* name) {
  ANYNPU_TRY(check_pointer(array, name));
  if (count <= 1 || (count <= SIZE_MAX / sizeof(T) && probe_readable(array, count * sizeof(T))))
    return {};
  return fail(Code::invalid_argument,
              "{} is {:#x}, where this process has no memory for {} entries; expected a list", name,
              reinterpret_cast<uintptr_t>(array), count);
}

}  // namespace anynpu::service
