// SPDX-License-Identifier: Apache-2.0
#include "npc/parameters.h"

#include <string>

#include "base/format.h"
#include "npc/cluster.h"
#include "npc/debug_info.h"
#include "npc/float_ops.h"
#include "npc/image.h"

namespace anynpu::npc {

namespace {

using Parameter = DebugInfo::Parameter;

const DebugInfo::Function* signature(const Image& image, const LaunchRequest& request) {
  const auto* function = image.debug_info().function(image.kernel_symbol(request.kernel));
  return function && !function->variadic ? function : nullptr;
}

std::string kind_of(const Parameter& p) {
  switch (p.kind) {
    case Parameter::pointer:
      return "a pointer";
    case Parameter::boolean:
      return "a bool";
    case Parameter::floating:
      return p.bytes == 2 ? "a __fp16" : "a float";
    default:
      return format("{} integer of {} bytes", p.is_signed ? "a signed" : "an unsigned", p.bytes);
  }
}

std::string kind_of(Given given, uint32_t word) {
  switch (given) {
    case Given::single:
      return "a float of 4 bytes";
    case Given::half:
      return "a float of 2 bytes";
    case Given::pointer:
      return "device memory";
    default:
      return format("the integer {}", static_cast<int32_t>(word));
  }
}

template <typename Format>
bool normal_or_zero(uint32_t bits) {
  const uint32_t exponent = bits & Format::kInfinity;
  const uint32_t fraction = bits & ~(Format::kInfinity | Format::kSign);
  return fraction == 0 || (exponent != 0 && exponent != Format::kInfinity);
}

bool fits(const Parameter& p, uint32_t word) {  // an integer
  if (p.kind == Parameter::boolean) return word <= 1;
  if (p.kind == Parameter::floating) {
    return p.bytes == 2 ? word <= 0xffff && normal_or_zero<Half>(word)
                        : normal_or_zero<Single>(word);
  }
  if (p.bytes == 0 || p.bytes >= 4) return true;
  const int64_t values = int64_t{1} << (8 * p.bytes);
  const auto value = static_cast<int32_t>(word);
  return value >= -values / 2 && value < values;
}

bool takes(const Parameter& p, Given given, uint32_t word) {
  if (p.kind == Parameter::unknown || given == Given::plain) return true;
  switch (given) {
    case Given::single:
      return p.kind == Parameter::floating && p.bytes == 4;
    case Given::half:
      return p.kind == Parameter::floating && p.bytes == 2;
    case Given::pointer:
      return p.kind == Parameter::pointer || (p.kind == Parameter::integer && p.bytes == 4);
    default:
      return fits(p, word);
  }
}

Given given_at(const LaunchRequest& request, size_t index) {
  return index < request.given.size() ? request.given[index] : Given::plain;
}

}  // namespace

Status check_parameters(const Image& image, const LaunchRequest& request) {
  const DebugInfo::Function* function = signature(image, request);
  if (!function) return {};
  for (const Parameter& p : function->parameters) {
    if (p.bytes > 4) {
      return fail(Code::invalid_argument,
                  "launch: parameter '{}' of kernel '{}' has {} bytes, a kernel's have at most 4; "
                  "pass a pointer",
                  p.name, request.kernel, p.bytes);
    }
  }
  if (function->parameters.size() != request.args.size()) {
    return fail(Code::invalid_argument,
                "launch: kernel '{}' takes {} parameters, {} were given; pass one value for each",
                request.kernel, function->parameters.size(), request.args.size());
  }
  for (size_t i = 0; i < request.args.size(); ++i) {
    const Parameter& p = function->parameters[i];
    const Given given = given_at(request, i);
    if (takes(p, given, request.args[i])) continue;
    return fail(Code::invalid_argument,
                "launch: parameter {} ('{}') of kernel '{}' is {}, {} was given; pass a value of "
                "its type",
                i, p.name, request.kernel, kind_of(p), kind_of(given, request.args[i]));
  }
  return {};
}

std::vector<uint32_t> fitted_parameters(const Image& image, const LaunchRequest& request) {
  std::vector<uint32_t> words = request.args;
  if (request.given.empty()) return words;
  const DebugInfo::Function* function = signature(image, request);
  if (!function || function->parameters.size() != words.size()) return words;
  for (size_t i = 0; i < words.size(); ++i) {
    const Parameter& p = function->parameters[i];
    if (p.kind != Parameter::integer || p.bytes == 0 || p.bytes >= 4) continue;
    if (given_at(request, i) != Given::integer) continue;
    const uint32_t unused = 32 - 8 * p.bytes;
    words[i] = p.is_signed
                   ? static_cast<uint32_t>(static_cast<int32_t>(words[i] << unused) >> unused)
                   : words[i] << unused >> unused;
  }
  return words;
}

}  // namespace anynpu::npc
