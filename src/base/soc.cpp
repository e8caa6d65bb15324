// SPDX-License-Identifier: Apache-2.0
#include "base/soc.h"

#include <algorithm>
#include <array>

#include "base/env.h"
#include "base/log.h"
#include "base/text.h"

namespace anynpu {

namespace {

constexpr std::array kNames = {
    std::string_view("Ascend310"),         std::string_view("Ascend310P1"),
    std::string_view("Ascend310P2"),       std::string_view("Ascend310P3"),
    std::string_view("Ascend310P4"),       std::string_view("Ascend310P5"),
    std::string_view("Ascend310P7"),       std::string_view("Ascend310B1"),
    std::string_view("Ascend310B2"),       std::string_view("Ascend310B3"),
    std::string_view("Ascend310B4"),       std::string_view("Ascend610"),
    std::string_view("Ascend615"),         std::string_view("Ascend910"),
    std::string_view("Ascend910A"),        std::string_view("Ascend910B"),
    std::string_view("Ascend910ProA"),     std::string_view("Ascend910ProB"),
    std::string_view("Ascend910PremiumA"), std::string_view("Ascend910B1"),
    std::string_view("Ascend910B2"),       std::string_view("Ascend910B2C"),
    std::string_view("Ascend910B3"),       std::string_view("Ascend910B4"),
    std::string_view("Ascend910B4-1"),     std::string_view("Ascend910_9362"),
    std::string_view("Ascend910_9372"),    std::string_view("Ascend910_9381"),
    std::string_view("Ascend910_9382"),    std::string_view("Ascend910_9391"),
    std::string_view("Ascend910_9392"),    std::string_view("Ascend950PR_9599"),
};

constexpr std::string_view kDefault = "Ascend310P3";

}  // namespace

std::span<const std::string_view> soc_names() { return kNames; }

bool is_soc_name(std::string_view name) { return contains(kNames, name); }

Status check_soc_name(std::string_view name) {
  if (is_soc_name(name)) return {};
  std::string list;
  for (std::string_view known : kNames) list.append(list.empty() ? "" : ", ").append(known);
  return fail(Code::invalid_argument,
              "the chip name is '{}'; expected 'Ascend' + the Name of npu-smi info, one of: {}",
              name, list);
}

bool runs_shape_ranges(std::string_view name) {
  return name != "Ascend310" && !name.starts_with("Ascend310B");
}

bool builds_operators_beforehand(std::string_view name) {
  for (std::string_view first : {"Ascend910B", "Ascend910_93", "Ascend950"}) {
    if (name != "Ascend910B" && name.starts_with(first)) return true;
  }
  return false;
}

std::string_view soc_name() {
  static const std::string_view name = [] {
    const std::string wanted = env::text(env::Name::soc);
    for (std::string_view known : kNames) {
      if (known == wanted) return known;
    }
    ANYNPU_LOG(warning, "ANYNPU_SOC: {}; {} is used", check_soc_name(wanted).message(), kDefault);
    return kDefault;
  }();
  return name;
}

}  // namespace anynpu
