// SPDX-License-Identifier: Apache-2.0
#include "npc/host/registered_image.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "base/memory_probe.h"

namespace anynpu::npc {

namespace {

struct Registered {
  std::mutex mutex;
  std::span<const std::byte> image;
  std::array<std::shared_ptr<HostModule>, kClusters> modules;
};

Registered& registered() {
  static Registered& one = *new Registered;
  return one;
}

template <typename T>
Result<T> read_at(const std::byte* from) {
  T value;
  if (!probe_readable(from, sizeof(T))) {
    return fail(Code::file_invalid, "the image ends before its {} bytes of headers", sizeof(T));
  }
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// An image is passed only by its address: its end is that of the last section or header.
Result<size_t> image_bytes(const std::byte* image) {
  ANYNPU_ASSIGN(const auto header, read_at<Elf32_Ehdr>(image));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS32 ||
      header.e_shentsize != sizeof(Elf32_Shdr)) {
    return fail(Code::file_invalid,
                "the image is no 32-bit ELF object; pass what stc-ld.lld wrote");
  }
  uint64_t end = uint64_t{header.e_shoff} + uint64_t{header.e_shnum} * sizeof(Elf32_Shdr);
  for (int i = 0; i < header.e_shnum; ++i) {
    ANYNPU_ASSIGN(const auto section,
                  read_at<Elf32_Shdr>(image + header.e_shoff + i * sizeof(Elf32_Shdr)));
    if (section.sh_type == SHT_NOBITS) continue;
    end = std::max(end, uint64_t{section.sh_offset} + section.sh_size);
  }
  if (!probe_readable(image, end)) {
    return fail(Code::file_invalid, "the image's headers speak of {} bytes, more than are there",
                end);
  }
  return static_cast<size_t>(end);
}

}  // namespace

Status register_image(const void* image) {
  if (!image) return fail(Code::file_not_found, "the image is null; pass the address of an object");
  const auto* start = static_cast<const std::byte*>(image);
  ANYNPU_ASSIGN(const size_t bytes, image_bytes(start));
  auto& one = registered();
  std::lock_guard lock(one.mutex);
  if (!one.image.empty()) {
    return fail(Code::already_exists, "an image is registered already; unregister it first");
  }
  one.image = {start, bytes};
  return {};
}

Status unregister_image() {
  auto& one = registered();
  std::lock_guard lock(one.mutex);
  if (one.image.empty()) return fail(Code::bad_call_order, "no image is registered");
  one.image = {};
  one.modules = {};
  return {};
}

Result<std::shared_ptr<HostModule>> registered_module(ClusterHost& host) {
  auto& one = registered();
  std::lock_guard lock(one.mutex);
  if (one.image.empty()) {
    return fail(Code::bad_call_order,
                "the launch names no module and no image is registered; load a module first");
  }
  auto& module = one.modules[host.cluster().id()];
  if (!module) {
    ANYNPU_ASSIGN(module, HostModule::load(host, one.image));
  }
  return module;
}

}  // namespace anynpu::npc
