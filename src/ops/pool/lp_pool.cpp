// SPDX-License-Identifier: Apache-2.0
// LpPool and GlobalLpPool: the p-norm of each window.
#include <cmath>

#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/window.h"

namespace anynpu::ops::pool {

namespace {

Result<Window> window_for(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  if (x.size() < 3 || context.int_attr("p") < 1) {
    return fail(Code::shape_mismatch,
                "{}: input {} with p = {}, expected N, C, spatial and 1 or more", context.label(),
                to_string(x), context.int_attr("p"));
  }
  const std::vector<int64_t> in(x.begin() + 2, x.end());
  return window_of(context, in,
                   context.schema->name == "LpPool" ? context.ints_attr("kernel_shape") : in);
}

Status lp_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.fully_known()) return {};
  ANYNPU_ASSIGN(const Window window, window_for(context));
  Shape shape = {x.shape[0], x.shape[1]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  return set_output(context, 0, x.dtype, std::move(shape));
}

PlanResult plan_lp(const OpContext& context) {
  ANYNPU_ASSIGN(const Window window, window_for(context));
  const auto p = static_cast<double>(context.int_attr("p"));
  const auto load = load_block<double>(context.inputs[0].dtype);
  const auto store = store_block<double>(context.outputs[0].dtype);
  const int64_t planes = context.inputs[0].shape[0] * context.inputs[0].shape[1];
  const int64_t in_size = element_count(window.in), out_size = element_count(window.out),
                taps = element_count(window.kernel);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(planes), 1, [&](size_t begin, size_t end) {
      for (auto plane = static_cast<int64_t>(begin); plane < static_cast<int64_t>(end); ++plane) {
        for (int64_t o = 0; o < out_size; ++o) {
          double sum = 0;
          for (int64_t tap = 0; tap < taps; ++tap) {
            const int64_t at = window.tap_offset(o, tap);
            if (at < 0) continue;
            double value = 0;
            load(args.inputs[0], plane * in_size + at, 0, &value, 1);
            sum += p == 2 ? value * value : std::pow(std::fabs(value), p);
          }
          const double norm = p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
          store(args.outputs[0], plane * out_size + o, &norm, 1);
        }
      }
    });
  });
}

}  // namespace

void register_lp_pool(Registry& registry) {
  const AttrSchema p{"p", AttrKind::i, int64_t{2}};
  registry.add(OpSchema{.name = "LpPool",
                        .since = 2,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .attrs = {p,
                                  {"auto_pad", AttrKind::s, std::string_view("NOTSET")},
                                  {"ceil_mode", AttrKind::i, int64_t{0}},
                                  {"dilations", AttrKind::ints},
                                  {"kernel_shape", AttrKind::ints, {}, true},
                                  {"pads", AttrKind::ints},
                                  {"strides", AttrKind::ints}},
                        .traits = OpTraits::general(),
                        .shape = lp_rule});
  registry.add(OpSchema{.name = "GlobalLpPool",
                        .since = 2,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .attrs = {p},
                        .traits = OpTraits::general(),
                        .shape = lp_rule});
  for (std::string_view op : {"LpPool", "GlobalLpPool"}) {
    registry.add(KernelDef{
        .op = op, .name = "reference", .types = kFloats, .create = create_plain<plan_lp>});
  }
}

}  // namespace anynpu::ops::pool
