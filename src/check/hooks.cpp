// SPDX-License-Identifier: Apache-2.0
#include "check/hooks.h"

#include <unordered_map>

namespace anynpu::check {

namespace {

const std::unordered_map<std::string_view, Hooks>& table() {
  static const auto* map = new std::unordered_map<std::string_view, Hooks>{
      {"aclrtMemcpy", {before_memcpy, nullptr}},
      {"aclrtMemcpyAsync", {before_memcpy_async, after_memcpy_async}},
      {"aclrtMemcpyAsyncWithCondition", {before_memcpy_async, after_memcpy_async}},
      {"aclrtMemcpy2d", {before_memcpy_2d, nullptr}},
      {"aclrtMemcpy2dAsync", {nullptr, after_memcpy_2d_async}},
      {"aclrtMemset", {before_memset, nullptr}},
      {"aclrtMemsetAsync", {nullptr, after_memset_async}},
      {"aclrtReduceAsync", {nullptr, after_reduce_async}},
      {"aclrtMemcpyBatch", {before_batch, after_batch}},
      {"aclrtMemcpyBatchAsync", {before_batch, after_batch_async}},
      {"aclrtFree", {before_free, nullptr}},
      {"aclrtFreeHost", {before_free, nullptr}},
      {"acldvppFree", {before_free, nullptr}},
      {"hi_mpi_dvpp_free", {before_free, nullptr}},
      {"aclCreateDataBuffer", {nullptr, after_create_buffer}},
      {"aclUpdateDataBuffer", {nullptr, after_update_buffer}},
      {"aclmdlExecute", {before_execute, nullptr}},
      {"aclmdlExecuteAsync", {nullptr, after_execute_async}},
      {"aclmdlExecuteAsyncV2", {nullptr, after_execute_async}},
      {"aclmdlExecuteV2", {nullptr, after_execute_and_wait}},
      {"aclopExecute", {nullptr, after_op_execute}},
      {"aclopExecuteV2", {nullptr, after_op_execute}},
      {"aclopCompileAndExecute", {nullptr, after_op_compile_and_execute}},
      {"aclopCompileAndExecuteV2", {nullptr, after_op_compile_and_execute}},
      {"aclopExecWithHandle", {nullptr, after_op_execute_handle}},
      {"aclopCast", {nullptr, after_op_cast}},
      {"aclblasGemmEx", {nullptr, after_gemm_ex}},
      {"aclblasHgemm", {nullptr, after_gemm_half}},
      {"aclblasS8gemm", {nullptr, after_gemm_int8}},
      {"aclblasGemvEx", {nullptr, after_gemv_ex}},
      {"acldvppVpcResizeAsync", {nullptr, after_picture_to_picture}},
      {"acldvppVpcCropAsync", {nullptr, after_picture_to_picture}},
      {"acldvppVpcCropResizeAsync", {nullptr, after_picture_to_picture}},
      {"acldvppVpcCropAndPasteAsync", {nullptr, after_picture_to_picture}},
      {"acldvppVpcCropResizePasteAsync", {nullptr, after_picture_to_picture}},
      {"acldvppVpcConvertColorAsync", {nullptr, after_picture_to_picture}},
      {"acldvppVpcEqualizeHistAsync", {nullptr, after_picture_to_picture}},
      {"acldvppVpcMakeBorderAsync", {nullptr, after_picture_to_picture}},
      {"acldvppVpcPyrDownAsync", {nullptr, after_picture_to_picture}},
      {"acldvppVpcBatchCropAsync", {nullptr, after_batch_pictures}},
      {"acldvppVpcBatchCropResizeAsync", {nullptr, after_batch_pictures}},
      {"acldvppVpcBatchCropAndPasteAsync", {nullptr, after_batch_pictures}},
      {"acldvppVpcBatchCropResizePasteAsync", {nullptr, after_batch_pictures}},
      {"acldvppVpcBatchCropResizeMakeBorderAsync", {nullptr, after_batch_pictures}},
      {"acldvppJpegDecodeAsync", {nullptr, after_decode}},
      {"acldvppPngDecodeAsync", {nullptr, after_decode}},
      {"acldvppJpegEncodeAsync", {nullptr, after_encode}},
      {"hi_mpi_vpc_resize", {before_two_pictures, nullptr}},
      {"hi_mpi_vpc_convert_color", {before_two_pictures, nullptr}},
      {"hi_mpi_vpc_convert_color_v2", {before_two_pictures, nullptr}},
      {"hi_mpi_vpc_convert_color_to_yuv420", {before_two_pictures, nullptr}},
      {"hi_mpi_vpc_copy_make_border", {before_two_pictures, nullptr}},
      {"hi_mpi_vpc_equalize_hist", {before_two_pictures, nullptr}},
      {"hi_mpi_vpc_crop", {before_picture, nullptr}},
      {"hi_mpi_vpc_crop_resize", {before_picture, nullptr}},
      {"hi_mpi_vpc_crop_resize_make_border", {before_picture, nullptr}},
      {"hi_mpi_vpc_crop_resize_paste", {before_picture, nullptr}},
      {"hi_mpi_vpc_calc_hist", {before_picture, nullptr}},
      {"hi_mpi_vpc_pyrdown", {before_picture, nullptr}},
      {"aclmdlSetDynamicBatchSize", {nullptr, after_set_input}},
      {"aclmdlSetDynamicHWSize", {nullptr, after_set_input}},
      {"aclmdlSetInputDynamicDims", {nullptr, after_set_input}},
      {"aclmdlSetInputAIPP", {nullptr, after_set_input}},
      {"aclmdlSetAIPPByInputIndex", {nullptr, after_set_input}},
      {"aclrtLaunchKernel", {before_launch, after_launch_kernel}},
      {"aclrtLaunchKernelWithConfig", {before_launch, after_launch_kernel_with}},
      {"aclrtLaunchKernelWithHostArgs", {before_launch, after_launch_kernel_with}},
      {"aclrtSynchronizeStream", {nullptr, after_synchronize_stream}},
      {"aclrtSynchronizeStreamWithTimeout",
       {before_synchronize_with_timeout, after_synchronize_stream}},
      {"aclrtSynchronizeDevice", {nullptr, after_synchronize_device}},
      {"aclrtSynchronizeDeviceWithTimeout",
       {before_synchronize_device_with_timeout, after_synchronize_device}},
      {"aclrtSynchronizeEvent", {nullptr, after_synchronize_event}},
      {"aclrtSynchronizeEventWithTimeout",
       {before_synchronize_with_timeout, after_synchronize_event}},
      {"aclrtStreamQuery", {nullptr, after_query_stream}},
      {"aclrtQueryEvent", {nullptr, after_query_event}},
      {"aclrtQueryEventWaitStatus", {nullptr, after_query_event}},
      {"aclrtQueryEventStatus", {nullptr, after_query_event_status}},
      {"aclrtRecordEvent", {nullptr, after_record}},
      {"aclrtRecordNotify", {nullptr, after_record}},
      {"aclrtStreamWaitEvent", {nullptr, after_wait_event}},
      {"aclrtWaitAndResetNotify", {nullptr, after_wait_notify}},
      {"aclrtDestroyStream", {before_destroy_stream, nullptr}},
      {"aclrtDestroyStreamForce", {before_destroy_stream, nullptr}},
      {"aclrtStreamAbort", {before_destroy_stream, nullptr}},
      {"aclrtValueWait", {nullptr, after_value_wait}},
      {"aclrtHostRegister", {before_host_register, nullptr}},
      {"aclrtHostRegisterV2", {before_host_register, nullptr}},
      {"aclrtReserveMemAddress", {before_reserve_address, nullptr}},
      {"aclrtIpcMemGetExportKey", {before_export_key, nullptr}},
      {"aclrtDeviceCanAccessPeer", {before_can_access_peer, nullptr}},
  };
  return *map;
}

}  // namespace

Hooks hooks_of(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? Hooks() : found->second;
}

}  // namespace anynpu::check
