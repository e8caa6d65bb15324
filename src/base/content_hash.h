// SPDX-License-Identifier: Apache-2.0
// BLAKE2b (RFC 7693) with 32 bytes: names files by their content. Unlike with a checksum, nobody
// can construct two contents with the same hash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace anynpu {

class ContentHash {
 public:
  void add(std::span<const std::byte> bytes);
  // 64 hexadecimal digits; nothing can be added afterwards.
  std::string finish();

 private:
  static constexpr size_t kBlock = 128;
  void compress(const std::byte* block, bool last);

  // The initial state of 32 bytes without a key.
  std::array<uint64_t, 8> state_{0x6a09e667f2bdc928, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                 0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  std::array<std::byte, kBlock> rest_{};
  size_t held_ = 0;     // bytes of rest_
  uint64_t total_ = 0;  // bytes that were compressed
};

// The hash of one block of bytes.
std::string content_hash(std::span<const std::byte> bytes);

}  // namespace anynpu
