// SPDX-License-Identifier: Apache-2.0
#include "npc/relocate.h"

#include <cstring>
#include <unordered_map>

namespace anynpu::npc {

namespace {

// Numbers of the RISC-V ELF psABI.
enum Relocation : uint32_t {
  kNoneRelocation = 0,
  kWord = 1,
  kBranch = 16,
  kJal = 17,
  kCall = 18,
  kCallPlt = 19,
  kPcrelHi20 = 23,
  kPcrelLo12I = 24,
  kPcrelLo12S = 25,
  kHi20 = 26,
  kLo12I = 27,
  kLo12S = 28,
  kTprelHi20 = 29,
  kTprelLo12I = 30,
  kTprelLo12S = 31,
  kTprelAdd = 32,
  kAdd8 = 33,
  kAdd16 = 34,
  kAdd32 = 35,
  kSub8 = 37,
  kSub16 = 38,
  kSub32 = 39,
  kAlign = 43,
  kRvcBranch = 44,
  kRvcJump = 45,
  kRelax = 51,
  kSub6 = 52,
  kSet6 = 53,
  kSet8 = 54,
  kSet16 = 55,
  kSet32 = 56,
  kWordPcrel = 57,
};

template <typename T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <typename T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

size_t width_of(uint32_t type) {
  switch (type) {
    case kNoneRelocation:
    case kRelax:
    case kAlign:
    case kTprelAdd:
      return 0;
    case kAdd8:
    case kSub8:
    case kSet8:
    case kSub6:
    case kSet6:
      return 1;
    case kAdd16:
    case kSub16:
    case kSet16:
    case kRvcBranch:
    case kRvcJump:
      return 2;
    case kCall:
    case kCallPlt:
      return 8;
    default:
      return 4;
  }
}

uint32_t high20(uint32_t value) { return (value + 0x800) & 0xfffff000u; }

void put_i(std::byte* at, uint32_t low) {
  put(at, (get<uint32_t>(at) & 0x000fffffu) | (low << 20));
}
void put_s(std::byte* at, uint32_t low) {
  put(at, (get<uint32_t>(at) & 0x01fff07fu) | (((low >> 5) & 127) << 25) | ((low & 31) << 7));
}
void put_u(std::byte* at, uint32_t value) { put(at, (get<uint32_t>(at) & 0xfffu) | high20(value)); }
void put_branch(std::byte* at, uint32_t v) {
  put(at, (get<uint32_t>(at) & 0x01fff07fu) | (((v >> 12) & 1) << 31) | (((v >> 5) & 63) << 25) |
              (((v >> 1) & 15) << 8) | (((v >> 11) & 1) << 7));
}
void put_jal(std::byte* at, uint32_t v) {
  put(at, (get<uint32_t>(at) & 0xfffu) | (((v >> 20) & 1) << 31) | (((v >> 1) & 1023) << 21) |
              (((v >> 11) & 1) << 20) | (((v >> 12) & 255) << 12));
}
void put_rvc_branch(std::byte* at, uint32_t v) {
  const uint32_t bits = (((v >> 8) & 1) << 12) | (((v >> 3) & 3) << 10) | (((v >> 6) & 3) << 5) |
                        (((v >> 1) & 3) << 3) | (((v >> 5) & 1) << 2);
  put(at, static_cast<uint16_t>((get<uint16_t>(at) & 0xe383u) | bits));
}
void put_rvc_jump(std::byte* at, uint32_t v) {
  const uint32_t bits = (((v >> 11) & 1) << 12) | (((v >> 4) & 1) << 11) | (((v >> 8) & 3) << 9) |
                        (((v >> 10) & 1) << 8) | (((v >> 6) & 1) << 7) | (((v >> 7) & 1) << 6) |
                        (((v >> 1) & 7) << 3) | (((v >> 5) & 1) << 2);
  put(at, static_cast<uint16_t>((get<uint16_t>(at) & 0xe003u) | bits));
}

bool reaches(uint32_t distance, int bits) {
  const auto value = static_cast<int32_t>(distance);
  return (value >> (bits - 1)) == 0 || (value >> (bits - 1)) == -1;
}

Status too_far(const ElfFile& file, const ElfRelocation& r) {
  return fail(Code::unsupported_op,
              "link: the jump to '{}' does not reach; compile the parts of the program into fewer "
              "and smaller objects",
              file.symbols[r.symbol].name);
}

// Data of 1, 2 and 4 bytes. False when the type is none of these.
bool relocate_data(std::byte* at, uint32_t type, uint32_t value, uint32_t here) {
  switch (type) {
    case kWord:
    case kSet32:
      put(at, value);
      return true;
    case kWordPcrel:
      put(at, value - here);
      return true;
    case kAdd8:
      put(at, static_cast<uint8_t>(get<uint8_t>(at) + value));
      return true;
    case kAdd16:
      put(at, static_cast<uint16_t>(get<uint16_t>(at) + value));
      return true;
    case kAdd32:
      put(at, get<uint32_t>(at) + value);
      return true;
    case kSub8:
      put(at, static_cast<uint8_t>(get<uint8_t>(at) - value));
      return true;
    case kSub16:
      put(at, static_cast<uint16_t>(get<uint16_t>(at) - value));
      return true;
    case kSub32:
      put(at, get<uint32_t>(at) - value);
      return true;
    case kSet8:
      put(at, static_cast<uint8_t>(value));
      return true;
    case kSet16:
      put(at, static_cast<uint16_t>(value));
      return true;
    case kSet6:
      put(at, static_cast<uint8_t>((get<uint8_t>(at) & 0xc0) | (value & 0x3f)));
      return true;
    case kSub6: {
      const auto old = get<uint8_t>(at);
      put(at, static_cast<uint8_t>((old & 0xc0) | ((old - value) & 0x3f)));
      return true;
    }
    default:
      return false;
  }
}

using PcrelHigh = std::unordered_map<uint32_t, uint32_t>;  // address of the auipc, full distance

Status relocate_code(const ElfFile& file, const ElfRelocation& r, std::byte* at, uint32_t value,
                     uint32_t here, const PcrelHigh& high) {
  const uint32_t distance = value - here;
  switch (r.type) {
    case kBranch:
      if (!reaches(distance, 13)) return too_far(file, r);
      put_branch(at, distance);
      return {};
    case kJal:
      if (!reaches(distance, 21)) return too_far(file, r);
      put_jal(at, distance);
      return {};
    case kRvcBranch:
      if (!reaches(distance, 9)) return too_far(file, r);
      put_rvc_branch(at, distance);
      return {};
    case kRvcJump:
      if (!reaches(distance, 12)) return too_far(file, r);
      put_rvc_jump(at, distance);
      return {};
    case kCall:
    case kCallPlt:
      put_u(at, distance);
      put_i(at + 4, distance);
      return {};
    case kPcrelHi20:
      put_u(at, distance);
      return {};
    case kHi20:
    case kTprelHi20:
      put_u(at, value);
      return {};
    case kLo12I:
    case kTprelLo12I:
      put_i(at, value);
      return {};
    case kLo12S:
    case kTprelLo12S:
      put_s(at, value);
      return {};
    case kPcrelLo12I:
    case kPcrelLo12S: {
      // The symbol marks the auipc whose distance this is the rest of; the addend is not used.
      const auto found = high.find(value - static_cast<uint32_t>(r.addend));
      if (found == high.end()) {
        return fail(Code::unsupported_op,
                    "link: a pc-relative low part at {:#x} has no high part; recompile the object",
                    here);
      }
      r.type == kPcrelLo12I ? put_i(at, found->second) : put_s(at, found->second);
      return {};
    }
    default:
      return fail(Code::unsupported_op,
                  "link: relocation type {} against '{}' is not supported; compile with stc-clang "
                  "without -fPIC",
                  r.type, file.symbols[r.symbol].name);
  }
}

}  // namespace

RelocationUse use_of(uint32_t type) {
  switch (type) {
    case kHi20:
      return RelocationUse::high_part;
    case kPcrelHi20:
      return RelocationUse::distance;
    case kWord:
    case kLo12I:
    case kLo12S:
      return RelocationUse::address;
    default:
      return RelocationUse::none;
  }
}

Status relocate(const ElfFile& file, const ElfSection& relocations,
                const RelocationTarget& target) {
  const auto list = file.relocations(relocations);
  PcrelHigh high;
  for (const ElfRelocation& r : list) {
    if (r.type == kPcrelHi20) {
      const uint32_t here = target.address + r.offset;
      high[here] = target.value(r.symbol) + static_cast<uint32_t>(r.addend) - here;
    }
  }
  for (const ElfRelocation& r : list) {
    const size_t width = width_of(r.type);
    if (width == 0) continue;
    if (r.offset > target.contents.size() || width > target.contents.size() - r.offset) {
      return fail(
          Code::file_invalid,
          "device image: a relocation at {} runs over the end of its section of {} bytes; load "
          "what stc-ld.lld -r wrote",
          r.offset, target.contents.size());
    }
    std::byte* at = target.contents.data() + r.offset;
    const uint32_t value = target.value(r.symbol) + static_cast<uint32_t>(r.addend);
    const uint32_t here = target.address + r.offset;
    if (relocate_data(at, r.type, value, here)) continue;
    ANYNPU_TRY(relocate_code(file, r, at, value, here, high));
  }
  return {};
}

void relocate_debug(const ElfFile& file, const ElfSection& relocations,
                    const RelocationTarget& target) {
  for (const ElfRelocation& r : file.relocations(relocations)) {
    const size_t width = width_of(r.type);
    if (width == 0 || width > 4 || r.offset > target.contents.size() ||
        width > target.contents.size() - r.offset) {
      continue;
    }
    relocate_data(target.contents.data() + r.offset, r.type,
                  target.value(r.symbol) + static_cast<uint32_t>(r.addend),
                  target.address + r.offset);
  }
}

}  // namespace anynpu::npc
