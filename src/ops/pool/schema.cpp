// SPDX-License-Identifier: Apache-2.0
#include "ops/families.h"
#include "ops/pool/pool.h"
#include "ops/registry.h"
#include "ops/widen.h"

namespace anynpu::ops::pool {

Result<PoolShape> pool_shape_of(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const std::string_view op = context.schema->name;
  if (x.rank() < 3) {
    return fail(Code::unsupported_shape, "{}: input is {}, expected at least 3 dimensions",
                context.label(), to_string(x.shape));
  }
  PoolShape pool;
  pool.kind = op == "MaxPool" || op == "GlobalMaxPool" ? PoolKind::max : PoolKind::average;
  pool.batch = x.shape[0];
  pool.channels = x.shape[1];
  pool.count_pads = context.int_attr("count_include_pad") != 0;
  const std::vector<int64_t> in(x.shape.begin() + 2, x.shape.end());
  if (op.starts_with("Global")) {
    const std::vector<int64_t> ones(in.size(), 1), zeros(in.size(), 0);
    pool.window = {in, ones, ones, zeros, zeros, in, ones};
    return pool;
  }
  ANYNPU_ASSIGN(pool.window, window_of(context, in, context.ints_attr("kernel_shape")));
  const Window& w = pool.window;
  for (size_t i = 0; i < w.dims(); ++i) {
    if (w.pad_begin[i] >= w.reach(i) || w.pad_end[i] >= w.reach(i)) {
      return fail(Code::unsupported_shape,
                  "{}: pads {} and {} reach the kernel {}, so that a window holds pads alone; "
                  "expected smaller pads",
                  context.label(), w.pad_begin, w.pad_end, w.kernel);
    }
  }
  return pool;
}

namespace {

Status pool_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (context.outputs.size() > 1) context.outputs[1].dtype = DType::i64;
  if (!x.has_shape) return {};
  ANYNPU_ASSIGN(const PoolShape pool, pool_shape_of(context));
  for (Operand& output : context.outputs) {
    output.shape = {pool.batch, pool.channels};
    output.shape.insert(output.shape.end(), pool.window.out.begin(), pool.window.out.end());
    output.has_shape = true;
  }
  return {};
}

}  // namespace

void add_pool_schemas(Registry& registry) {
  const std::vector<AttrSchema> window = {{"auto_pad", AttrKind::s, "NOTSET"},
                                          {"kernel_shape", AttrKind::ints, {}, true},
                                          {"pads", AttrKind::ints},
                                          {"strides", AttrKind::ints},
                                          {"ceil_mode", AttrKind::i, int64_t{0}},
                                          {"dilations", AttrKind::ints}};
  OpSchema max{.name = "MaxPool",
               .since = 1,
               .inputs = {{"X", "T"}},
               .outputs = {{"Y", "T"}, {"Indices", "I", Presence::optional}},
               .types = {{"T", kFloats | DTypeSet{DType::i8, DType::u8}}},
               .attrs = window,
               .traits = OpTraits::general().with(PrecisionClass::gray),
               .shape = pool_rule};
  max.attrs.push_back({"storage_order", AttrKind::i, int64_t{0}});
  registry.add(max);
  OpSchema average{.name = "AveragePool",
                   .since = 1,
                   .inputs = {{"X", "T"}},
                   .outputs = {{"Y", "T"}},
                   .types = {{"T", kFloats}},
                   .attrs = window,
                   .traits = OpTraits::general().with(PrecisionClass::gray),
                   .shape = pool_rule};
  average.attrs.push_back({"count_include_pad", AttrKind::i, int64_t{0}});
  registry.add(average);
  for (std::string_view name : {"GlobalAveragePool", "GlobalMaxPool"}) {
    registry.add(OpSchema{.name = name,
                          .since = 1,
                          .inputs = {{"X", "T"}},
                          .outputs = {{"Y", "T"}},
                          .types = {{"T", kFloats}},
                          .traits = OpTraits::general().with(PrecisionClass::gray),
                          .shape = pool_rule});
  }
}

}  // namespace anynpu::ops::pool
