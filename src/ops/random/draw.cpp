// SPDX-License-Identifier: Apache-2.0
// Draw (domain anynpu): random numbers whose seed and offset come with each run, as the generators of
// frameworks have them. Element i is a function of seed, offset and i alone: the counter-based
// generator Philox 4x32-10 of Salmon, Moraes, Dror and Shaw.
//
//   kind       a              b                       result
//   uniform    low            high (never reached)    float32
//   normal     mean           standard deviation      float32
//   bernoulli  probability                            float32, 0 or 1
//   integers   lowest         beyond the highest      int64
//   bits       probability                            uint8: eight bits that are 0 with that
//                                                     probability
#include <array>
#include <cmath>

#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/random/draw.h"
#include "ops/registry.h"

namespace anynpu::ops::random {

namespace {

using Words = std::array<uint32_t, 4>;

Words philox(uint64_t key, uint64_t high, uint64_t low) {
  Words c = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
             static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

uint64_t word64(const Words& words, size_t half) {
  return uint64_t{words[2 * half + 1]} << 32 | words[2 * half];
}
// In [0, 1), 53 bits.
double unit(const Words& words, size_t half) {
  return static_cast<double>(word64(words, half) >> 11) * 0x1p-53;
}

enum class Kind { uniform, normal, bernoulli, integers, bits };
constexpr std::string_view kKinds[] = {"uniform", "normal", "bernoulli", "integers", "bits"};

Result<Kind> kind_of(const OpContext& context) {
  const std::string name = context.string_attr("kind");
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (name == kKinds[i]) return static_cast<Kind>(i);
  }
  return fail(Code::invalid_argument,
              "{}: kind is '{}'; expected uniform, normal, bernoulli, integers or bits",
              context.label(), name);
}

Status draw_rule(OpContext& context) {
  ANYNPU_ASSIGN(const Kind kind, kind_of(context));
  const Shape shape = context.ints_attr("shape");
  for (size_t i = 2; i < context.inputs.size(); ++i) {
    const Operand& given = context.inputs[i];
    if (given.fully_known() && element_count(given.shape) != 1 && given.shape != shape) {
      return fail(Code::shape_mismatch, "{}: parameter {} is {}; expected one number or {}",
                  context.label(), i - 2, to_string(given.shape), to_string(shape));
    }
  }
  context.outputs[0].dtype = kind == Kind::integers ? DType::i64
                             : kind == Kind::bits   ? DType::u8
                                                    : DType::f32;
  context.outputs[0].shape = shape;
  context.outputs[0].has_shape = true;
  return {};
}

struct Source {
  uint64_t seed, offset;
  Words words(int64_t index) const { return philox(seed, offset, static_cast<uint64_t>(index)); }
};

double bits_of_byte(const Source& source, int64_t index, double drop) {
  unsigned byte = 0;
  for (int part = 0; part < 4; ++part) {
    const Words words = source.words(4 * index + part);
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned bit = 2 * static_cast<unsigned>(part) + half;
      if (unit(words, half) >= drop) byte |= 1u << bit;
    }
  }
  return byte;
}

double real_draw(Kind kind, const Source& source, int64_t index, double a, double b) {
  if (kind == Kind::bits) return bits_of_byte(source, index, a);
  const Words words = source.words(index);
  if (kind == Kind::uniform) {
    const double value = a + (b - a) * unit(words, 0);
    return static_cast<float>(value) < static_cast<float>(b) || !(a < b) ? value : a;
  }
  if (kind == Kind::bernoulli) return unit(words, 0) < a ? 1 : 0;
  const double radius = std::sqrt(-2 * std::log1p(-unit(words, 0)));
  return a + b * radius * std::cos(2 * M_PI * unit(words, 1));
}

// What a run reads for element i of a parameter that may be one number.
struct Parameter {
  LoadBlock<double> load = nullptr;
  int64_t step = 0;
  double at(const std::byte* data, int64_t index) const {
    double value = 0;
    if (load) load(data, index * step, 1, &value, 1);
    return value;
  }
};

Parameter parameter_of(const OpContext& context, size_t input) {
  if (input >= context.inputs.size() || !context.inputs[input].present) return {};
  const Operand& operand = context.inputs[input];
  return {load_block<double>(operand.dtype), element_count(operand.shape) == 1 ? 0 : 1};
}

PlanResult plan_integers(const OpContext& context) {
  const auto count = static_cast<size_t>(element_count(context.outputs[0].shape));
  const auto store = store_block<int64_t>(context.outputs[0].dtype);
  const DType low = context.inputs[2].dtype, high = context.inputs[3].dtype;
  if (!store) return no_kernel_for(context);
  return make_plan([=](const RunArgs& args) {
    const Source source{static_cast<uint64_t>(*input_of<int64_t>(args, 0)),
                        static_cast<uint64_t>(*input_of<int64_t>(args, 1))};
    const auto from = load_one<int64_t>(low, args.inputs[2]);
    const uint64_t span = static_cast<uint64_t>(load_one<int64_t>(high, args.inputs[3])) -
                          static_cast<uint64_t>(from);
    parallel(count, 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const uint64_t word = word64(source.words(static_cast<int64_t>(i)), 0);
        const uint64_t part = span ? word % span : word;  // 0 stands for 2^64
        const auto value = static_cast<int64_t>(static_cast<uint64_t>(from) + part);
        store(args.outputs[0], static_cast<int64_t>(i), &value, 1);
      }
    });
  });
}

PlanResult plan_draw(const OpContext& context) {
  ANYNPU_ASSIGN(const Kind kind, kind_of(context));
  if (kind == Kind::integers) return plan_integers(context);
  const auto count = static_cast<size_t>(element_count(context.outputs[0].shape));
  const auto store = store_block<double>(context.outputs[0].dtype);
  const Parameter a = parameter_of(context, 2), b = parameter_of(context, 3);
  if (!store) return no_kernel_for(context);
  return make_plan([=](const RunArgs& args) {
    const Source source{static_cast<uint64_t>(*input_of<int64_t>(args, 0)),
                        static_cast<uint64_t>(*input_of<int64_t>(args, 1))};
    parallel(count, 512, [&](size_t begin, size_t end) {
      for (size_t at = begin; at < end; ++at) {
        const auto i = static_cast<int64_t>(at);
        const double first = a.at(args.inputs[2], i);
        const double second = b.load ? b.at(args.inputs[3], i) : 0;
        const double value = real_draw(kind, source, i, first, second);
        store(args.outputs[0], i, &value, 1);
      }
    });
  });
}

}  // namespace

void register_draw(Registry& registry) {
  constexpr DTypeSet kAny = kNumbers | DTypeSet{DType::boolean};
  registry.add(OpSchema{.name = "Draw",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"seed", "I"},
                                   {"offset", "I"},
                                   {"a", "A"},
                                   {"b", "B", Presence::optional}},
                        .outputs = {{"Y", "U"}},
                        .types = {{"I", {DType::i64}}, {"A", kAny}, {"B", kAny}},
                        .attrs = {{"kind", AttrKind::s, std::string_view("uniform")},
                                  {"shape", AttrKind::ints}},
                        .traits = OpTraits::random(),
                        .shape = draw_rule});
  registry.add(KernelDef{.op = "Draw",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = {DType::i64},
                         .create = create_plain<plan_draw>});
}

}  // namespace anynpu::ops::random
