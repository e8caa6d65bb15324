// SPDX-License-Identifier: Apache-2.0
// What stands in front of multi-head latent attention (DeepSeek): tokens become queries, in latent
// space and rotated, and a row of the caches of latent keys and of rotated keys. In float16 and
// bfloat16; the forms with integers are refused. Formulas: the published model; pairs become halves
// before they turn.
#include <algorithm>

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kInside = DType::f32;

Value product(Recipe& r, Value a, Value b) { return r.op("MatMul", {a, b}); }
Value wide(Recipe& r, Param name) { return r.cast(r.in(name), kInside); }

Value rms_normalised(Recipe& r, Value x, Param gamma, Param epsilon) {
  const auto last = static_cast<int64_t>(r.shape(x).size()) - 1;
  const Value mean =
      r.op("ReduceMean", {r.op("Mul", {x, x}), r.constant({last})}, {{"keepdims", 1}});
  const Value root = r.op("Sqrt", {r.op("Add", {mean, r.number(epsilon, kInside)})});
  return r.op("Mul", {r.op("Div", {x, root}), wide(r, gamma)});
}

// x: tokens x heads x width; angles of tokens.
Value rotated(Recipe& r, Value x, int64_t tokens) {
  const Shape s = r.shape(x);
  const int64_t half = s[2] / 2;
  if (s[2] % 2 != 0) refuse("{} elements turn; expected an even number", s[2]);
  const Value pairs = r.transpose(r.reshape(x, {s[0], s[1], half, 2}), {0, 1, 3, 2});
  const Value first = r.reshape(r.slice(pairs, 2, 0, 1), {s[0], s[1], half});
  const Value second = r.reshape(r.slice(pairs, 2, 1, 2), {s[0], s[1], half});
  const auto beside = [&](Value a, Value b) { return r.op("Concat", {a, b}, {{"axis", 2}}); };
  const auto angle = [&](const char* name) { return r.reshape(wide(r, name), {tokens, 1, s[2]}); };
  return r.op("Add", {r.op("Mul", {beside(first, second), angle("ropeCos")}),
                      r.op("Mul", {beside(r.op("Neg", {second}), first), angle("ropeSin")})});
}

// Rows of a cache in blocks, at the places of tokens; -1: of none.
void write_rows(Recipe& r, const char* cache, Value rows, Value places) {
  const Shape s = r.shape(cache);
  if (s.size() != 4 || s[2] != 1 || s[3] != r.extent(rows, 1)) {
    refuse("{} is {}; expected blocks x size x 1 x {}", cache, to_string(s), r.extent(rows, 1));
  }
  const int64_t all = s[0] * s[1], tokens = r.extent(rows, 0);
  const Value old = r.reshape(r.in(cache), {all, s[3]});
  // Tokens without a place write a row behind the last.
  const Value none = r.op("Less", {places, r.constant(DType::i64, 0)});
  const Value at = r.op("Where", {none, r.constant(DType::i64, static_cast<double>(all)), places});
  const Value more = r.op("Concat", {old, r.filled(r.dtype(old), {1, s[3]}, 0)}, {{"axis", 0}});
  const Value made =
      r.op("ScatterND", {more, r.reshape(at, {tokens, 1}), r.cast(rows, r.dtype(old))});
  r.out(cache, r.reshape(r.slice(made, 0, 0, all), s));
}

void check_mla(Recipe& r) {
  for (const char* name :
       {"dequantScaleXOptional", "dequantScaleWDqOptional", "dequantScaleWUqQrOptional",
        "dequantScaleWDkvKrOptional", "quantScaleCkvOptional", "quantScaleCkrOptional",
        "smoothScalesCqOptional", "actualSeqLenOptional"}) {
    if (r.has_parameter(name) && r.given(name) && r.tensor(name).count() > 0) {
      refuse("{} is given; expected null: quantised weights and caches, and lengths, are not taken",
             name);
    }
  }
  for (const char* name : {"weightQuantMode", "kvCacheQuantMode", "queryQuantMode", "ckvkrRepoMode",
                           "quantScaleRepoMode"}) {
    if (r.has_parameter(name) && r.integer(name) != 0)
      refuse("{} is {}; expected 0", name, r.integer(name));
  }
  const std::string mode = r.text("cacheModeOptional");
  if (!mode.empty() && mode != "PA_BSND")
    refuse("cacheModeOptional is '{}'; expected PA_BSND", mode);
}

void mla_prolog(Recipe& r) {
  check_mla(r);
  const Shape x = r.shape("tokenX"), uk = r.shape("weightUk"), gamma = r.shape("rmsnormGammaCkv");
  if ((x.size() != 2 && x.size() != 3) || uk.size() != 3) {
    refuse(
        "tokenX is {} and weightUk {}; expected tokens x channels, with a batch in front or "
        "without, and heads x "
        "width x latent width",
        to_string(x), to_string(uk));
  }
  const int64_t tokens = element_count(x) / std::max<int64_t>(x.back(), 1);
  const int64_t heads = uk[0], plain = uk[1], latent = element_count(gamma);
  const Value in = r.reshape(wide(r, "tokenX"), {tokens, x.back()});
  Value low =
      rms_normalised(r, product(r, in, wide(r, "weightDq")), "rmsnormGammaCq", "rmsnormEpsilonCq");
  if (r.has_parameter("queryNormFlag") && r.flag("queryNormFlag") &&
      r.given("queryNormOutOptional"))
    r.out("queryNormOutOptional", r.reshape(low, r.shape("queryNormOutOptional")));
  if (r.has_parameter("qcQrScale") && !r.equals("qcQrScale", 1))
    low = r.op("Mul", {low, r.number("qcQrScale", kInside)});
  const Value all = product(r, low, wide(r, "weightUqQr"));
  const int64_t per_head = r.extent(all, 1) / std::max<int64_t>(heads, 1);
  if (per_head * heads != r.extent(all, 1) || per_head <= plain) {
    refuse("weightUqQr gives {} columns for {} heads; expected more than {} each", r.extent(all, 1),
           heads, plain);
  }
  const Value q = r.reshape(all, {tokens, heads, per_head});
  const Value straight = r.transpose(r.slice(q, 2, 0, plain), {1, 0, 2});  // heads x tokens x width
  const Value absorbed = r.transpose(product(r, straight, wide(r, "weightUk")), {1, 0, 2});
  r.out("queryOut", r.reshape(absorbed, r.shape("queryOut")));
  r.out("queryRopeOut",
        r.reshape(rotated(r, r.slice(q, 2, plain, per_head), tokens), r.shape("queryRopeOut")));
  const Value kv = product(r, in, wide(r, "weightDkvKr"));
  Value keys = rms_normalised(r, r.slice(kv, 1, 0, latent), "rmsnormGammaCkv", "rmsnormEpsilonCkv");
  if (r.has_parameter("kcScale") && !r.equals("kcScale", 1))
    keys = r.op("Mul", {keys, r.number("kcScale", kInside)});
  const int64_t turning = r.extent(kv, 1) - latent;
  const Value turned =
      rotated(r, r.reshape(r.slice(kv, 1, latent, latent + turning), {tokens, 1, turning}), tokens);
  const char* const index = r.has_parameter("cacheIndex") ? "cacheIndex" : "cacheIndexOptional";
  if (!r.given(index)) refuse("{} is null; expected the place of each token in the caches", index);
  const Value places = r.reshape(r.cast(r.in(index), DType::i64), {tokens});
  write_rows(r, "kvCacheRef", keys, places);
  write_rows(r, "krCacheRef", r.reshape(turned, {tokens, turning}), places);
}

const Row kRows[] = {
    {"aclnnMlaProlog", mla_prolog},
    {"aclnnMlaPrologV2WeightNz", mla_prolog},
    {"aclnnMlaPrologV3WeightNz", mla_prolog},
};

}  // namespace

std::span<const Row> mla_rows() { return kRows; }

}  // namespace anynpu::aclnn
