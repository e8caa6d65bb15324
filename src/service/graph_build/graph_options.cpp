// SPDX-License-Identifier: Apache-2.0
#include "service/graph_build/graph_options.h"

#include <algorithm>
#include <iterator>

#include "base/log.h"
#include "base/nearest_name.h"
#include "base/soc.h"
#include "base/version.h"
#include "compile/option_texts.h"

namespace anynpu::service {

namespace {

struct GraphOption {
  std::string_view name;
  std::string_view atc;  // "": accepted without effect
};

constexpr GraphOption kGraphOptions[] = {
    // What the compiler reads.
    {"input_format", "input_format"},
    {"input_shape", "input_shape"},
    {"ge.inputShape", "input_shape"},
    {"input_shape_range", "input_shape_range"},
    {"ge.dynamicBatchSize", "dynamic_batch_size"},
    {"ge.dynamicImageSize", "dynamic_image_size"},
    {"ge.dynamicDims", "dynamic_dims"},
    {"ge.insertOpFile", "insert_op_conf"},
    {"ge.outputNodeName", "out_nodes"},
    {"out_nodes", "out_nodes"},
    {"ge.outputDatatype", "output_type"},
    {"output_type", "output_type"},
    {"ge.INPUT_NODES_SET_FP16", "input_fp16_nodes"},
    {"input_fp16_nodes", "input_fp16_nodes"},
    {"is_input_adjust_hw_layout", "is_input_adjust_hw_layout"},
    {"is_output_adjust_hw_layout", "is_output_adjust_hw_layout"},
    {"ge.exec.precision_mode", "precision_mode"},
    {"ge.exec.precision_mode_v2", "precision_mode_v2"},
    {"ge.exec.modify_mixlist", "modify_mixlist"},
    {"ge.customizeDtypes", "customize_dtypes"},
    {"ge.fusionSwitchFile", "fusion_switch_file"},
    {"ge.socVersion", "soc_version"},
    // What steers the card and its tools.
    {"compress_weight_conf", ""},
    {"enable_scope_fusion_passes", ""},
    {"ge.aicoreNum", ""},
    {"ge.autoTuneMode", ""},
    {"ge.bufferOptimize", ""},
    {"ge.debugDir", ""},
    {"ge.deterministic", ""},
    {"ge.enableCompressWeight", ""},
    {"ge.enableSingleStream", ""},
    {"ge.enableSmallChannel", ""},
    {"ge.enableSparseMatrixWeight", ""},
    {"ge.engineType", ""},
    {"ge.exec.allow_hf32", ""},
    {"ge.exec.atomicCleanPolicy", ""},
    {"ge.exec.disableReuseMemory", ""},
    {"ge.exec.op_precision_mode", ""},
    {"ge.exec.staticMemoryPolicy", ""},
    {"ge.jit_compile", ""},
    {"ge.mdl_bank_path", ""},
    {"ge.oo.constantFolding", ""},
    {"ge.oo.deadCodeElimination", ""},
    {"ge.oo.level", ""},
    {"ge.opDebugLevel", ""},
    {"ge.opSelectImplmode", ""},
    {"ge.op_bank_path", ""},
    {"ge.op_bank_update", ""},
    {"ge.op_compiler_cache_dir", ""},
    {"ge.op_compiler_cache_mode", ""},
    {"ge.optimizationSwitch", ""},
    {"ge.optypelistForImplmode", ""},
    {"ge.quant_dumpable", ""},
    {"ge.shape_generalized_build_mode", ""},
    {"ge.tiling_schedule_optimize", ""},
    {"ge.virtual_type", ""},
    {"log", ""},
    {"op_debug_config", ""},
    {"op_name_map", ""},
    {"output", ""},
};

const GraphOption* find_option(std::string_view name) {
  const auto* found = std::find_if(std::begin(kGraphOptions), std::end(kGraphOptions),
                                   [&](const GraphOption& option) { return option.name == name; });
  return found == std::end(kGraphOptions) ? nullptr : found;
}

Status unknown_option(const std::string& name) {
  std::vector<std::string_view> names;
  for (const GraphOption& option : kGraphOptions) names.push_back(option.name);
  const std::string_view near = nearest_name(names, name);
  return fail(Code::invalid_argument, "there is no option '{}'{}; ge/ge_api_types.h names them",
              name, near.empty() ? "" : format(", did you mean '{}'", near));
}

// Under the names of atc. An empty value is an option that was not given.
Result<GraphOptions> atc_options(const GraphOptions& options) {
  GraphOptions given;
  for (const auto& [name, value] : options) {
    const GraphOption* option = find_option(name);
    if (!option) return unknown_option(name);
    if (option->atc.empty()) {
      ANYNPU_LOG(info, "the option {}={} changes nothing here", name, value);
    } else if (!value.empty()) {
      given[std::string(option->atc)] = value;
    }
  }
  return given;
}

std::string default_of(std::string_view option) {
  if (option == "input_format") return "NCHW";
  if (option == "precision_mode_v2") return "origin";
  return option == "is_weight_clip" ? "1" : "";
}

}  // namespace

Result<compile::Options> read_graph_options(const GraphOptions& options) {
  ANYNPU_ASSIGN(const GraphOptions given, atc_options(options));
  const compile::OptionTexts texts = {
      [&given](std::string_view name) {
        const auto found = given.find(std::string(name));
        return found == given.end() ? default_of(name) : found->second;
      },
      [&given](std::string_view name) { return given.contains(std::string(name)); }};
  compile::Options read;
  ANYNPU_TRY(compile::read_model_options(texts, false, read));
  read.soc_version = texts.has("soc_version") ? texts.get("soc_version") : std::string(soc_name());
  ANYNPU_TRY(check_soc_name(read.soc_version), "in ge.socVersion");
  read.producer = format("AnyNPU {}", kVersion);
  read.given.assign(given.begin(), given.end());
  return read;
}

}  // namespace anynpu::service
