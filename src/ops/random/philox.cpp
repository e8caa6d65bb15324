// SPDX-License-Identifier: Apache-2.0
// PhiloxUniform: numbers of [0, 1) from seed and offset, which a run brings: the counter-based
// generator Philox4x32-10. Element i depends on seed, offset and i alone. PackBits and UnpackBits:
// truth values in the bits of bytes, the lowest first, as masks of dropout are kept.
#include <array>
#include <cstdint>

#include "base/align.h"
#include "ops/parallel.h"
#include "ops/random/random.h"
#include "ops/registry.h"

namespace anynpu::ops::random {

namespace {

using Words = std::array<uint32_t, 4>;

Words philox(Words counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

Status uniform_rule(OpContext& context) {
  context.outputs[0].dtype = DType::f32;
  context.outputs[0].shape = context.ints_attr("shape");
  context.outputs[0].has_shape = true;
  return {};
}

PlanResult plan_uniform(const OpContext& context) {
  const auto count = static_cast<size_t>(element_count(context.outputs[0].shape));
  return make_plan([=](const RunArgs& args) {
    const auto seed = static_cast<uint64_t>(*input_of<int64_t>(args, 0));
    const auto offset = static_cast<uint64_t>(*input_of<int64_t>(args, 1));
    auto* y = output_of<float>(args, 0);
    parallel(ceil_div<size_t>(count, 4), 2048, [&](size_t begin, size_t end) {
      for (size_t block = begin; block < end; ++block) {
        const Words words =
            philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                    static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32)},
                   {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
        for (size_t i = 0; i < 4 && block * 4 + i < count; ++i)
          y[block * 4 + i] = static_cast<float>(words[i] >> 8) * 0x1p-24f;
      }
    });
  });
}

Status pack_rule(OpContext& context) {
  context.outputs[0].dtype = DType::u8;
  if (!context.inputs[0].fully_known()) return {};
  context.outputs[0].shape = {ceil_div<int64_t>(element_count(context.inputs[0].shape), 8)};
  context.outputs[0].has_shape = true;
  return {};
}

PlanResult plan_pack(const OpContext& context) {
  const auto count = static_cast<size_t>(element_count(context.inputs[0].shape));
  return make_plan([=](const RunArgs& args) {
    const auto* x = input_of<uint8_t>(args, 0);
    auto* y = output_of<uint8_t>(args, 0);
    parallel(ceil_div<size_t>(count, 8), 4096, [&](size_t begin, size_t end) {
      for (size_t byte = begin; byte < end; ++byte) {
        unsigned bits = 0;
        for (size_t i = 0; i < 8 && byte * 8 + i < count; ++i)
          bits |= (x[byte * 8 + i] != 0 ? 1u : 0u) << i;
        y[byte] = static_cast<uint8_t>(bits);
      }
    });
  });
}

Status unpack_rule(OpContext& context) {
  const int64_t count = context.int_attr("count");
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = DType::boolean;
  context.outputs[0].shape = {count};
  context.outputs[0].has_shape = true;
  if (count >= 0 && (!x.fully_known() || count <= 8 * element_count(x.shape))) return {};
  return fail(Code::shape_mismatch, "{}: {} bits are taken from {} bytes", context.label(), count,
              element_count(x.shape));
}

PlanResult plan_unpack(const OpContext& context) {
  const auto count = static_cast<size_t>(context.int_attr("count"));
  return make_plan([=](const RunArgs& args) {
    const auto* x = input_of<uint8_t>(args, 0);
    auto* y = output_of<uint8_t>(args, 0);
    parallel(count, 32768, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) y[i] = static_cast<uint8_t>(x[i / 8] >> i % 8 & 1);
    });
  });
}

}  // namespace

void register_philox(Registry& registry) {
  registry.add(OpSchema{.name = "PhiloxUniform",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"seed", "I"}, {"offset", "I"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"I", {DType::i64}}, {"T", {DType::f32}}},
                        .attrs = {{"shape", AttrKind::ints, {}, true}},
                        .traits = OpTraits::general().with(PrecisionClass::fixed),
                        .shape = uniform_rule});
  registry.add(KernelDef{.op = "PhiloxUniform",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = {DType::i64},
                         .create = create_plain<plan_uniform>});
  registry.add(OpSchema{.name = "PackBits",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "B"}},
                        .outputs = {{"Y", "U"}},
                        .types = {{"B", {DType::boolean}}, {"U", {DType::u8}}},
                        .traits = OpTraits::linear().with(PrecisionClass::fixed),
                        .shape = pack_rule});
  registry.add(KernelDef{.op = "PackBits",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = {DType::boolean},
                         .create = create_plain<plan_pack>});
  registry.add(OpSchema{.name = "UnpackBits",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "U"}},
                        .outputs = {{"Y", "B"}},
                        .types = {{"B", {DType::boolean}}, {"U", {DType::u8}}},
                        .attrs = {{"count", AttrKind::i, {}, true}},
                        .traits = OpTraits::linear().with(PrecisionClass::fixed),
                        .shape = unpack_rule});
  registry.add(KernelDef{.op = "UnpackBits",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = {DType::u8},
                         .create = create_plain<plan_unpack>});
}

}  // namespace anynpu::ops::random
