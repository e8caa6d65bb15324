/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the options of ge/ge_ir_build.h. docs/clients.md says which have an effect. */
#ifndef GE_GE_API_TYPES_H_
#define GE_GE_API_TYPES_H_

namespace ge {
namespace ir_option {

static const char* const INPUT_FORMAT = "input_format";
static const char* const INPUT_SHAPE = "input_shape";
static const char* const INPUT_SHAPE_RANGE = "input_shape_range";
static const char* const OP_NAME_MAP = "op_name_map";
static const char* const DYNAMIC_BATCH_SIZE = "ge.dynamicBatchSize";
static const char* const DYNAMIC_IMAGE_SIZE = "ge.dynamicImageSize";
static const char* const DYNAMIC_DIMS = "ge.dynamicDims";
static const char* const INSERT_OP_FILE = "ge.insertOpFile";
static const char* const PRECISION_MODE = "ge.exec.precision_mode";
static const char* const PRECISION_MODE_V2 = "ge.exec.precision_mode_v2";
static const char* const OP_PRECISION_MODE = "ge.exec.op_precision_mode";
static const char* const MODIFY_MIXLIST = "ge.exec.modify_mixlist";
static const char* const CUSTOMIZE_DTYPES = "ge.customizeDtypes";
static const char* const EXEC_DISABLE_REUSED_MEMORY = "ge.exec.disableReuseMemory";
static const char* const AUTO_TUNE_MODE = "ge.autoTuneMode";
static const char* const CORE_TYPE = "ge.engineType";
static const char* const SOC_VERSION = "ge.socVersion";
static const char* const ENABLE_SINGLE_STREAM = "ge.enableSingleStream";
static const char* const AICORE_NUM = "ge.aicoreNum";
static const char* const FUSION_SWITCH_FILE = "ge.fusionSwitchFile";
static const char* const ENABLE_SMALL_CHANNEL = "ge.enableSmallChannel";
static const char* const OP_SELECT_IMPL_MODE = "ge.opSelectImplmode";
static const char* const OUTPUT_TYPE = "ge.outputDatatype";
static const char* const OP_DEBUG_LEVEL = "ge.opDebugLevel";
static const char* const DEBUG_DIR = "ge.debugDir";
static const char* const OP_COMPILER_CACHE_DIR = "ge.op_compiler_cache_dir";
static const char* const OP_COMPILER_CACHE_MODE = "ge.op_compiler_cache_mode";
static const char* const BUFFER_OPTIMIZE = "ge.bufferOptimize";
static const char* const ENABLE_COMPRESS_WEIGHT = "ge.enableCompressWeight";
static const char* const COMPRESS_WEIGHT_CONF = "compress_weight_conf";
static const char* const OUT_NODES = "ge.outputNodeName";
static const char* const INPUT_FP16_NODES = "ge.INPUT_NODES_SET_FP16";
static const char* const LOG_LEVEL = "log";
static const char* const OPTYPELIST_FOR_IMPLMODE = "ge.optypelistForImplmode";
static const char* const DETERMINISTIC = "ge.deterministic";
static const char* const MDL_BANK_PATH_FLAG = "ge.mdl_bank_path";
static const char* const OP_BANK_PATH_FLAG = "ge.op_bank_path";
static const char* const OP_BANK_UPDATE_FLAG = "ge.op_bank_update";
static const char* const SPARSITY = "ge.enableSparseMatrixWeight";
static const char* const ALLOW_HF32 = "ge.exec.allow_hf32";

}  // namespace ir_option
}  // namespace ge

#endif
