// SPDX-License-Identifier: Apache-2.0
// Products over pixels in the blocked layout (NCHW16c). They are bound by the epilogue, which moves
// accumulators to blocks of 16 bf16: two neighbouring pixels are rounded at a time, those of a
// block while the next one is multiplied. Included after multiply.h, in the same way.
#pragma once

#include "ops/amx/multiply.h"

namespace anynpu::ops::amx {
namespace {

template <typename Tiles>
class PixelRunner {
 public:
  explicit PixelRunner(const PixelProduct& p)
      : p_(p), low_(Floats{} + p.min), high_(Floats{} + p.max) {}

  void run() {
    Piece previous;
    int turn = 0;
    for (int64_t block = 0; block < p_.blocks; block += 2) {
      for (int64_t pixel = 0; pixel < p_.pixels; pixel += kPanel, turn ^= 1) {
        const Piece piece = {sums_[turn], block, pixel, p_.pixels - pixel, p_.blocks - block};
        multiply(piece, previous);
        previous = piece;
      }
    }
    round<0>(previous), round<1>(previous), round<2>(previous), round<3>(previous);
  }

 private:
  static constexpr int64_t kTile = kRows * kDepth, kSums = kRows * kRows;
  static constexpr int64_t kRowBytes = kDepth * 2, kSumBytes = kRows * 4;

  // 32 pixels of two blocks of channels, or the remainder. Accumulator tiles: row * 2 + column.
  struct Piece {
    float* sums = nullptr;
    int64_t block = 0, pixel = 0;
    int64_t pixels_left = 0, blocks_left = 0;  // none: there is no piece
  };

  // Multiplies `piece`, and rounds and stores the previous one.
  [[gnu::always_inline]] void multiply(const Piece& piece, const Piece& previous) {
    const BF16* a = p_.a + piece.pixel * kDepth;
    const BF16* b = p_.b + piece.block / 2 * p_.b_panel;
    tiles_.template zero<0>();
    tiles_.template zero<1>();
    tiles_.template zero<2>();
    tiles_.template zero<3>();
    if (p_.steps > 1 || piece.pixel == 0) {  // one step of the right side stays where it is
      tiles_.template load<6>(b, kRowBytes);
      tiles_.template load<7>(b + kTile, kRowBytes);
    }
    if (p_.steps > 1 || !previous.sums) load_left(a);
    tiles_.template add_product<0, 4, 6>();
    round<0>(previous);
    tiles_.template add_product<1, 4, 7>();
    round<1>(previous);
    tiles_.template add_product<2, 5, 6>();
    round<2>(previous);
    tiles_.template add_product<3, 5, 7>();
    round<3>(previous);
    for (int64_t step = 1; step < p_.steps; ++step) {
      a += p_.a_step, b += kStepElements;
      add_step<false>(tiles_, a, a + kTile, kRowBytes, b);
    }
    if (p_.steps == 1)  // of the next piece: it comes from the second-level cache
      load_left(p_.a + (piece.pixels_left > kPanel ? piece.pixel + kPanel : 0) * kDepth);
    tiles_.template store<0>(piece.sums, kSumBytes);
    tiles_.template store<1>(piece.sums + kSums, kSumBytes);
    tiles_.template store<2>(piece.sums + 2 * kSums, kSumBytes);
    tiles_.template store<3>(piece.sums + 3 * kSums, kSumBytes);
  }

  [[gnu::always_inline]] void load_left(const BF16* a) {
    tiles_.template load<4>(a, kRowBytes);
    tiles_.template load<5>(a + kTile, kRowBytes);
  }

  template <int tile>
  [[gnu::always_inline]] void round(const Piece& piece) const {
    constexpr int64_t column = tile % 2, first = tile / 2 * kRows;
    const int64_t pixels = piece.pixels_left - first;
    if (piece.blocks_left <= column || pixels <= 0) return;
    const float* const sums = piece.sums + tile * kSums;
    const Floats bias = load_floats(p_.bias + (piece.block + column) * kRows);
    const int64_t at = (piece.block + column) * p_.block_step + (piece.pixel + first) * kRows;
    const BF16* const residual = p_.residual ? p_.residual + at : nullptr;
    if (pixels < kRows) return round_some(sums, bias, residual, p_.out + at, pixels);
    if (residual) return round_all<true>(sums, bias, residual, p_.out + at);
    round_all<false>(sums, bias, residual, p_.out + at);
  }
  template <bool added>
  [[gnu::always_inline]] void round_all(const float* sums, const Floats& bias, const BF16* residual,
                                        BF16* out) const {
#pragma GCC unroll 8
    for (int64_t i = 0; i < kSums; i += 2 * kRows) {
      Floats first = load_floats(sums + i) + bias, second = load_floats(sums + i + kRows) + bias;
      if (added) first += widen_16(residual + i), second += widen_16(residual + i + kRows);
      Tiles::round_pair(first, second, low_, high_, out + i);
    }
  }
  [[gnu::noinline]] void round_some(const float* sums, const Floats& bias, const BF16* residual,
                                    BF16* out, int64_t pixels) const {
    alignas(64) BF16 added[kSums] = {}, all[kSums];
    const auto bytes = static_cast<size_t>(pixels * kRows) * sizeof(BF16);
    if (residual) std::memcpy(static_cast<void*>(added), residual, bytes);
    residual ? round_all<true>(sums, bias, added, all) : round_all<false>(sums, bias, added, all);
    std::memcpy(static_cast<void*>(out), all, bytes);
  }

  Tiles tiles_;
  const PixelProduct p_;
  const Floats low_, high_;
  alignas(64) float sums_[2][kBlockSums];
};

template <typename Tiles>
void multiply_pixels(const PixelProduct& product) {
  PixelRunner<Tiles>(product).run();
}

}  // namespace
}  // namespace anynpu::ops::amx
