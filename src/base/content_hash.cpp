// SPDX-License-Identifier: Apache-2.0
#include "base/content_hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/format.h"

namespace anynpu {

namespace {

constexpr uint64_t kStart[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
constexpr uint8_t kOrder[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

inline void mix(uint64_t* v, int a, int b, int c, int d, uint64_t x, uint64_t y) {
  v[a] += v[b] + x;
  v[d] = std::rotr(v[d] ^ v[a], 32);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 24);
  v[a] += v[b] + y;
  v[d] = std::rotr(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 63);
}

}  // namespace

void ContentHash::compress(const std::byte* block, bool last) {
  uint64_t words[16], v[16];
  std::memcpy(words, block, sizeof words);
  std::copy(state_.begin(), state_.end(), v);
  std::copy(std::begin(kStart), std::end(kStart), v + 8);
  v[12] ^= total_;
  if (last) v[14] = ~v[14];
  for (int round = 0; round < 12; ++round) {
    const uint8_t* s = kOrder[round % 10];
    mix(v, 0, 4, 8, 12, words[s[0]], words[s[1]]);
    mix(v, 1, 5, 9, 13, words[s[2]], words[s[3]]);
    mix(v, 2, 6, 10, 14, words[s[4]], words[s[5]]);
    mix(v, 3, 7, 11, 15, words[s[6]], words[s[7]]);
    mix(v, 0, 5, 10, 15, words[s[8]], words[s[9]]);
    mix(v, 1, 6, 11, 12, words[s[10]], words[s[11]]);
    mix(v, 2, 7, 8, 13, words[s[12]], words[s[13]]);
    mix(v, 3, 4, 9, 14, words[s[14]], words[s[15]]);
  }
  for (size_t i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
}

// The last block is compressed otherwise than the others: one is always held back.
void ContentHash::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (held_ == kBlock) {
      total_ += kBlock;
      compress(rest_.data(), false);
      held_ = 0;
    }
    while (held_ == 0 && bytes.size() > kBlock) {
      total_ += kBlock;
      compress(bytes.data(), false);
      bytes = bytes.subspan(kBlock);
    }
    const size_t part = std::min(kBlock - held_, bytes.size());
    std::memcpy(rest_.data() + held_, bytes.data(), part);
    held_ += part;
    bytes = bytes.subspan(part);
  }
}

std::string ContentHash::finish() {
  std::fill(rest_.begin() + static_cast<ptrdiff_t>(held_), rest_.end(), std::byte{0});
  total_ += held_;
  compress(rest_.data(), true);
  std::string out;
  for (size_t i = 0; i < 32; ++i)
    out += format("{:02x}", static_cast<unsigned>(state_[i / 8] >> (i % 8 * 8) & 0xff));
  return out;
}

std::string content_hash(std::span<const std::byte> bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.finish();
}

}  // namespace anynpu
