// SPDX-License-Identifier: Apache-2.0
// RegionMax: the largest element of each region and its place in the plane. Regions are the
// products of ranges along the last axes: output i of axis d sees begins[i], begins[i] +
// dilation[d] ... below ends[i]. Windows of any kind, of fixed sizes or adaptive ones, are such
// ranges. NaN is the largest.
#include <cmath>

#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops::pool {

namespace {

struct Regions {
  std::vector<int64_t> in, out, dilation;
  std::vector<std::vector<int64_t>> begin, end;  // by axis
  int64_t planes = 1, in_plane = 1, out_plane = 1;
};

Result<Regions> regions_of(const OpContext& context) {
  Regions r;
  const Shape& x = context.inputs[0].shape;
  r.out = context.ints_attr("sizes");
  r.dilation = context.ints_attr("dilations");
  const auto begins = context.ints_attr("begins"), ends = context.ints_attr("ends");
  const size_t axes = r.out.size();
  int64_t total = 0;
  for (int64_t size : r.out) total += size;
  if (axes == 0 || axes > x.size() || r.dilation.size() != axes ||
      static_cast<int64_t>(begins.size()) != total || ends.size() != begins.size()) {
    return fail(Code::invalid_argument, "{}: {} axes, {} begins and {} ends for sizes {}",
                context.label(), axes, begins.size(), ends.size(), r.out);
  }
  size_t at = 0;
  for (size_t d = 0; d < x.size(); ++d) {
    if (d < x.size() - axes) {
      r.planes *= x[d];
      continue;
    }
    const size_t axis = d - (x.size() - axes);
    r.in.push_back(x[d]);
    r.in_plane *= x[d];
    r.out_plane *= r.out[axis];
    auto& begin = r.begin.emplace_back();
    auto& end = r.end.emplace_back();
    for (int64_t i = 0; i < r.out[axis]; ++i, ++at) {
      begin.push_back(begins[at]);
      end.push_back(ends[at]);
      if (begins[at] < 0 || ends[at] > x[d] || begins[at] >= ends[at] || r.dilation[axis] < 1) {
        return fail(Code::invalid_argument, "{}: region {} to {} of an axis of {}", context.label(),
                    begins[at], ends[at], x[d]);
      }
    }
  }
  return r;
}

Status region_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  context.outputs[1].dtype = DType::i64;
  if (!x.fully_known()) return {};
  ANYNPU_ASSIGN(const Regions r, regions_of(context));
  Shape shape(x.shape.begin(), x.shape.end() - static_cast<int64_t>(r.out.size()));
  shape.insert(shape.end(), r.out.begin(), r.out.end());
  for (Operand& output : context.outputs) {
    output.shape = shape;
    output.has_shape = true;
  }
  return {};
}

template <typename T>
struct Best {
  typename Element<T>::Wide value{};
  int64_t place = -1;

  void see(const T* plane, int64_t at) {
    const auto seen = Element<T>::load(plane[at]);
    bool better = place < 0 || seen > value;
    if constexpr (std::is_floating_point_v<decltype(value)>)
      better = better || (std::isnan(seen) && !std::isnan(value));
    if (better) value = seen, place = at;
  }
};

// The axes from `axis` on, at offset `base`.
template <typename T>
void search(const Regions& r, const int64_t* position, size_t axis, int64_t base, const T* plane,
            Best<T>& best) {
  const int64_t begin = r.begin[axis][static_cast<size_t>(position[axis])];
  const int64_t end = r.end[axis][static_cast<size_t>(position[axis])];
  const bool last = axis + 1 == r.in.size();
  for (int64_t i = begin; i < end; i += r.dilation[axis]) {
    const int64_t at = base * r.in[axis] + i;
    if (last) {
      best.see(plane, at);
    } else {
      search(r, position, axis + 1, at, plane, best);
    }
  }
}

PlanResult plan_regions(const OpContext& context) {
  ANYNPU_ASSIGN(const Regions r, regions_of(context));
  std::unique_ptr<KernelPlan> plan;
  visit_numbers(context.inputs[0].dtype, [&](auto element) {
    using T = decltype(element);
    plan = make_plan([r](const RunArgs& args) {
      parallel(static_cast<size_t>(r.planes * r.out_plane), 256, [&](size_t begin, size_t end) {
        std::vector<int64_t> position(r.out.size());
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          int64_t rest = i % r.out_plane;
          for (size_t d = r.out.size(); d-- > 0; rest /= r.out[d]) position[d] = rest % r.out[d];
          const T* plane = input_of<T>(args, 0) + i / r.out_plane * r.in_plane;
          Best<T> best;
          search(r, position.data(), 0, 0, plane, best);
          output_of<T>(args, 0)[i] = plane[best.place];
          output_of<int64_t>(args, 1)[i] = best.place;
        }
      });
    });
  });
  if (!plan) return no_kernel_for(context);
  return plan;
}

}  // namespace

void register_region_max(Registry& registry);
void register_region_max(Registry& registry) {
  registry.add(OpSchema{.name = "RegionMax",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}, {"place", "I"}},
                        .types = {{"T", kNumbers}, {"I", {DType::i64}}},
                        .attrs = {{"sizes", AttrKind::ints, {}, true},
                                  {"begins", AttrKind::ints, {}, true},
                                  {"ends", AttrKind::ints, {}, true},
                                  {"dilations", AttrKind::ints, {}, true}},
                        .traits = OpTraits::linear(),
                        .shape = region_rule});
  registry.add(KernelDef{.op = "RegionMax",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kNumbers,
                         .create = create_plain<plan_regions>});
}

}  // namespace anynpu::ops::pool
