// SPDX-License-Identifier: Apache-2.0
// Applies RISC-V relocations to the contents of one section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/status.h"
#include "npc/elf.h"

namespace anynpu::npc {

struct RelocationTarget {
  std::span<std::byte> contents;
  uint32_t address = 0;  // where the section lies on the device
  // Address of a symbol (thread-local: offset from tp).
  std::function<uint32_t(uint32_t symbol)> value;
};

// What a relocation says about an address in code: its upper part in a lui, its distance from an
// auipc, the address itself as data or as a lower part, or (a call, a branch) nothing of it.
enum class RelocationUse : uint8_t { none, high_part, distance, address };
RelocationUse use_of(uint32_t type);

// Code unsupported_op (a link failure) for relocations that are unknown or do not reach.
Status relocate(const ElfFile& file, const ElfSection& relocations, const RelocationTarget& target);

// Data relocations only, ignoring all others: for the debug sections.
void relocate_debug(const ElfFile& file, const ElfSection& relocations,
                    const RelocationTarget& target);

}  // namespace anynpu::npc
