// SPDX-License-Identifier: Apache-2.0
#include "service/op/compile_options.h"

#include <array>
#include <iterator>
#include <mutex>
#include <string_view>

#include "base/soc.h"
#include "service/check_pointer.h"
#include "service/finalize.h"

namespace anynpu::service {

namespace {

constexpr size_t kOptions = 17;

struct Option {
  std::string_view name;
  std::string_view allowed;  // words between spaces; empty: any text
};

// In the order of the interface.
constexpr Option kOptionTable[] = {
    {"ACL_PRECISION_MODE",
     "force_fp32 cube_fp16in_fp32out allow_fp32_to_fp16 must_keep_origin_dtype force_fp16 "
     "allow_mix_precision allow_mix_precision_fp16 allow_mix_precision_bf16"},
    {"ACL_AICORE_NUM", ""},
    {"ACL_AUTO_TUNE_MODE", "RL GA RL,GA"},
    {"ACL_OP_SELECT_IMPL_MODE",
     "high_precision high_performance high_precision_for_all high_performance_for_all"},
    {"ACL_OPTYPELIST_FOR_IMPLMODE", ""},
    {"ACL_OP_DEBUG_LEVEL", "0 1 2 3 4"},
    {"ACL_DEBUG_DIR", ""},
    {"ACL_OP_COMPILER_CACHE_MODE", "enable disable force"},
    {"ACL_OP_COMPILER_CACHE_DIR", ""},
    {"ACL_OP_PERFORMANCE_MODE", "normal high"},
    {"ACL_OP_JIT_COMPILE", "enable disable"},
    {"ACL_OP_DETERMINISTIC", "0 1"},
    {"ACL_CUSTOMIZE_DTYPES", ""},
    {"ACL_OP_PRECISION_MODE", ""},
    // Two digits: convolutions and matrix products. Both stay float32 here.
    {"ACL_ALLOW_HF32", "0 1 true false 00 01 10 11"},
    {"ACL_PRECISION_MODE_V2",
     "fp16 origin cube_fp16in_fp32out mixed_float16 mixed_bfloat16 mixed_hif8 cube_hif8"},
    {"ACL_OP_DEBUG_OPTION", ""},
};
static_assert(std::size(kOptionTable) == kOptions);

constexpr int kJitCompile = 10;

// What an option is before a program sets it. Chips since 910B run operators as they were built.
std::optional<std::string> initial_value(int opt) {
  if (opt != kJitCompile) return std::nullopt;
  return builds_operators_beforehand(soc_name()) ? "disable" : "enable";
}

struct Values {
  std::mutex mutex;
  std::array<std::optional<std::string>, kOptions> list;
};

Values& values() {
  static auto* v = new Values;
  return *v;
}

void forget_values() {
  std::lock_guard lock(values().mutex);
  values().list = {};
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = words.find(' ');
    if (words.substr(0, end) == word) return true;
    if (end == std::string_view::npos) return false;
    words.remove_prefix(end + 1);
  }
  return false;
}

Status check_option(int opt) {
  if (opt >= 0 && opt < static_cast<int>(kOptions)) return {};
  return fail(Code::invalid_argument, "compile option {} does not exist; expected 0 to {}", opt,
              kOptions - 1);
}

}  // namespace

std::optional<std::string> compile_option(int opt) {
  if (!check_option(opt).ok()) return std::nullopt;
  {
    std::lock_guard lock(values().mutex);
    if (const auto& value = values().list[static_cast<size_t>(opt)]) return value;
  }
  return initial_value(opt);
}

Status set_compile_option(int opt, const char* value) {
  ANYNPU_TRY(check_option(opt));
  ANYNPU_TRY(check_pointer(value, "value"));
  const Option& option = kOptionTable[opt];
  const bool cleared = *value == '\0';  // the usual way to say "as the compiler likes"
  if (!cleared && !option.allowed.empty() && !has_word(option.allowed, value)) {
    return fail(Code::invalid_argument, "{} is '{}'; expected one of: {}", option.name, value,
                option.allowed);
  }
  on_finalize(forget_values);
  std::lock_guard lock(values().mutex);
  values().list[static_cast<size_t>(opt)] = value;
  return {};
}

Result<std::string> need_compile_option(int opt) {
  ANYNPU_TRY(check_option(opt));
  if (auto value = compile_option(opt)) return *value;
  return fail(Code::not_found, "{} was not set; call aclSetCompileopt first",
              kOptionTable[opt].name);
}

Status copy_compile_option(int opt, char* value, size_t length) {
  ANYNPU_ASSIGN(const std::string text, need_compile_option(opt));
  if (length < text.size() + 1) {
    return fail(Code::invalid_argument,
                "length is {}; expected at least {}, see aclGetCompileoptSize", length,
                text.size() + 1);
  }
  text.copy(value, text.size());
  value[text.size()] = '\0';
  return {};
}

}  // namespace anynpu::service
