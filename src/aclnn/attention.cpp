// SPDX-License-Identifier: Apache-2.0
// Attention of training: a node of FlashAttention (ops/attention/flash.h). Its gradient is in
// attention_gradient.cpp.
#include "aclnn/attention.h"

#include "tensor/onnx_type.h"

namespace anynpu::aclnn {

AttentionLayout attention_layout(Recipe& r, Param query, Param key) {
  AttentionLayout l;
  l.name = r.text("inputLayout");
  l.heads = r.integer("headNum");
  const bool wide = l.name == "BSH" || l.name == "SBH";
  l.counted = l.name == "TND";
  if (!wide && !l.counted && l.name != "BNSD" && l.name != "BSND") {
    refuse("inputLayout is '{}'; expected BNSD, BSND, BSH, SBH or TND", l.name);
  }
  const bool lengths = r.has_parameter("actualSeqQLenOptional");
  if (l.counted != (lengths && r.length_if("actualSeqQLenOptional") > 0)) {
    refuse("inputLayout is {} with {} lengths; expected lengths with TND, and with it alone",
           l.name, lengths ? r.length_if("actualSeqQLenOptional") : 0);
  }
  const size_t rank = l.name.size();
  if (r.rank(query) != rank || r.rank(key) != rank) {
    refuse("query and key have {} and {} axes; layout {} has {}", r.rank(query), r.rank(key),
           l.name, rank);
  }
  const Shape q = r.shape(query), k = r.shape(key);
  if (l.heads < 1 || (wide && q[2] % l.heads != 0)) {
    refuse("headNum is {} for a query of {}", l.heads, to_string(q));
  }
  const int64_t size = wide ? q[2] / l.heads : q.back();
  const size_t axis = l.name.find('N');
  l.key_heads = wide ? k[2] / std::max<int64_t>(size, 1) : k[axis];
  if (l.key_heads < 1 || l.heads % l.key_heads != 0) {
    refuse("the query has {} heads and the key {}; expected a multiple", l.heads, l.key_heads);
  }
  return l;
}

int64_t shift_type(Recipe& r) {
  const int64_t type = r.has_parameter("pseType") ? r.integer("pseType") : 1;
  if (type < 0 || type > 3) refuse("pseType is {}; expected 0 to 3", type);
  return type;
}

Value attention_shift(Recipe& r, Param shift) {
  if (!r.given(shift) || r.tensor(shift).count() == 0) return {};
  const Value x = r.in(shift);
  Shape s = r.shape(x);
  if (shift_type(r) >= 2) {
    if (s.size() == 1) s = {1, s[0]};
    if (s.size() != 2)
      refuse("slopes are {}; expected one for each head, or for each sample and head",
             to_string(s));
    return r.reshape(x, {s[0], s[1], 1, 1});
  }
  if (s.size() != 4)
    refuse("the shift is {}; expected batch, heads, rows and columns", to_string(s));
  return x;
}

namespace {

// A mask in four axes. One of rows and columns is that of all samples and heads.
Value mask_of(Recipe& r) {
  if (!r.given("attenMaskOptional") || r.tensor("attenMaskOptional").count() == 0) return {};
  Value mask = r.in("attenMaskOptional");
  const DType type = r.dtype(mask);
  if (type != DType::boolean && type != DType::u8 && type != DType::i8)
    mask = r.cast(mask, DType::boolean);
  Shape s = r.shape(mask);
  while (s.size() < 4) s.insert(s.begin() + (s.size() == 3 ? 1 : 0), 1);
  return r.reshape(mask, s);
}

int64_t first_of(Recipe& r, const char* name) {
  if (!r.has_parameter(name) || r.length_if(name) == 0) return 0;
  return r.ints(name)[0];
}

}  // namespace

std::vector<Value> attention_node(Recipe& r, const char* op, const AttentionLayout& l,
                                  const AttentionCall& call, const std::vector<Value>& more,
                                  size_t outputs, DType type) {
  Value rows, keys, keep;
  if (l.counted) {
    const auto count = [&](const char* name) { return r.length_if(name); };
    if (count("actualSeqQLenOptional") != count("actualSeqKvLenOptional")) {
      refuse(
          "actualSeqQLenOptional has {} values and actualSeqKvLenOptional {}; expected one for "
          "each "
          "sample",
          count("actualSeqQLenOptional"), count("actualSeqKvLenOptional"));
    }
    rows = r.list("actualSeqQLenOptional", 0, r.shape("query")[0]);
    keys = r.list("actualSeqKvLenOptional", 0, r.shape(call.key)[0]);
  }
  double kept = 1;
  if (r.given("dropMaskOptional") && !r.equals("keepProb", 1)) {
    kept = r.real("keepProb");
    keep = r.reshape(r.in("dropMaskOptional"), {r.tensor("dropMaskOptional").count()});
  }
  const Value rope = r.given(call.key_rope) ? r.in(call.key_rope) : Value{};
  const Value query_rope = r.given("queryRope") ? r.in("queryRope") : Value{};
  std::vector<Value> inputs = {r.in("query"),
                               r.in(call.key),
                               r.in("value"),
                               mask_of(r),
                               attention_shift(r, call.shift),
                               rows,
                               keys,
                               {},
                               {},
                               {},
                               {},
                               {},
                               query_rope,
                               rope,
                               {},
                               keep,
                               {},
                               {}};
  inputs.insert(inputs.end(), more.begin(), more.end());
  return r.ops(op, inputs, outputs,
               {{"heads", l.heads},
                {"kv_heads", l.key_heads},
                {"layout", l.name},
                {"kv_layout", l.name},
                {"out_layout", l.name},
                {"scale", r.real("scaleValue")},
                {"mode", r.integer("sparseMode")},
                {"before", r.integer("preTokens")},
                {"after", r.integer("nextTokens")},
                {"prefixes", r.ints("prefixOptional")},
                {"pse_type", shift_type(r)},
                {"row_start", first_of(r, "qStartIdxOptional")},
                {"key_start", first_of(r, "kvStartIdxOptional")},
                {"keep", kept},
                {"to", cast_number(type)}});
}

namespace {

constexpr const char* kLengths = "actualSeqQLenOptional actualSeqKvLenOptional";

// The largest scores and the sums, each in eight places or in as many as the tensor has.
void write_stat(Recipe& r, const char* name, Value value) {
  if (!r.given(name) || r.tensor(name).count() == 0) return;
  const Shape wanted = r.shape(name), made = r.shape(value);
  const bool turned = made.size() == 3 && wanted.size() == 3 && wanted[0] == made[1] &&
                      wanted[1] == made[0] && wanted[0] != made[0];
  if (turned) value = r.transpose(value, {1, 0, 2});
  r.out(name, r.expand(value, wanted));
}

void attention(Recipe& r) {
  const AttentionLayout l = attention_layout(r, "query", "key");
  const bool stats = r.given("softmaxMaxOut") || r.given("softmaxSumOut");
  const auto made =
      attention_node(r, "FlashAttention", l, {}, {}, stats ? 4 : 1, r.dtype("attentionOutOut"));
  r.out("attentionOutOut", r.reshape(made[0], r.shape("attentionOutOut")));
  if (!stats) return;
  write_stat(r, "softmaxMaxOut", made[2]);
  write_stat(r, "softmaxSumOut", made[3]);
}

// Two results over parts of the keys become that over all of them.
void join_rings(Recipe& r) {
  const DType type = DType::f32;
  const auto stat = [&](const char* name) { return r.cast(r.in(name), type); };
  const Value most_a = stat("prevSoftmaxMax"), most_b = stat("curSoftmaxMax");
  const Value most = r.op("Max", {most_a, most_b});
  const auto scaled = [&](Value sum, Value own) {
    return r.op("Mul", {sum, r.op("Exp", {r.op("Sub", {own, most})})});
  };
  const Value a = scaled(stat("prevSoftmaxSum"), most_a), b = scaled(stat("curSoftmaxSum"), most_b);
  const Value sum = r.op("Add", {a, b});
  const std::string layout = r.text("inputLayoutOptional");
  const Shape stats = r.shape(sum), out = r.shape("prevAttnOut");
  const auto share = [&](Value part) {
    Value y = r.slice(r.op("Div", {part, sum}), -1, 0, 1);
    if (layout == "TND") return y;  // tokens, heads, 1
    if (layout != "SBH") refuse("inputLayoutOptional is '{}'; expected SBH or TND", layout);
    y = r.transpose(y, {2, 0, 1, 3});  // rows, batch, heads, 1
    const int64_t size = out[2] / stats[1];
    return r.reshape(r.expand(y, {stats[2], stats[0], stats[1], size}), out);
  };
  const auto weighed = [&](const char* name, Value part) {
    return r.op("Mul", {r.cast(r.in(name), type), share(part)});
  };
  r.out("attnOutOut", r.op("Add", {weighed("prevAttnOut", a), weighed("curAttnOut", b)}));
  r.out("softmaxMaxOut", most);
  r.out("softmaxSumOut", sum);
}

const Row kRows[] = {
    {"aclnnFlashAttentionScore", attention},
    {"aclnnFlashAttentionScoreV2", attention},
    {"aclnnFlashAttentionVarLenScore", attention, "", false, 0, kLengths},
    {"aclnnFlashAttentionVarLenScoreV2", attention, "", false, 0, kLengths},
    {"aclnnFlashAttentionVarLenScoreV3", attention, "", false, 0, kLengths},
    {"aclnnFlashAttentionVarLenScoreV4", attention, "", false, 0, kLengths},
    {"aclnnRingAttentionUpdate", join_rings},
};

}  // namespace

std::span<const Row> attention_rows() { return kRows; }

}  // namespace anynpu::aclnn
