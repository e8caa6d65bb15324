// SPDX-License-Identifier: Apache-2.0
// Attention of inference: PromptFlashAttention, IncreFlashAttention and FusedInferAttentionScore in
// all their versions. Layouts, caches in blocks, caches of integers; one node of FlashAttention, or
// one for each sample where the caches are a list.
#include <cmath>

#include "aclnn/quantized.h"
#include "tensor/onnx_type.h"

namespace anynpu::aclnn {

namespace {

constexpr const char* kLengths =
    "actualSeqLengths actualSeqLengthsKv actualSeqLengthsOptional actualSeqLengthsKvOptional";

// Later versions call optional parameters so.
const char* named(Recipe& r, const char* plain, const char* optional) {
  return r.has_parameter(plain) ? plain : optional;
}

struct Layouts {
  std::string query, cache, out;
  int64_t heads = 1, kv_heads = 1;
  int64_t batch = 1, rows = 1, columns = 1;
  bool counted = false;  // T: tokens of all samples behind each other

  Value table;         // of blocks
  int64_t caches = 1;  // tensors in the lists of keys and values
};

// The text of `inputLayout`: one layout, or that of the query and that of the output.
Layouts layouts_of(Recipe& r) {
  Layouts l;
  const std::string text = r.text("inputLayout");
  static const char* const kKnown[] = {
      "BSH",       "BSND",      "BNSD",     "TND",       "NTD",     "BNSD_BSND", "BSH_NBSD",
      "BSND_NBSD", "BNSD_NBSD", "BSH_BNSD", "BSND_BNSD", "TND_NTD", "NTD_TND"};
  if (std::find(std::begin(kKnown), std::end(kKnown), text) == std::end(kKnown)) {
    refuse(
        "inputLayout is '{}'; expected one of BSH, BSND, BNSD, TND, NTD, BNSD_BSND, BSH_BNSD, "
        "BSND_BNSD, BSH_NBSD, BSND_NBSD, BNSD_NBSD, TND_NTD, NTD_TND",
        text);
  }
  const size_t line = text.find('_');
  l.query = l.cache = text.substr(0, line);
  l.out = line == text.npos ? l.query : text.substr(line + 1);
  l.counted = l.query.find('T') != l.query.npos;
  l.heads = r.integer("numHeads");
  l.kv_heads = r.integer("numKeyValueHeads");
  if (l.kv_heads == 0) l.kv_heads = l.heads;
  if (l.heads < 1 || l.kv_heads < 1 || l.heads % l.kv_heads != 0) {
    refuse("numHeads is {} and numKeyValueHeads {}; expected a multiple", l.heads, l.kv_heads);
  }
  const Shape q = r.shape("query");
  if (q.size() != l.query.size()) {
    refuse("query is {}; layout {} has {} axes", to_string(q), l.query, l.query.size());
  }
  for (size_t i = 0; i < q.size(); ++i) {
    if (l.query[i] == 'B') l.batch = q[i];
    if (l.query[i] == 'S' || l.query[i] == 'T') l.rows = q[i];
  }
  return l;
}

// A tensor of keys or values: the parameter is a tensor or a list of them.
Value cache_in(Recipe& r, const char* name, size_t index) {
  return unpacked(r, r.is_list(name) ? r.in(name, index) : r.in(name));
}

// How a cache lies, and how many tokens a sample can have.
void look_at_cache(Recipe& r, Layouts& l, Value key) {
  const Shape k = r.shape(key);
  const char* const table =
      r.has_parameter("blocktable") ? "blocktable" : named(r, "blockTable", "blockTableOptional");
  if (r.given(table)) {
    l.table = r.cast(r.in(table), DType::i64);
    const bool heads_second = k.size() == 4 && k[1] == l.kv_heads;
    l.cache = k.size() == 3 ? "BSH" : k.size() == 5 ? "NZ" : heads_second ? "BNSD" : "BSND";
    if (k.size() < 3 || k.size() > 5) {
      refuse(
          "a cache in blocks is {}; expected blocks x size x heads * width, blocks x heads x size "
          "x width, or blocks x heads x width/16 x size x 16",
          to_string(k));
    }
    const Shape blocks = r.shape(l.table);
    if (blocks.size() != 2) refuse("{} is {}; expected 2 axes", table, to_string(blocks));
    const int64_t size = k[l.cache == "NZ" ? 3 : l.cache == "BNSD" ? 2 : 1];
    const int64_t stated = r.integer("blockSize");
    if (stated != 0 && stated != size) {
      refuse("blockSize is {}; the blocks of {} have {} tokens", stated, to_string(k), size);
    }
    l.columns = blocks[1] * size;
    if (l.counted) l.batch = blocks[0];
    return;
  }
  for (size_t i = 0; i < std::min(k.size(), l.cache.size()); ++i) {
    if (l.cache[i] == 'S' || l.cache[i] == 'T') l.columns = k[i];
  }
}

// Lengths at run time; one for all samples is repeated.
Value lengths_of(Recipe& r, const char* name, int64_t batch, int64_t most) {
  if (r.length_if(name) == 0) return {};
  const auto count = static_cast<int64_t>(r.length_if(name));
  const Value list = r.list(name, 0, most);
  if (count == 1 && batch > 1) return r.expand(list, {batch});
  if (count < batch) {
    refuse("{} has {} values; expected one, or one for each of {} samples", name, count, batch);
  }
  return count > batch ? r.slice(list, 0, 0, batch) : list;
}

// A mask in four axes: batch, heads, rows, columns.
Value mask_of(Recipe& r, const Layouts& l) {
  const char* const name = named(r, "attenMask", "attenMaskOptional");
  if (!r.given(name) || r.tensor(name).count() == 0) return {};
  Value mask = r.in(name);
  const DType type = r.dtype(mask);
  if (type != DType::boolean && type != DType::u8 && type != DType::i8)
    mask = r.cast(mask, DType::boolean);
  Shape s = r.shape(mask);
  const bool of_batch = !l.counted && l.rows == 1;
  if (s.size() == 1) s = {1, 1, 1, s[0]};
  if (s.size() == 2)
    s = of_batch && s[0] == l.batch ? Shape{s[0], 1, 1, s[1]} : Shape{1, 1, s[0], s[1]};
  if (s.size() == 3) s = {s[0], 1, s[1], s[2]};
  if (s.size() != 4) refuse("{} is {}; expected up to 4 axes", name, to_string(s));
  return r.reshape(mask, s);
}

// Scales of a cache as units, heads, tokens, elements. The numbers are those of antiquantMode.
Value spread_scale(Recipe& r, Value scale, int64_t mode, const Layouts& l, const Shape& cache) {
  const int64_t count = element_count(r.shape(scale));
  const int64_t units = cache.front();
  Shape s;
  if (count == 1) {
    s = {1, 1, 1, 1};
  } else if (mode == 0) {
    if (count % l.kv_heads != 0) {
      refuse("{} scales for each channel of {} heads; expected a multiple", count, l.kv_heads);
    }
    s = {1, l.kv_heads, 1, count / l.kv_heads};
  } else if (mode == 1) {
    const int64_t samples = l.counted && !l.table ? 1 : l.batch;
    s = {samples, 1, count / std::max<int64_t>(samples, 1), 1};
  } else if (mode == 2) {
    s = {1, count, 1, 1};
  } else if (mode == 3) {
    s = {l.batch, l.kv_heads, count / std::max<int64_t>(l.batch * l.kv_heads, 1), 1};
  } else if (mode == 4) {
    s = {units, 1, count / std::max<int64_t>(units, 1), 1};
  } else if (mode == 5) {
    s = {units, l.kv_heads, count / std::max<int64_t>(units * l.kv_heads, 1), 1};
  } else {
    refuse("the mode of scales is {}; expected 0 to 5", mode);
  }
  return r.reshape(scale, s);
}

struct Scales {
  Value scale, offset;
  bool by_sample = false;  // of tokens as samples count them, although the cache is in blocks
};

int64_t mode_of(Recipe& r, const char* name) { return r.has_parameter(name) ? r.integer(name) : 0; }

// Of keys (part 0) or values (1): two tensors of their own, or halves of one pair of tensors.
Scales scales_of(Recipe& r, const Layouts& l, int64_t part, const Shape& cache) {
  Scales found;
  const char* const own = part == 0 ? "keyAntiquantScaleOptional" : "valueAntiquantScaleOptional";
  const char* const own_offset =
      part == 0 ? "keyAntiquantOffsetOptional" : "valueAntiquantOffsetOptional";
  if (r.given(own)) {
    const int64_t mode = mode_of(r, part == 0 ? "keyAntiquantMode" : "valueAntiquantMode");
    found.scale = spread_scale(r, scale_of(r, own), mode, l, cache);
    if (r.given(own_offset))
      found.offset = spread_scale(r, scale_of(r, own_offset), mode, l, cache);
    found.by_sample = mode == 1 || mode == 3;
    return found;
  }
  const char* const both = named(r, "antiquantScale", "antiquantScaleOptional");
  const char* const offsets = named(r, "antiquantOffset", "antiquantOffsetOptional");
  if (!r.given(both)) return found;
  const int64_t mode = mode_of(r, "antiquantMode");
  const auto half = [&](const char* name) {
    const Value all = scale_of(r, name);
    const int64_t count = element_count(r.shape(all));
    if (count % 2 != 0)
      refuse("{} has {} values; expected as many for keys as for values", name, count);
    const Value mine = r.slice(r.reshape(all, {2, count / 2}), 0, part, part + 1);
    return spread_scale(r, mine, mode, l, cache);
  };
  found.scale = half(both);
  if (r.given(offsets)) found.offset = half(offsets);
  found.by_sample = mode == 1;
  return found;
}

// One factor for all elements of integer keys or values: deqScale1, quantScale1 * deqScale2.
Value factor_of(Recipe& r, int64_t part) {
  const auto one = [&](const char* plain, const char* optional) -> Value {
    const char* const name = named(r, plain, optional);
    if (!r.given(name)) return {};
    return r.reshape(scale_of(r, name), {1, 1, 1, 1});
  };
  const bool incre = r.has_parameter("dequantScale1");
  if (part == 0) return incre ? one("dequantScale1", "") : one("deqScale1", "deqScale1Optional");
  const Value quant = one("quantScale1", "quantScale1Optional");
  const Value dequant = incre ? one("dequantScale2", "") : one("deqScale2", "deqScale2Optional");
  if (!quant || !dequant) return quant ? quant : dequant;
  return r.op("Mul", {quant, dequant});
}

// Values for each channel in the layout of the output.
Value by_channel(Recipe& r, Value list, const Layouts& l, const Shape& out) {
  const int64_t count = element_count(r.shape(list));
  Shape s;
  for (size_t i = 0; i < l.out.size(); ++i) {
    const char axis = l.out[i];
    s.push_back(count > 1 && (axis == 'N' || axis == 'D' || axis == 'H') ? out[i] : 1);
  }
  return r.reshape(list, s);
}

void write(Recipe& r, const Layouts& l, Value y) {
  const DType type = r.dtype("attentionOut");
  const Shape wanted = r.shape("attentionOut");
  if (is_integer(type)) {
    const char* const scale = named(r, "quantScale2", "quantScale2Optional");
    const char* const offset = named(r, "quantOffset2", "quantOffset2Optional");
    if (!r.given(scale)) refuse("attentionOut is {}; expected quantScale2 with it", name_of(type));
    y = r.op("Mul", {y, by_channel(r, scale_of(r, scale), l, r.shape(y))});
    if (r.given(offset)) y = r.op("Add", {y, by_channel(r, scale_of(r, offset), l, r.shape(y))});
    y = rounded_to(r, y, type);
  }
  r.out("attentionOut", r.shape(y) == wanted ? y : r.reshape(y, wanted));
}

// The query in a float type; scales of tokens and heads are applied to it.
Value query_of(Recipe& r, const Layouts& l) {
  Value q = r.in("query");
  if (!is_floating(r.dtype(q)) || size_of(r.dtype(q)) == 1) q = r.cast(q, DType::f32);
  if (!r.given("dequantScaleQueryOptional")) return q;
  const Shape whole = r.shape(q);
  Shape cut = whole, scales;
  if (l.query.back() == 'H') cut.back() = l.heads, cut.push_back(whole.back() / l.heads);
  scales = cut;
  scales.back() = 1;
  const Value factors = r.reshape(scale_of(r, "dequantScaleQueryOptional"), scales);
  return r.reshape(r.op("Mul", {r.cast(r.reshape(q, cut), DType::f32), factors}), whole);
}

// Keys that all samples share, in front of each sample's own.
Value with_prefix(Recipe& r, const Layouts& l, const char* name, Value cache) {
  if (!r.given(name)) return cache;
  if (l.table || l.counted || l.caches > 1) {
    refuse(
        "{} is given with a block table, a list of caches or layout {}; expected one cache in "
        "BSH, BSND or BNSD",
        name, l.cache);
  }
  const auto axis = static_cast<int64_t>(l.cache.find('S'));
  Value prefix = unpacked(r, r.in(name));
  if (r.length_if("actualSharedPrefixLenOptional") > 0)
    prefix = r.slice(prefix, axis, 0, r.ints("actualSharedPrefixLenOptional")[0]);
  Shape wide = r.shape(prefix);
  wide[0] = l.batch;
  return r.op("Concat", {r.expand(prefix, wide), cache}, {{"axis", axis}});
}

// Sample `i` of a list of caches: rows of the others are cut off.
Value of_sample(Recipe& r, Value x, int64_t i, const Layouts& l) {
  if (!x || l.caches == 1 || r.extent(x, 0) == 1) return x;
  return r.slice(x, 0, i, i + 1);
}

void attend(Recipe& r) {
  Layouts l = layouts_of(r);
  l.caches = r.is_list("key") ? static_cast<int64_t>(r.length("key")) : 1;
  const auto values = r.is_list("value") ? static_cast<int64_t>(r.length("value")) : 1;
  if (l.caches < 1 || l.caches != values || (l.caches > 1 && l.caches != l.batch)) {
    refuse(
        "key has {} tensors and value {} for a batch of {}; expected one each, or one for each "
        "sample",
        l.caches, values, l.batch);
  }
  const Value first = cache_in(r, "key", 0);
  look_at_cache(r, l, first);
  const bool incre = !r.has_parameter("actualSeqLengthsKv") &&
                     !r.has_parameter("actualSeqLengthsKvOptional") &&
                     !r.has_parameter("preTokens");
  const char* const row_list = named(r, "actualSeqLengths", "actualSeqLengthsOptional");
  const char* const key_list = named(r, "actualSeqLengthsKv", "actualSeqLengthsKvOptional");
  if (l.counted && !l.table) l.batch = static_cast<int64_t>(r.length_if(row_list));
  Value rows = incre ? Value{} : lengths_of(r, row_list, l.batch, l.rows);
  // Caches of a list differ in length: each node checks its own.
  const int64_t most = l.caches > 1 ? INT32_MAX : l.columns;
  Value keys = lengths_of(r, incre ? row_list : key_list, l.batch, most);
  const Value mask = mask_of(r, l);
  const Value query = query_of(r, l);
  const char* const shift_name = named(r, "pseShift", "pseShiftOptional");
  const Value shift =
      r.given(shift_name) && r.tensor(shift_name).count() > 0 ? r.in(shift_name) : Value{};
  const char* const row_padding = named(r, "queryPaddingSize", "queryPaddingSizeOptional");
  const char* const key_padding = named(r, "kvPaddingSize", "kvPaddingSizeOptional");
  const auto padding = [&](const char* name) {
    return r.given(name) ? r.reshape(r.cast(r.in(name), DType::i64), {1}) : Value{};
  };
  if (r.given("keyRopeAntiquantScaleOptional")) {
    refuse(
        "keyRopeAntiquantScaleOptional is given; the second parts of keys are read as floats: pass "
        "them so and leave it out");
  }
  Value sink;
  if (r.given("learnableSinkOptional")) sink = scale_of(r, "learnableSinkOptional");
  const bool logs = r.has_parameter("softmaxLse") && r.flag("softmaxLseFlag");
  const int64_t mode = r.has_parameter("sparseMode") ? r.integer("sparseMode") : 0;
  const int64_t before = r.has_parameter("preTokens") ? r.integer("preTokens") : 0;
  const int64_t after = r.has_parameter("nextTokens") ? r.integer("nextTokens") : 0;
  // Results that are scaled or rounded later stay in float32.
  const DType out = is_integer(r.dtype("attentionOut")) ? DType::f32 : r.dtype("attentionOut");
  std::vector<Value> results, log_sums;
  for (int64_t i = 0; i < l.caches; ++i) {
    Value k = i == 0 ? first : cache_in(r, "key", static_cast<size_t>(i));
    Value v = cache_in(r, "value", static_cast<size_t>(i));
    Scales of_keys = scales_of(r, l, 0, r.shape(k)), of_values = scales_of(r, l, 1, r.shape(v));
    if (!of_keys.scale) of_keys.scale = factor_of(r, 0);
    if (!of_values.scale) of_values.scale = factor_of(r, 1);
    const int64_t own = r.has_parameter("keySharedPrefixOptional") ? l.columns : 0;
    k = with_prefix(r, l, "keySharedPrefixOptional", k);
    v = with_prefix(r, l, "valueSharedPrefixOptional", v);
    if (own > 0 && r.given("keySharedPrefixOptional") && keys) {
      const int64_t longer = r.extent(k, static_cast<int64_t>(l.cache.find('S'))) - own;
      keys = r.op("Add", {keys, r.constant(DType::i64, static_cast<double>(longer))});
    }
    const Value rope = r.given("keyRopeOptional") ? r.in("keyRopeOptional") : Value{};
    const Value query_rope = r.given("queryRopeOptional") ? r.in("queryRopeOptional") : Value{};
    const auto made =
        r.ops("FlashAttention",
              {of_sample(r, query, i, l), k, v, of_sample(r, mask, i, l), of_sample(r, shift, i, l),
               of_sample(r, rows, i, l), of_sample(r, keys, i, l), l.table,
               of_sample(r, of_keys.scale, i, l), of_sample(r, of_keys.offset, i, l),
               of_sample(r, of_values.scale, i, l), of_sample(r, of_values.offset, i, l),
               of_sample(r, query_rope, i, l), of_sample(r, rope, i, l), sink, Value{},
               padding(row_padding), padding(key_padding)},
              logs ? 2 : 1,
              {{"heads", l.heads},
               {"kv_heads", l.kv_heads},
               {"layout", l.query},
               {"kv_layout", l.cache},
               {"out_layout", l.out},
               {"scale", r.real("scaleValue")},
               {"mode", mode},
               {"before", before},
               {"after", after},
               {"to", cast_number(out)},
               {"scales_by_sample", of_keys.by_sample || of_values.by_sample}});
    results.push_back(made[0]);
    if (logs) log_sums.push_back(made[1]);
  }
  const auto joined = [&](const std::vector<Value>& parts, size_t axis) {
    return parts.size() == 1 ? parts[0]
                             : r.op("Concat", parts, {{"axis", static_cast<int64_t>(axis)}});
  };
  write(r, l, joined(results, l.out.find('B')));
  if (logs) r.out("softmaxLse", r.reshape(joined(log_sums, 0), r.shape("softmaxLse")));
}

const Row kRows[] = {
    {"aclnnPromptFlashAttention", attend, "", false, 0, kLengths},
    {"aclnnPromptFlashAttentionV2", attend, "", false, 0, kLengths},
    {"aclnnPromptFlashAttentionV3", attend, "", false, 0, kLengths},
    {"aclnnIncreFlashAttention", attend, "", false, 0, kLengths},
    {"aclnnIncreFlashAttentionV2", attend, "", false, 0, kLengths},
    {"aclnnIncreFlashAttentionV3", attend, "", false, 0, kLengths},
    {"aclnnIncreFlashAttentionV4", attend, "", false, 0, kLengths},
    {"aclnnFusedInferAttentionScore", attend, "", false, 0, kLengths},
    {"aclnnFusedInferAttentionScoreV2", attend, "", false, 0, kLengths},
    {"aclnnFusedInferAttentionScoreV3", attend, "", false, 0, kLengths},
    {"aclnnFusedInferAttentionScoreV4", attend, "", false, 0, kLengths},
};

}  // namespace

std::span<const Row> infer_attention_rows() { return kRows; }

}  // namespace anynpu::aclnn
