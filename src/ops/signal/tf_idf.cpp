// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer of numbers: how often each n-gram of the pool occurs in a row.
#include <algorithm>
#include <cstring>
#include <map>

#include "ops/elements/index_value.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/signal/signal.h"

namespace anynpu::ops::signal {

namespace {

struct Pool {
  std::map<std::vector<int64_t>, int64_t> column;  // of each n-gram
  std::vector<float> weight;                       // by column
  int64_t columns = 0, least = 1, most = 1, skips = 0;
};

Result<Pool> pool_of(const OpContext& context) {
  Pool pool;
  const auto counts = context.ints_attr("ngram_counts"),
             indexes = context.ints_attr("ngram_indexes");
  const auto items = context.ints_attr("pool_int64s");
  pool.least = context.int_attr("min_gram_length"), pool.most = context.int_attr("max_gram_length");
  pool.skips = context.int_attr("max_skip_count");
  bool fits = pool.least >= 1 && pool.most >= pool.least && pool.skips >= 0 && !indexes.empty();
  for (int64_t index : indexes) {
    fits = fits && index >= 0 && index < (int64_t{1} << 31);
    if (!fits) break;
    pool.columns = std::max(pool.columns, index + 1);
  }
  size_t gram = 0;
  for (size_t n = 1; fits && n <= counts.size(); ++n) {
    const auto total = static_cast<int64_t>(items.size());
    const int64_t from = counts[n - 1], to = n < counts.size() ? counts[n] : total;
    fits = from >= 0 && to >= from && to <= total && (to - from) % static_cast<int64_t>(n) == 0;
    for (int64_t at = from; fits && at < to; at += static_cast<int64_t>(n), ++gram) {
      fits = gram < indexes.size();
      if (fits)
        pool.column[{items.begin() + at, items.begin() + at + static_cast<int64_t>(n)}] =
            indexes[gram];
    }
  }
  if (!fits) {
    return fail(Code::invalid_argument,
                "{}: ngram_counts, ngram_indexes and pool_int64s do not fit each other; "
                "pools of strings are not supported",
                context.label());
  }
  pool.weight.assign(static_cast<size_t>(pool.columns), 1.0f);
  const auto found = context.node->attrs.find("weights");
  if (found != context.node->attrs.end()) {
    if (const auto* list = std::get_if<std::vector<float>>(&found->second)) {
      for (size_t i = 0; i < std::min(list->size(), indexes.size()); ++i) {
        pool.weight[static_cast<size_t>(indexes[i])] = (*list)[i];
      }
    }
  }
  return pool;
}

Status tf_idf_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = DType::f32;
  if (!x.has_shape) return {};
  ANYNPU_ASSIGN(const Pool pool, pool_of(context));
  const std::string mode = context.string_attr("mode");
  if (x.rank() < 1 || x.rank() > 2 || (mode != "TF" && mode != "IDF" && mode != "TFIDF")) {
    return fail(Code::invalid_argument,
                "{}: input {} with mode '{}', expected C or N, C and TF, IDF or TFIDF",
                context.label(), to_string(x.shape), mode);
  }
  return set_output(context, 0, DType::f32,
                    x.rank() == 1 ? Shape{pool.columns} : Shape{x.shape[0], pool.columns});
}

PlanResult plan_tf_idf(const OpContext& context) {
  ANYNPU_ASSIGN(Pool pool, pool_of(context));
  const Shape& x = context.inputs[0].shape;
  const int64_t rows = x.size() == 1 ? 1 : x[0], length = x.back();
  const DType type = context.inputs[0].dtype;
  const std::string mode = context.string_attr("mode");
  return make_plan([=, pool = std::move(pool)](const RunArgs& args) {
    std::vector<int64_t> gram;
    for (int64_t row = 0; row < rows; ++row) {
      float* y = output_of<float>(args, 0) + row * pool.columns;
      std::fill(y, y + pool.columns, 0.0f);
      for (int64_t n = pool.least; n <= std::min(pool.most, length); ++n) {
        const int64_t most_skip = n == 1 ? 0 : std::min(pool.skips, length / (n - 1));
        for (int64_t skip = 0; skip <= most_skip; ++skip) {
          for (int64_t at = 0; at + (n - 1) * (skip + 1) < length; ++at) {
            gram.clear();
            for (int64_t i = 0; i < n; ++i) {
              gram.push_back(index_at(type, args.inputs[0], row * length + at + i * (skip + 1)));
            }
            const auto found = pool.column.find(gram);
            if (found != pool.column.end()) y[found->second] += 1;
          }
        }
      }
      for (int64_t i = 0; i < pool.columns && mode != "TF"; ++i) {
        const float weight = pool.weight[static_cast<size_t>(i)];
        y[i] = mode == "IDF" ? (y[i] > 0 ? weight : 0) : y[i] * weight;
      }
    }
  });
}

}  // namespace

void register_tf_idf(Registry& registry) {
  const auto whole = [](std::string_view name) { return AttrSchema{name, AttrKind::i, {}, true}; };
  registry.add(OpSchema{.name = "TfIdfVectorizer",
                        .since = 9,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "F"}},
                        .types = {{"T", kIndices}},
                        .attrs = {whole("max_gram_length"),
                                  whole("max_skip_count"),
                                  whole("min_gram_length"),
                                  {"mode", AttrKind::s, {}, true},
                                  {"ngram_counts", AttrKind::ints, {}, true},
                                  {"ngram_indexes", AttrKind::ints, {}, true},
                                  {"pool_int64s", AttrKind::ints},
                                  {"pool_strings", AttrKind::strings},
                                  {"weights", AttrKind::floats}},
                        .traits = OpTraits::general().with(Strings::moved),
                        .shape = tf_idf_rule});
  registry.add(KernelDef{.op = "TfIdfVectorizer",
                         .name = "reference",
                         .types = kIndices,
                         .create = create_plain<plan_tf_idf>});
}

}  // namespace anynpu::ops::signal
