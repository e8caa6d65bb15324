// SPDX-License-Identifier: Apache-2.0
#include "exec/kernel_arguments.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "device/range_map.h"
#include "npc/debug_info.h"
#include "npc/image.h"
#include "npc/module.h"

namespace anynpu::exec {

namespace {

constexpr size_t kAddressBytes = 8;

uint64_t number_in(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

void add_word(KernelLaunch& launch, uint64_t value) {
  launch.arguments.push_back({KernelArgument::Kind::word, static_cast<uint32_t>(value), 0});
}

std::shared_ptr<device::Allocation> memory_at(uint64_t address) {
  auto found = device::RangeMap::instance().find(address);
  return found && found->kind != device::MemoryKind::reserved ? found : nullptr;
}

// False when `value` is no address of memory that is known here.
bool add_address(KernelLaunch& launch, uint64_t value) {
  auto memory = memory_at(value);
  if (!memory) return false;
  auto* base = reinterpret_cast<std::byte*>(memory->base);
  auto& regions = launch.regions;
  const auto same = std::find_if(regions.begin(), regions.end(),
                                 [&](const KernelRegion& r) { return r.data == base; });
  const auto index = static_cast<uint32_t>(same - regions.begin());
  const auto offset = static_cast<uint32_t>(value - memory->base);
  if (same == regions.end()) {
    const size_t bytes = memory->bytes;
    regions.push_back({base, bytes, KernelRegion::Back::changed, std::move(memory)});
  }
  launch.arguments.push_back({KernelArgument::Kind::region, offset, index});
  return true;
}

// 32 bits, with or without sign.
bool fits_word(uint64_t value) {
  return value <= UINT32_MAX || value >= static_cast<uint64_t>(int64_t{INT32_MIN});
}

Status add_wide(KernelLaunch& launch, uint64_t value, std::string_view what) {
  if (add_address(launch, value)) return {};
  if (fits_word(value)) {
    add_word(launch, value);
    return {};
  }
  return fail(
      Code::invalid_argument,
      "{} is {:#x}: no address of device memory, and a number that does not fit the 32 bits "
      "of a kernel's parameter; pass memory of aclrtMalloc, or a smaller number",
      what, value);
}

// Reads one piece of arguments from its start to its end.
class PieceReader {
 public:
  PieceReader(KernelLaunch& launch, std::span<const std::byte> piece,
              std::span<const PlaceHolder> holders)
      : launch_(launch), piece_(piece), holders_(holders) {}

  Status check() {
    for (const PlaceHolder& holder : holders_) {
      if (holder.address_at % kAddressBytes != 0 || holder.data_at > piece_.size() ||
          holder.address_at + kAddressBytes > holder.data_at) {
        return fail(Code::invalid_argument,
                    "a place holder at byte {} points to byte {} of {}; expected a multiple of 8 "
                    "in front of its data, and data inside the arguments",
                    holder.address_at, holder.data_at, piece_.size());
      }
      end_ = std::min<size_t>(end_, holder.data_at);
    }
    if (!holders_.empty()) {
      launch_.copies.emplace_back(piece_.begin(), piece_.end());
    }
    return {};
  }

  // With the parameters that the kernel declares.
  Status read(const npc::DebugInfo::Function& function) {
    for (const npc::DebugInfo::Parameter& p : function.parameters) {
      const bool address = p.kind == npc::DebugInfo::Parameter::pointer;
      const size_t bytes = address ? kAddressBytes : p.bytes;
      const size_t at = bytes == 0 ? at_ : round_up(at_, bytes);
      if (bytes == 0 || bytes > kAddressBytes || at + bytes > end_) return wrong_size(function);
      at_ = at + bytes;
      if (take_holder(at)) continue;
      const uint64_t value = number_in(piece_.subspan(at, bytes));
      if (!address) {
        add_word(launch_, value);
      } else {
        ANYNPU_TRY(add_wide(launch_, value, format("parameter '{}'", p.name)));
      }
    }
    if (end_ - at_ >= kAddressBytes) return wrong_size(function);
    return {};
  }

  // Without: addresses are known when they are seen, everything else is taken as words.
  Status read() {
    while (at_ + 4 <= end_) {
      const bool wide = at_ % kAddressBytes == 0 && at_ + kAddressBytes <= end_;
      if (wide && take_holder(at_)) {
        at_ += kAddressBytes;
        continue;
      }
      const uint64_t both = wide ? number_in(piece_.subspan(at_, kAddressBytes)) : 0;
      if (wide && add_address(launch_, both)) {
        at_ += kAddressBytes;
        continue;
      }
      if (wide && both <= UINT32_MAX && at_ + kAddressBytes < end_) {
        return fail(Code::invalid_argument,
                    "bytes {} to {} of the arguments are {}: one of 8 bytes or two of 4; compile "
                    "the kernel with -g, or pass the arguments one by one (aclrtKernelArgsAppend)",
                    at_, at_ + kAddressBytes - 1, both);
      }
      add_word(launch_, number_in(piece_.subspan(at_, 4)));
      at_ += 4;
    }
    if (at_ == end_) return {};
    return fail(Code::invalid_argument,
                "the arguments have {} bytes; expected a multiple of 4: addresses have 8, numbers "
                "are filled up to 4",
                end_);
  }

 private:
  bool take_holder(size_t at) {
    const auto holder = std::find_if(holders_.begin(), holders_.end(),
                                     [&](const PlaceHolder& h) { return h.address_at == at; });
    if (holder == holders_.end()) return false;
    const auto copy = static_cast<uint32_t>(launch_.copies.size() - 1);
    launch_.arguments.push_back({KernelArgument::Kind::copy, holder->data_at, copy});
    return true;
  }

  Status wrong_size(const npc::DebugInfo::Function& function) const {
    std::string list;
    for (const npc::DebugInfo::Parameter& p : function.parameters) {
      const bool address = p.kind == npc::DebugInfo::Parameter::pointer;
      list += format("{}{} ({})", list.empty() ? "" : ", ", p.name,
                     address ? kAddressBytes : size_t{p.bytes});
    }
    return fail(Code::invalid_argument,
                "the arguments have {} bytes; kernel '{}' takes {}: addresses of 8 bytes, numbers "
                "of their own size at multiples of it",
                end_, function.name, list.empty() ? "none" : list);
  }

  KernelLaunch& launch_;
  std::span<const std::byte> piece_;
  std::span<const PlaceHolder> holders_;
  size_t at_ = 0, end_ = piece_.size();
};

}  // namespace

Status add_argument(KernelLaunch& launch, std::span<const std::byte> value) {
  switch (value.size()) {
    case 1:
    case 2:
    case 4:
      add_word(launch, number_in(value));
      return {};
    case kAddressBytes:
      return add_wide(launch, number_in(value), format("argument {}", launch.arguments.size()));
    default:
      add_copy(launch, value);
      return {};
  }
}

void add_copy(KernelLaunch& launch, std::span<const std::byte> data) {
  const auto index = static_cast<uint32_t>(launch.copies.size());
  launch.copies.emplace_back(data.begin(), data.end());
  launch.arguments.push_back({KernelArgument::Kind::copy, 0, index});
}

Status add_arguments(KernelLaunch& launch, const DeviceKernel& kernel,
                     std::span<const std::byte> piece, std::span<const PlaceHolder> holders) {
  PieceReader reader(launch, piece, holders);
  ANYNPU_TRY(reader.check());
  const npc::Image& image = kernel.module().image();
  const npc::DebugInfo::Function* function =
      image.debug_info().function(image.kernel_symbol(kernel.name()));
  if (function && !function->variadic) return reader.read(*function);
  return reader.read();
}

}  // namespace anynpu::exec
