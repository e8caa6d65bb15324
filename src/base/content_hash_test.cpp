// SPDX-License-Identifier: Apache-2.0
#include "base/content_hash.h"

#include <gtest/gtest.h>

#include <vector>

namespace anynpu {
namespace {

std::vector<std::byte> counting(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

// Expected: hashlib.blake2b(bytes(i % 251 for i in range(n)), digest_size=32) of Python.
TEST(ContentHash, IsBlake2b) {
  const std::pair<size_t, const char*> rows[] = {
      {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
      {3, "3d8c3d594928271f44aad7a04b177154806867bcf918e1549c0bc16f9da2b09b"},
      {127, "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72"},
      {128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"},
      {129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"},
      {255, "d9ef0fc521b4266d16df662bec231bc2ec3989e7adeaf63169c295dc239dbbea"},
      {256, "582f782226018ec33076bd8d1c42413530ac7e1126260ffc0f306ba3befc3f24"},
      {1000, "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331"},
  };
  for (const auto& [count, expected] : rows)
    EXPECT_EQ(content_hash(counting(count)), expected) << count;
}

TEST(ContentHash, IsTheSameInPieces) {
  const std::vector<std::byte> all = counting(1000);
  for (const size_t piece : {1u, 7u, 64u, 128u, 130u}) {
    ContentHash hash;
    for (size_t at = 0; at < all.size(); at += piece)
      hash.add(std::span(all).subspan(at, std::min(piece, all.size() - at)));
    EXPECT_EQ(hash.finish(), content_hash(all)) << piece;
  }
}

}  // namespace
}  // namespace anynpu
