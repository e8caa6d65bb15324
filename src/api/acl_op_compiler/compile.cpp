// SPDX-License-Identifier: Apache-2.0
// Compiling single operators in the program. The engine and the path of an operator package say
// nothing here: every operator of the table is compiled for this machine.
#include "api/acl_op_compiler/compile.h"

#include "api/acl/entry.h"
#include "service/op/op_call.h"

namespace anynpu::acl {

Status check_engine(aclopEngineType engine) {
  if (engine >= ACL_ENGINE_SYS && engine <= ACL_ENGINE_VECTOR) return {};
  return fail(Code::invalid_argument, "engineType is {}; expected 0 to 2", engine);
}

namespace {

using namespace service;

// 6.x: system operators; the unregistered ones of an operator package need the vendor's compiler.
Status check_kind(aclopEngineType engine, aclopCompileType kind) {
  ANYNPU_TRY(check_engine(engine));
  if (kind == ACL_COMPILE_SYS) return {};
  if (kind == ACL_COMPILE_UNREGISTERED) {
    return fail(Code::unsupported_feature,
                "compileFlag is ACL_COMPILE_UNREGISTERED, which takes operators from a package of "
                "the vendor's compiler; pass ACL_COMPILE_SYS, or register a kernel with "
                "aclopCreateKernel");
  }
  return fail(Code::invalid_argument, "compileFlag is {}; expected 0 (ACL_COMPILE_SYS)", kind);
}

Status compile_op(const OpArguments& arguments, aclopEngineType engine, aclopCompileType kind) {
  ANYNPU_TRY(check_kind(engine, kind));
  auto op = read_op(arguments);
  if (!op.ok()) return op.status();
  prepare_op_models();
  return op_failure(exec::OpModels::instance().find_or_compile(*op).status());
}

Status run_compiled(const OpArguments& arguments, const OpBuffers& buffers, aclopEngineType engine,
                    aclopCompileType kind, aclrtStream stream) {
  ANYNPU_TRY(check_kind(engine, kind));
  return execute_op(arguments, buffers, Missing::compile, to_handle(stream));
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclopCompile(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                      int numOutputs, const aclTensorDesc* const outputDesc[],
                      const aclopAttr* attr, aclopEngineType engineType,
                      aclopCompileType compileFlag, const char* opPath) {
  return enter(__func__, [&] {
    return compile_op({opType, numInputs, inputDesc, numOutputs, outputDesc, attr}, engineType,
                      compileFlag);
  });
}

aclError aclopCompileAndExecute(const char* opType, int numInputs,
                                const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[],
                                aclDataBuffer* const outputs[], const aclopAttr* attr,
                                aclopEngineType engineType, aclopCompileType compileFlag,
                                const char* opPath, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_compiled({opType, numInputs, inputDesc, numOutputs, outputDesc, attr},
                        {numInputs, inputs, numOutputs, outputs}, engineType, compileFlag, stream);
  });
}

aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                  aclDataBuffer* inputs[], int numOutputs,
                                  aclTensorDesc* outputDesc[], aclDataBuffer* outputs[],
                                  aclopAttr* attr, aclopEngineType engineType,
                                  aclopCompileType compileFlag, const char* opPath,
                                  aclrtStream stream) {
  return enter(__func__, [&] {
    return run_compiled({opType, numInputs, inputDesc, numOutputs, outputDesc, attr},
                        {numInputs, inputs, numOutputs, outputs}, engineType, compileFlag, stream);
  });
}

aclError aclopSetCompileFlag(aclOpCompileFlag flag) {
  return enter(__func__, [&]() -> Status {
    // Static and fuzzy compilation are one here: a plan for new shapes costs microseconds.
    if (flag == ACL_OP_COMPILE_DEFAULT || flag == ACL_OP_COMPILE_FUZZ) return {};
    return fail(Code::invalid_argument, "flag is {}; expected 0 or 1", flag);
  });
}

}  // extern "C"
