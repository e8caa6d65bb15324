// SPDX-License-Identifier: Apache-2.0
// Native sparse attention (NSA): tokens compressed by blocks, and attention to the blocks that each
// token has chosen. Layout TND: tokens of all samples behind each other; lengths are sums up to the
// end of each sample. What the names mean follows the published method (docs/aclnn.md).
#include <algorithm>

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kInner = DType::f32;

// Ends of samples; without lengths all tokens are one sample.
std::vector<int64_t> ends_of(Recipe& r, const char* name, int64_t tokens) {
  std::vector<int64_t> ends = r.ints(name);
  if (ends.empty()) return {tokens};
  int64_t before = 0;
  for (int64_t end : ends) {
    if (end < before || end > tokens) {
      refuse("{} is {}; expected sums of lengths, at most the {} tokens", name, ends, tokens);
    }
    before = end;
  }
  return ends;
}

// --- blocks of tokens to one: a weighted sum

struct Windows {
  int64_t count = 0, size = 1;
  Ints tokens;  // of all windows, one behind the other
};

Windows windows_of(Recipe& r, const char* lengths) {
  const Shape x = r.shape("input"), w = r.shape("weight");
  Windows out;
  out.size = r.integer("compressBlockSize");
  const int64_t step = r.integer("compressStride");
  if (x.size() != 3 || w.size() != 2 || w[0] != out.size || w[1] != x[1] || out.size < 1 ||
      step < 1) {
    refuse(
        "input is {} and weight {} for blocks of {} every {}; expected tokens x heads x channels, "
        "and block x "
        "heads",
        to_string(x), to_string(w), out.size, step);
  }
  if (r.integer("actSeqLenType") != 0) {
    refuse("actSeqLenType is {}; expected 0: sums of lengths", r.integer("actSeqLenType"));
  }
  int64_t first = 0;
  for (int64_t end : ends_of(r, lengths, x[0])) {
    for (int64_t at = first; at + out.size <= end; at += step, ++out.count) {
      for (int64_t i = 0; i < out.size; ++i) out.tokens.push_back(at + i);
    }
    first = end;
  }
  return out;
}

Value layout_checked(Recipe& r, const char* name, Value x) {
  const std::string layout = r.text(name);
  if (!layout.empty() && layout != "TND") refuse("{} is '{}'; expected TND", name, layout);
  return x;
}

// windows x block x heads x channels
Value windows_in(Recipe& r, const Windows& w) {
  const Shape s = r.shape("input");
  const Value rows = r.reshape(r.cast(r.in("input"), kInner), {s[0], s[1] * s[2]});
  const Value all = r.op("Gather", {rows, r.constant(w.tokens)}, {{"axis", 0}});
  return r.reshape(all, {w.count, w.size, s[1], s[2]});
}

void nsa_compress(Recipe& r) {
  const Windows w = windows_of(r, "actSeqLenOptional");
  const Shape s = r.shape("input");
  if (w.count == 0) return r.out("output", r.filled(kInner, r.shape("output"), 0));
  const Value all = layout_checked(r, "layoutOptional", windows_in(r, w));
  const Value weight = r.reshape(r.cast(r.in("weight"), kInner), {1, w.size, s[1], 1});
  const Value y =
      r.op("ReduceSum", {r.op("Mul", {all, weight}), r.constant({1})}, {{"keepdims", 0}});
  r.out("output", y);
}

void nsa_compress_gradient(Recipe& r) {
  const Windows w = windows_of(r, "actSeqLenOptionalOptional");
  const Shape s = r.shape("input");
  if (w.count == 0) {
    r.out("inputGradOut", r.filled(kInner, s, 0));
    return r.out("weightGradOut", r.filled(kInner, r.shape("weight"), 0));
  }
  const Value all = layout_checked(r, "layoutOptionalOptional", windows_in(r, w));
  const Value dy = r.reshape(r.cast(r.in("outputGrad"), kInner), {w.count, 1, s[1], s[2]});
  const Value weight = r.reshape(r.cast(r.in("weight"), kInner), {1, w.size, s[1], 1});
  r.out("weightGradOut",
        r.op("ReduceSum", {r.op("Mul", {all, dy}), r.constant({0, 3})}, {{"keepdims", 0}}));
  const auto rows = static_cast<int64_t>(w.tokens.size());
  const Value given = r.reshape(r.op("Mul", {dy, weight}), {rows, s[1] * s[2]});
  const Value sum = r.op(
      "ScatterND",
      {r.filled(kInner, {s[0], s[1] * s[2]}, 0), r.reshape(r.constant(w.tokens), {rows, 1}), given},
      {{"reduction", "add"}});
  r.out("inputGradOut", r.reshape(sum, s));
}

// --- attention to chosen blocks, sample by sample

struct Selected {
  int64_t heads = 1, key_heads = 1, width = 1, value_width = 1, block = 1;
  std::vector<int64_t> rows, keys;  // ends of samples
  bool causal = false;
};

Selected selected_of(Recipe& r) {
  Selected s;
  const Shape q = r.shape("query"), k = r.shape("key"), v = r.shape("value"),
              chosen = r.shape("topkIndices");
  const std::string layout = r.text("inputLayout");
  if (layout != "TND" || q.size() != 3 || k.size() != 3 || v.size() != 3 || chosen.size() != 3) {
    refuse(
        "inputLayout is '{}' with a query of {} and a key of {}; expected TND: tokens x heads x "
        "channels",
        layout, to_string(q), to_string(k));
  }
  s.heads = q[1], s.key_heads = k[1], s.width = q[2], s.value_width = v[2];
  s.block = r.integer("selectedBlockSize");
  if (s.heads != r.integer("headNum") || s.key_heads < 1 || s.heads % s.key_heads != 0 ||
      s.block < 1 || chosen[0] != q[0] || chosen[1] != s.key_heads ||
      chosen[2] != r.integer("selectedBlockCount")) {
    refuse(
        "headNum is {}, selectedBlockSize {}, selectedBlockCount {} for a query of {}, a key of {} "
        "and "
        "topkIndices of {}; expected tokens x heads of keys x blocks",
        r.integer("headNum"), s.block, r.integer("selectedBlockCount"), to_string(q), to_string(k),
        to_string(chosen));
  }
  const int64_t mode = r.integer("sparseMode");
  if (mode != 0 && mode != 2) refuse("sparseMode is {}; expected 0 (all) or 2 (causal)", mode);
  s.causal = mode == 2;
  s.rows = ends_of(r, "actualSeqQLenOptional", q[0]);
  s.keys = ends_of(r, "actualSeqKvLenOptional", k[0]);
  if (s.rows.size() != s.keys.size()) {
    refuse(
        "actualSeqQLenOptional has {} values and actualSeqKvLenOptional {}; expected one for each "
        "sample",
        s.rows.size(), s.keys.size());
  }
  return s;
}

struct Sample {
  int64_t rows = 0, keys = 0, group = 1;
  Value q, k, v;  // heads of keys x (group * rows) x width, and heads of keys x keys x width
  Value most, sum, share;  // of the softmax
};

// Tokens [from, to) of a tensor of tokens x heads x channels, as heads of keys x rows x channels.
Value by_heads(Recipe& r, Value x, int64_t from, int64_t to, int64_t key_heads) {
  const Shape s = r.shape(x);
  const int64_t group = s[1] / key_heads, rows = to - from;
  const Value cut = r.reshape(r.slice(x, 0, from, to), {rows, key_heads, group, s[2]});
  return r.reshape(r.transpose(cut, {1, 2, 0, 3}), {key_heads, group * rows, s[2]});
}

Value by_tokens(Recipe& r, Value x, int64_t rows) {
  const Shape s = r.shape(x);
  const int64_t group = s[1] / std::max<int64_t>(rows, 1);
  return r.reshape(r.transpose(r.reshape(x, {s[0], group, rows, s[2]}), {2, 0, 1, 3}),
                   {rows, s[0] * group, s[2]});
}

// Whether a row sees a key: heads of keys x 1 x rows x keys.
Value seen(Recipe& r, const Selected& s, int64_t row_from, int64_t row_to, int64_t keys) {
  const int64_t rows = row_to - row_from, blocks = (keys + s.block - 1) / s.block;
  const auto range = [&](int64_t n, const Shape& shape) {
    const auto number = [&](int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); };
    return r.reshape(r.op("Range", {number(0), number(n), number(1)}), shape);
  };
  const Value chosen = r.cast(r.slice(r.in("topkIndices"), 0, row_from, row_to), DType::i64);
  const Shape of_chosen = r.shape(chosen);
  const Value same = r.op("Equal", {r.reshape(chosen, {rows, s.key_heads, of_chosen[2], 1}),
                                    range(blocks, {1, 1, 1, blocks})});
  Value any = r.op("ReduceMax", {r.cast(same, DType::i32), r.constant({2})}, {{"keepdims", 0}});
  any = r.reshape(any, {rows, s.key_heads, blocks, 1});
  any = r.reshape(r.expand(any, {rows, s.key_heads, blocks, s.block}),
                  {rows, s.key_heads, blocks * s.block});
  any = r.cast(r.transpose(r.slice(any, 2, 0, keys), {1, 0, 2}), DType::boolean);
  if (s.causal) {
    const Value last = r.op(
        "Add", {range(rows, {rows, 1}), r.constant(DType::i64, static_cast<double>(keys - rows))});
    any = r.op("And", {any, r.op("LessOrEqual", {range(keys, {1, keys}), last})});
  }
  return r.reshape(any, {s.key_heads, 1, rows, keys});
}

Sample sample_of(Recipe& r, const Selected& s, size_t index) {
  const int64_t row_from = index == 0 ? 0 : s.rows[index - 1], row_to = s.rows[index];
  const int64_t key_from = index == 0 ? 0 : s.keys[index - 1], key_to = s.keys[index];
  Sample out;
  out.rows = row_to - row_from, out.keys = key_to - key_from, out.group = s.heads / s.key_heads;
  const auto cut = [&](const char* name, int64_t from, int64_t to) {
    return by_heads(r, r.cast(r.in(name), kInner), from, to, s.key_heads);
  };
  out.q = cut("query", row_from, row_to);
  out.k = cut("key", key_from, key_to);
  out.v = cut("value", key_from, key_to);
  Value scores = r.op("MatMul", {out.q, r.transpose(out.k, {0, 2, 1})});
  scores = r.op("Mul", {scores, r.number("scaleValue", kInner)});
  scores = r.reshape(scores, {s.key_heads, out.group, out.rows, out.keys});
  const Value in = seen(r, s, row_from, row_to, out.keys);
  const Value kept = r.op("Where", {in, scores, r.constant(kInner, -3.0e38)});
  out.most = r.op("ReduceMax", {kept, r.constant({3})}, {{"keepdims", 1}});
  const Value powers =
      r.op("Where", {in, r.op("Exp", {r.op("Sub", {kept, out.most})}), r.constant(kInner, 0)});
  out.sum = r.op("ReduceSum", {powers, r.constant({3})}, {{"keepdims", 1}});
  // A row that sees nothing has zeros.
  const Value safe = r.op(
      "Where", {r.op("Equal", {out.sum, r.constant(kInner, 0)}), r.constant(kInner, 1), out.sum});
  out.share = r.reshape(r.op("Div", {powers, safe}), {s.key_heads, out.group * out.rows, out.keys});
  return out;
}

Value joined_samples(Recipe& r, const Values& parts) {
  return parts.size() == 1 ? parts[0] : r.op("Concat", parts.plain(), {{"axis", 0}});
}

void selected_attention(Recipe& r) {
  const Selected s = selected_of(r);
  Values out, most, sum;
  for (size_t i = 0; i < s.rows.size(); ++i) {
    const Sample one = sample_of(r, s, i);
    if (one.rows == 0) continue;
    out.push_back(by_tokens(r, r.op("MatMul", {one.share, one.v}), one.rows));
    const Shape flat = {s.key_heads, one.group * one.rows, 1};
    most.push_back(by_tokens(r, r.reshape(one.most, flat), one.rows));
    sum.push_back(by_tokens(r, r.reshape(one.sum, flat), one.rows));
  }
  r.out("attentionOut", r.reshape(joined_samples(r, out), r.shape("attentionOut")));
  for (const auto& [name, parts] : {std::pair{"softmaxMaxOut", &most}, {"softmaxSumOut", &sum}}) {
    if (r.given(name) && r.tensor(name).count() > 0)
      r.out(name, r.expand(joined_samples(r, *parts), r.shape(name)));
  }
}

void selected_attention_gradient(Recipe& r) {
  const Selected s = selected_of(r);
  Values dq, dk, dv;
  for (size_t i = 0; i < s.rows.size(); ++i) {
    const Sample one = sample_of(r, s, i);
    const int64_t from = i == 0 ? 0 : s.rows[i - 1];
    const Value dy =
        by_heads(r, r.cast(r.in("attentionOutGrad"), kInner), from, s.rows[i], s.key_heads);
    const Value of_share = r.op("MatMul", {dy, r.transpose(one.v, {0, 2, 1})});
    const Value mean =
        r.op("ReduceSum", {r.op("Mul", {of_share, one.share}), r.constant({2})}, {{"keepdims", 1}});
    Value of_scores = r.op("Mul", {one.share, r.op("Sub", {of_share, mean})});
    of_scores = r.op("Mul", {of_scores, r.number("scaleValue", kInner)});
    if (one.rows > 0) dq.push_back(by_tokens(r, r.op("MatMul", {of_scores, one.k}), one.rows));
    if (one.keys == 0) continue;
    dk.push_back(
        by_tokens(r, r.op("MatMul", {r.transpose(of_scores, {0, 2, 1}), one.q}), one.keys));
    dv.push_back(by_tokens(r, r.op("MatMul", {r.transpose(one.share, {0, 2, 1}), dy}), one.keys));
  }
  r.out("dqOut", joined_samples(r, dq));
  r.out("dkOut", joined_samples(r, dk));
  r.out("dvOut", joined_samples(r, dv));
}

// --- attention of inference: one token a sample, keys and values in blocks of a cache

// Rows of a cache by token and head: blocks * size * heads x width.
Value cache_rows(Recipe& r, const char* name, int64_t heads, int64_t& size, int64_t& width) {
  const Shape s = r.shape(name);
  const bool by_heads = s.size() == 4 && s[2] == heads;
  if (!by_heads && (s.size() != 3 || s[2] % heads != 0)) {
    refuse(
        "{} is {} with numKeyValueHeads {}; expected blocks x tokens x heads * width, or blocks x "
        "tokens x heads x "
        "width",
        name, to_string(s), heads);
  }
  size = s[1], width = by_heads ? s[3] : s[2] / heads;
  return r.reshape(r.cast(r.in(name), kInner), {s[0] * size * heads, width});
}

void selected_attention_infer(Recipe& r) {
  const Shape chosen = r.shape("topkIndices"), table = r.shape("blockTableOptional");
  const int64_t heads = r.integer("numHeads"), key_heads = r.integer("numKeyValueHeads");
  const int64_t block = r.integer("selectBlockSize"), count = r.integer("selectBlockCount");
  if (heads < 1 || key_heads < 1 || heads % key_heads != 0 || block < 1 || table.size() != 2 ||
      chosen != Shape{table[0], key_heads, count}) {
    refuse(
        "numHeads is {}, numKeyValueHeads {}, selectBlockSize {}, selectBlockCount {}, topkIndices "
        "{} and the block "
        "table {}; expected samples x heads of keys x blocks, and samples x blocks",
        heads, key_heads, block, count, to_string(chosen), to_string(table));
  }
  if (r.given("attenMaskOptional")) refuse("attenMaskOptional is given; expected null");
  const int64_t batch = table[0], group = heads / key_heads;
  const int64_t held = static_cast<int64_t>(r.length_if("actualKvSeqLenOptional"));
  int64_t size = 0, width = 0, value_width = 0;
  const Value keys = cache_rows(r, "key", key_heads, size, width);
  const Value values = cache_rows(r, "value", key_heads, size, value_width);
  if (size < 1 || size != r.shape("value")[1] ||
      (r.integer("pageBlockSize") != 0 && size != r.integer("pageBlockSize")) || held != batch ||
      element_count(r.shape("query")) != batch * heads * width) {
    refuse(
        "query is {}, key {}, value {}, pageBlockSize {} and actualKvSeqLenOptional has {} values; "
        "expected one token "
        "for each of {} samples, equal blocks and a length each",
        to_string(r.shape("query")), to_string(r.shape("key")), to_string(r.shape("value")),
        r.integer("pageBlockSize"), held, batch);
  }
  check_items(block);
  const auto number = [&](int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); };
  const auto range = [&](int64_t n, const Shape& shape) {
    return r.reshape(r.op("Range", {number(0), number(n), number(1)}), shape);
  };
  // Tokens of the chosen blocks: batch x heads of keys x tokens.
  const int64_t tokens = count * block;
  const Value first =
      r.op("Mul", {r.reshape(r.cast(r.in("topkIndices"), DType::i64), {batch, key_heads, count, 1}),
                   number(block)});
  const Value token =
      r.reshape(r.op("Add", {first, range(block, {1, 1, 1, block})}), {batch, key_heads, tokens});
  const Value lengths = r.list("actualKvSeqLenOptional", 0, table[1] * size);
  const Value in = r.op("And", {r.op("GreaterOrEqual", {token, number(0)}),
                                r.op("Less", {token, r.reshape(lengths, {batch, 1, 1})})});
  const Value safe = r.op("Where", {in, token, number(0)});
  const Value page = r.op("FloorDivide", {safe, number(size)});
  const Value blocks = r.op("GatherElements",
                            {r.cast(r.in("blockTableOptional"), DType::i64),
                             r.reshape(page, {batch, key_heads * tokens})},
                            {{"axis", 1}});
  Value row = r.op("Mul", {r.reshape(blocks, {batch, key_heads, tokens}), number(size)});
  row = r.op("Add", {row, r.op("Sub", {safe, r.op("Mul", {page, number(size)})})});
  row = r.op("Add", {r.op("Mul", {row, number(key_heads)}), range(key_heads, {1, key_heads, 1})});
  const auto picked = [&](Value cache) { return r.op("Gather", {cache, row}, {{"axis", 0}}); };
  const Value q = r.reshape(r.cast(r.in("query"), kInner), {batch, key_heads, group, width});
  Value scores = r.op("MatMul", {q, r.transpose(picked(keys), {0, 1, 3, 2})});
  scores = r.op("Mul", {scores, r.number("scaleValue", kInner)});
  const Value seen_tokens = r.reshape(in, {batch, key_heads, 1, tokens});
  const Value kept = r.op("Where", {seen_tokens, scores, r.constant(kInner, -3.0e38)});
  const Value share =
      r.op("Where", {seen_tokens, r.op("Softmax", {kept}, {{"axis", 3}}), r.constant(kInner, 0)});
  r.out("output", r.reshape(r.op("MatMul", {share, picked(values)}), r.shape("output")));
}

const Row kRows[] = {
    {"aclnnNsaCompress", nsa_compress},
    {"aclnnNsaCompressGrad", nsa_compress_gradient},
    {"aclnnNsaSelectedAttention", selected_attention},
    {"aclnnNsaSelectedAttentionGrad", selected_attention_gradient},
    {"aclnnNsaSelectedAttentionInfer", selected_attention_infer, "", false, 0,
     "actualKvSeqLenOptional"},
};

}  // namespace

std::span<const Row> sparse_attention_rows() { return kRows; }

}  // namespace anynpu::aclnn
