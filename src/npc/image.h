// SPDX-License-Identifier: Apache-2.0
// A linked device program: section addresses, symbols, decoded code. Made by link(), read-only
// afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "npc/decode.h"
#include "npc/memory.h"

namespace anynpu::npc {

class DebugInfo;
class Translation;

struct Symbol {
  uint32_t address = 0;
  uint32_t bytes = 0;
  bool function = false;
  bool global = false;
  std::string name;
};

// Data that a launch restores before its cores start: shared, local and thread-local.
struct InitialData {
  uint32_t address = 0;         // of thread-local data: the offset from tp
  std::vector<std::byte> data;  // an all-zero piece has no data, only bytes
  uint32_t bytes = 0;
};

struct Image {
  Image() = default;
  ~Image();  // gives the global memory back
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  std::shared_ptr<Memory> memory;
  uint32_t base = 0;  // of the pages taken: code, read-only data, writable data
  uint32_t bytes = 0;
  uint32_t code_base = 0;
  uint32_t code_bytes = 0;
  std::vector<Decoded> code;      // one per half-word, see decode_all
  std::vector<uint64_t> weights;  // see weigh

  uint32_t constant_base = 0;  // read-only data
  uint32_t constant_bytes = 0;
  // For the translator: functions whose address is taken; instructions (offsets in the code) whose
  // immediate depends on `base`; whether anything else in the code depends on its address.
  std::set<uint32_t> address_taken;
  std::set<uint32_t> moving;
  bool fixed_place = false;
  mutable std::once_flag debug_once;
  mutable std::shared_ptr<const DebugInfo> debug;
  std::shared_ptr<const Translation> translation;  // null: all kernels are interpreted

  std::vector<InitialData> shared;
  std::vector<InitialData> local;
  std::vector<InitialData> thread;
  uint32_t thread_base = 0;  // in global memory: kCores blocks of thread_bytes
  uint32_t thread_bytes = 0;
  std::vector<uint32_t> constructors;  // functions to run once before the first launch, in order
  mutable bool constructed = false;    // changed while the cluster's launch lock is held

  std::vector<Symbol> symbols;  // sorted by address
  std::map<std::string, uint32_t, std::less<>> kernels;
  std::map<std::string, Symbol, std::less<>> variables;  // global ones in global memory
  // Parameters of kernels, from debug information. Read on first use.
  const DebugInfo& debug_info() const;
  std::vector<std::byte> object;          // the file, for line numbers
  std::vector<uint32_t> section_address;  // by section index; 0 when not loaded

  // The symbol of the function at `address`; null when there is none.
  const Symbol* function_at(uint32_t address) const;
  bool function_starts(uint32_t address) const;
  // The symbol's name of the kernel called `name` (find_kernel).
  std::string kernel_symbol(std::string_view name) const;
  // A word of read-only data; nothing when `address` is not there.
  std::optional<uint32_t> constant_word(uint32_t address) const;
  // The kernel called `name`: its C name, or the plain name of one C++ function. 0: none.
  uint32_t find_kernel(std::string_view name) const;
};

// Checks, places, relocates and decodes. Error codes as in cluster.h.
Result<std::unique_ptr<Image>> link(std::span<const std::byte> object,
                                    const std::shared_ptr<Memory>& memory);

}  // namespace anynpu::npc
