// SPDX-License-Identifier: Apache-2.0
#include "check/lifetime_table.h"

#include <cstdint>
#include <unordered_map>

namespace anynpu::check {

const Kind kDeviceMemory{"device memory", "acl.rt.free", "aclrtFree"};
const Kind kHostMemory{"host memory", "acl.rt.free_host", "aclrtFreeHost"};
const Kind kMediaMemory{"media memory", "acl.media.dvpp_free", "acldvppFree"};
const Kind kPoolMemory{"pool memory", "-", "aclrtMemPoolFreeAsync"};
const Kind kStream{"stream", "acl.rt.destroy_stream", "aclrtDestroyStream"};
const Kind kContext{"context", "acl.rt.destroy_context", "aclrtDestroyContext"};
const Kind kEvent{"event", "acl.rt.destroy_event", "aclrtDestroyEvent"};
const Kind kModel{"model", "acl.mdl.unload", "aclmdlUnload", true};
const Kind kBundle{"bundle", "acl.mdl.bundle_unload", "aclmdlBundleUnload", true};

namespace {

const Kind kCountingNotify{"counting notify", "-", "aclrtCntNotifyDestroy"};
const Kind kCommunicator{"communicator", "-", "HcclCommDestroy"};
const Kind kLabel{"label", "-", "aclrtDestroyLabel"};
const Kind kLabelList{"label list", "-", "aclrtDestroyLabelList"};
const Kind kNotify{"notify", "acl.rt.destroy_notify", "aclrtDestroyNotify"};
const Kind kGroupInfo{"group info", "acl.rt.destroy_group_info", "aclrtDestroyGroupInfo"};
const Kind kAllocator{"allocator desc", "acl.rt.allocator_destroy_desc",
                      "aclrtAllocatorDestroyDesc"};
const Kind kBinary{"binary", "acl.rt.destroy_binary", "aclrtDestroyBinary"};
const Kind kLoadedBinary{"loaded binary", "acl.rt.binary_unload", "aclrtBinaryUnLoad"};
const Kind kStreamConfig{"stream config", "-", "aclrtDestroyStreamConfigHandle"};
const Kind kQueue{"queue", "-", "acltdtDestroyQueue", true};
const Kind kQueueAttr{"queue attr", "-", "acltdtDestroyQueueAttr"};
const Kind kQueueBuffer{"queue buffer", "-", "acltdtFreeBuf"};
const Kind kTensorChannel{"channel", "-", "acltdtDestroyChannel"};
const Kind kChannelItem{"data item", "-", "acltdtDestroyDataItem"};
const Kind kChannelSet{"channel dataset", "-", "acltdtDestroyDataset"};
const Kind kRoute{"queue route", "-", "acltdtDestroyQueueRoute"};
const Kind kRouteList{"queue route list", "-", "acltdtDestroyQueueRouteList"};
const Kind kRouteQuery{"queue route query", "-", "acltdtDestroyQueueRouteQueryInfo"};
const Kind kPool{"memory pool", "-", "aclrtMemPoolDestroy"};
const Kind kReserved{"reserved address", "acl.rt.release_mem_address", "aclrtReleaseMemAddress"};
const Kind kRegistered{"registered memory", "acl.rt.host_unregister", "aclrtHostUnregister"};
const Kind kPhysical{"physical memory", "acl.rt.free_physical", "aclrtFreePhysical"};
const Kind kDataBuffer{"data buffer", "acl.destroy_data_buffer", "aclDestroyDataBuffer"};
const Kind kTensorDesc{"tensor desc", "acl.destroy_tensor_desc", "aclDestroyTensorDesc"};
const Kind kDataset{"dataset", "acl.mdl.destroy_dataset", "aclmdlDestroyDataset"};
const Kind kModelDesc{"model desc", "acl.mdl.destroy_desc", "aclmdlDestroyDesc"};
const Kind kAipp{"aipp", "acl.mdl.destroy_aipp", "aclmdlDestroyAIPP"};
const Kind kModelConfig{"model config", "acl.mdl.destroy_config_handle",
                        "aclmdlDestroyConfigHandle"};
const Kind kExecConfig{"exec config", "acl.mdl.destroy_exec_config_handle",
                       "aclmdlDestroyExecConfigHandle"};
const Kind kOpAttr{"op attr", "acl.op.destroy_attr", "aclopDestroyAttr"};
const Kind kOpHandle{"op handle", "acl.op.destroy_handle", "aclopDestroyHandle"};
const Kind kGraphDumpOpt{"graph dump opt", "acl.op.destroy_graph_dump_opt",
                         "aclDestroyGraphDumpOpt"};
const Kind kProfConfig{"profiling config", "acl.prof.destroy_config", "aclprofDestroyConfig"};
const Kind kStamp{"stamp", "acl.prof.destroy_stamp", "aclprofDestroyStamp"};
const Kind kStepInfo{"step info", "acl.prof.destroy_step_info", "aclprofDestroyStepInfo"};
const Kind kSubscription{"subscribe config", "acl.prof.destroy_subscribe_config",
                         "aclprofDestroySubscribeConfig"};
const Kind kPicDesc{"pic desc", "acl.media.dvpp_destroy_pic_desc", "acldvppDestroyPicDesc"};
const Kind kBatchPicDesc{"batch pic desc", "acl.media.dvpp_destroy_batch_pic_desc",
                         "acldvppDestroyBatchPicDesc"};
const Kind kStreamDesc{"stream desc", "acl.media.dvpp_destroy_stream_desc",
                       "acldvppDestroyStreamDesc"};
const Kind kRoi{"roi config", "acl.media.dvpp_destroy_roi_config", "acldvppDestroyRoiConfig"};
const Kind kResize{"resize config", "acl.media.dvpp_destroy_resize_config",
                   "acldvppDestroyResizeConfig"};
const Kind kJpege{"jpege config", "acl.media.dvpp_destroy_jpege_config",
                  "acldvppDestroyJpegeConfig"};
const Kind kBorder{"border config", "acl.media.dvpp_destroy_border_config",
                   "acldvppDestroyBorderConfig"};
const Kind kLut{"lut map", "acl.media.dvpp_destroy_lut_map", "acldvppDestroyLutMap"};
const Kind kHist{"hist", "acl.media.dvpp_destroy_hist", "acldvppDestroyHist"};
const Kind kChannelDesc{"channel desc", "acl.media.dvpp_destroy_channel_desc",
                        "acldvppDestroyChannelDesc"};
const Kind kChannel{"channel", "acl.media.dvpp_destroy_channel", "acldvppDestroyChannel", true};
const Kind kVdecDesc{"vdec channel desc", "acl.media.vdec_destroy_channel_desc",
                     "aclvdecDestroyChannelDesc"};
const Kind kVdec{"vdec channel", "acl.media.vdec_destroy_channel", "aclvdecDestroyChannel", true};
const Kind kVdecFrame{"vdec frame config", "acl.media.vdec_destroy_frame_config",
                      "aclvdecDestroyFrameConfig"};
const Kind kVencDesc{"venc channel desc", "acl.media.venc_destroy_channel_desc",
                     "aclvencDestroyChannelDesc"};
const Kind kVenc{"venc channel", "acl.media.venc_destroy_channel", "aclvencDestroyChannel", true};
const Kind kVencFrame{"venc frame config", "acl.media.venc_destroy_frame_config",
                      "aclvencDestroyFrameConfig"};
const Kind kHiVpc{"vpc channel", "acl.himpi.vpc_destroy_chn", "hi_mpi_vpc_destroy_chn", true};
const Kind kHiVdec{"himpi vdec channel", "acl.himpi.vdec_destroy_chn", "hi_mpi_vdec_destroy_chn",
                   true};
const Kind kHiVenc{"himpi venc channel", "acl.himpi.venc_destroy_chn", "hi_mpi_venc_destroy_chn",
                   true};
const Kind kHiPngd{"pngd channel", "acl.himpi.pngd_destroy_chn", "hi_mpi_pngd_destroy_chn", true};
const Kind kBlockPool{"block pool", "-", "hi_mpi_vb_destroy_pool", true, UINT32_MAX};
const Kind kBlock{"block", "-", "hi_mpi_vb_release_block", true, UINT32_MAX};
const Kind kWindow{"registered window", "-", "HcclCommDeregister"};
const Kind kRegion{"region", "-", "hi_mpi_rgn_destroy", true};
const Kind kEpoll{"epoll", "acl.himpi.sys_close_epoll", "hi_mpi_sys_close_epoll", true};
const Kind kFvInit{"fv init para", "acl.fv.destroy_init_para", "aclfvDestroyInitPara"};
const Kind kFvFeature{"fv feature info", "acl.fv.destroy_feature_info", "aclfvDestroyFeatureInfo"};
const Kind kFvTable{"fv query table", "acl.fv.destroy_query_table", "aclfvDestroyQueryTable"};
const Kind kFvRange{"fv repo range", "acl.fv.destroy_repo_range", "aclfvDestroyRepoRange"};
const Kind kFvInput{"fv search input", "acl.fv.destroy_search_input", "aclfvDestroySearchInput"};
const Kind kFvResult{"fv search result", "acl.fv.destroy_search_result",
                     "aclfvDestroySearchResult"};

constexpr auto kCreate = LifetimeRow::create;
constexpr auto kDestroy = LifetimeRow::destroy;
constexpr auto kShare = LifetimeRow::share;

const LifetimeRow kTable[] = {
    {"aclrtMalloc", &kDeviceMemory, kCreate, 0, 1},
    {"aclrtMallocAlign32", &kDeviceMemory, kCreate, 0, 1},
    {"aclrtMallocCached", &kDeviceMemory, kCreate, 0, 1},
    {"aclrtMallocWithCfg", &kDeviceMemory, kCreate, 0, 1},
    {"aclrtMallocForTaskScheduler", &kDeviceMemory, kCreate, 0, 1},
    {"aclrtFree", &kDeviceMemory, kDestroy, 0},
    {"aclrtMallocHost", &kHostMemory, kCreate, 0, 1},
    {"aclrtMallocHostWithCfg", &kHostMemory, kCreate, 0, 1},
    {"aclrtFreeHost", &kHostMemory, kDestroy, 0},
    {"acldvppMalloc", &kMediaMemory, kCreate, 0, 1},
    {"acldvppMallocWithCfg", &kMediaMemory, kCreate, 0, 1},
    {"acldvppFree", &kMediaMemory, kDestroy, 0},
    {"hi_mpi_dvpp_malloc", &kMediaMemory, kCreate, 1, 2},
    {"hi_mpi_dvpp_free", &kMediaMemory, kDestroy, 0},
    {"aclrtCreateContext", &kContext, kCreate, 0},
    {"aclrtDestroyContext", &kContext, kDestroy, 0},
    {"aclrtCreateStream", &kStream, kCreate, 0},
    {"aclrtCreateStreamWithConfig", &kStream, kCreate, 0},
    {"aclrtCreateStreamV2", &kStream, kCreate, 0},
    {"aclrtDestroyStream", &kStream, kDestroy, 0},
    {"aclrtDestroyStreamForce", &kStream, kDestroy, 0},
    {"aclrtCreateEvent", &kEvent, kCreate, 0},
    {"aclrtCreateEventWithFlag", &kEvent, kCreate, 0},
    {"aclrtCreateEventExWithFlag", &kEvent, kCreate, 0},
    {"aclrtIpcOpenEventHandle", &kEvent, kCreate, 1},
    {"aclrtDestroyEvent", &kEvent, kDestroy, 0},
    {"aclrtCntNotifyCreate", &kCountingNotify, kCreate, 0},
    {"aclrtCntNotifyDestroy", &kCountingNotify, kDestroy, 0},
    {"HcclCommInitRootInfo", &kCommunicator, kCreate, 3},
    {"HcclCommInitRootInfoConfig", &kCommunicator, kCreate, 4},
    {"HcclCommInitClusterInfo", &kCommunicator, kCreate, 2},
    {"HcclCommInitClusterInfoConfig", &kCommunicator, kCreate, 3},
    {"HcclCreateSubCommConfig", &kCommunicator, kCreate, 6},
    {"HcclCommDestroy", &kCommunicator, kDestroy, 0},
    {"HcclCommRegister", &kWindow, kCreate, 3},
    {"HcclCommDeregister", &kWindow, kDestroy, 1},
    {"aclrtCreateLabel", &kLabel, kCreate, 0},
    {"aclrtDestroyLabel", &kLabel, kDestroy, 0},
    {"aclrtCreateLabelList", &kLabelList, kCreate, 2},
    {"aclrtDestroyLabelList", &kLabelList, kDestroy, 0},
    {"aclrtCreateNotify", &kNotify, kCreate, 0},
    {"aclrtNotifyImportByKey", &kNotify, kCreate, 0},
    {"aclrtDestroyNotify", &kNotify, kDestroy, 0},
    {"aclrtCreateGroupInfo", &kGroupInfo, kCreate, kReturned},
    {"aclrtDestroyGroupInfo", &kGroupInfo, kDestroy, 0},
    {"aclrtAllocatorCreateDesc", &kAllocator, kCreate, kReturned},
    {"aclrtAllocatorDestroyDesc", &kAllocator, kDestroy, 0},
    {"aclrtCreateBinary", &kBinary, kCreate, kReturned},
    {"aclrtDestroyBinary", &kBinary, kDestroy, 0},
    {"aclrtBinaryLoad", &kLoadedBinary, kCreate, 1},
    {"aclrtBinaryLoadFromFile", &kLoadedBinary, kCreate, 2},
    {"aclrtBinaryLoadFromData", &kLoadedBinary, kCreate, 3},
    {"aclrtBinaryUnLoad", &kLoadedBinary, kDestroy, 0},
    {"aclrtCreateStreamConfigHandle", &kStreamConfig, kCreate, kReturned},
    {"aclrtDestroyStreamConfigHandle", &kStreamConfig, kDestroy, 0},
    {"aclrtMallocPhysical", &kPhysical, kCreate, 0},
    {"aclrtMemImportFromShareableHandle", &kPhysical, kCreate, 2},
    {"aclrtReserveMemAddress", &kReserved, kCreate, 0},
    {"aclrtReleaseMemAddress", &kReserved, kDestroy, 0},
    {"aclrtHostRegister", &kRegistered, kCreate, 0, -1, false},
    {"aclrtHostRegisterV2", &kRegistered, kCreate, 0, -1, false},
    {"aclrtHostUnregister", &kRegistered, kDestroy, 0},
    {"aclrtFreePhysical", &kPhysical, kDestroy, 0},
    {"aclCreateDataBuffer", &kDataBuffer, kCreate, kReturned},
    {"aclDestroyDataBuffer", &kDataBuffer, kDestroy, 0},
    {"aclCreateTensorDesc", &kTensorDesc, kCreate, kReturned},
    {"aclDestroyTensorDesc", &kTensorDesc, kDestroy, 0},
    {"aclmdlCreateAndGetOpDesc", &kTensorDesc, kCreate, 5},
    {"aclmdlCreateAndGetOpDesc", &kTensorDesc, kCreate, 7},
    {"aclmdlCreateDataset", &kDataset, kCreate, kReturned},
    {"aclmdlDestroyDataset", &kDataset, kDestroy, 0},
    {"aclmdlCreateDesc", &kModelDesc, kCreate, kReturned},
    {"aclmdlDestroyDesc", &kModelDesc, kDestroy, 0},
    {"aclmdlCreateAIPP", &kAipp, kCreate, kReturned},
    {"aclmdlDestroyAIPP", &kAipp, kDestroy, 0},
    {"aclmdlCreateConfigHandle", &kModelConfig, kCreate, kReturned},
    {"aclmdlDestroyConfigHandle", &kModelConfig, kDestroy, 0},
    {"aclmdlCreateExecConfigHandle", &kExecConfig, kCreate, kReturned},
    {"aclmdlDestroyExecConfigHandle", &kExecConfig, kDestroy, 0},
    {"aclmdlLoadFromFile", &kModel, kCreate, 1},
    {"aclmdlLoadFromFileWithMem", &kModel, kCreate, 1},
    {"aclmdlLoadFromFileWithQ", &kModel, kCreate, 1},
    {"aclmdlLoadFromMem", &kModel, kCreate, 2},
    {"aclmdlLoadFromMemWithMem", &kModel, kCreate, 2},
    {"aclmdlLoadFromMemWithQ", &kModel, kCreate, 2},
    {"aclmdlLoadWithConfig", &kModel, kCreate, 1},
    {"aclmdlUnload", &kModel, kDestroy, 0},
    {"aclmdlBundleLoadFromFile", &kBundle, kCreate, 1},
    {"aclmdlBundleLoadFromMem", &kBundle, kCreate, 2},
    {"aclmdlBundleUnload", &kBundle, kDestroy, 0},
    {"acltdtCreateQueueAttr", &kQueueAttr, kCreate, kReturned},
    {"acltdtDestroyQueueAttr", &kQueueAttr, kDestroy, 0},
    {"acltdtCreateQueue", &kQueue, kCreate, 1},
    {"acltdtDestroyQueue", &kQueue, kDestroy, 0},
    {"acltdtCreateChannel", &kTensorChannel, kCreate, kReturned},
    {"acltdtCreateChannelWithCapacity", &kTensorChannel, kCreate, kReturned},
    {"acltdtDestroyChannel", &kTensorChannel, kDestroy, 0},
    {"acltdtCreateDataItem", &kChannelItem, kCreate, kReturned},
    {"acltdtDestroyDataItem", &kChannelItem, kDestroy, 0},
    {"acltdtCreateDataset", &kChannelSet, kCreate, kReturned},
    {"acltdtDestroyDataset", &kChannelSet, kDestroy, 0},
    {"acltdtCreateQueueRoute", &kRoute, kCreate, kReturned},
    {"acltdtDestroyQueueRoute", &kRoute, kDestroy, 0},
    {"acltdtCreateQueueRouteList", &kRouteList, kCreate, kReturned},
    {"acltdtDestroyQueueRouteList", &kRouteList, kDestroy, 0},
    {"acltdtCreateQueueRouteQueryInfo", &kRouteQuery, kCreate, kReturned},
    {"acltdtDestroyQueueRouteQueryInfo", &kRouteQuery, kDestroy, 0},
    {"aclrtMemPoolCreate", &kPool, kCreate, 0},
    {"aclrtMemPoolDestroy", &kPool, kDestroy, 0},
    {"aclrtMemPoolMallocAsync", &kPoolMemory, kCreate, 0, 1},
    {"aclrtMemPoolFreeAsync", &kPoolMemory, kDestroy, 0},
    {"aclrtMemAllocManaged", &kDeviceMemory, kCreate, 0, 1},
    {"aclrtFreeWithDevSync", &kDeviceMemory, kDestroy, 0},
    {"aclrtFreeHostWithDevSync", &kHostMemory, kDestroy, 0},
    {"aclrtAllocBuf", &kQueueBuffer, kCreate, 0},
    {"aclrtCopyBufRef", &kQueueBuffer, kCreate, 1},
    {"aclrtFreeBuf", &kQueueBuffer, kDestroy, 0},
    {"aclrtReserveMemAddressNoUCMemory", &kReserved, kCreate, 0},
    {"aclrtMemImportFromShareableHandleV2", &kPhysical, kCreate, 3},
    {"aclrtAppendBufChain", &kQueueBuffer, kDestroy, 1},
    {"acltdtAllocBuf", &kQueueBuffer, kCreate, 2},
    {"acltdtCopyBufRef", &kQueueBuffer, kCreate, 1},
    {"acltdtDequeue", &kQueueBuffer, kCreate, 1},
    {"acltdtFreeBuf", &kQueueBuffer, kDestroy, 0},
    // They belong to the queue or to the chain afterwards.
    {"acltdtEnqueue", &kQueueBuffer, kDestroy, 1},
    {"acltdtAppendBufChain", &kQueueBuffer, kDestroy, 1},
    {"aclopCreateAttr", &kOpAttr, kCreate, kReturned},
    {"aclopDestroyAttr", &kOpAttr, kDestroy, 0},
    {"aclopCreateHandle", &kOpHandle, kCreate, 6},
    {"aclopCreateHandleForCast", &kOpHandle, kCreate, 3},
    {"aclblasCreateHandleForGemmEx", &kOpHandle, kCreate, 10},
    {"aclblasCreateHandleForGemvEx", &kOpHandle, kCreate, 7},
    {"aclblasCreateHandleForHgemm", &kOpHandle, kCreate, 7},
    {"aclblasCreateHandleForHgemv", &kOpHandle, kCreate, 4},
    {"aclblasCreateHandleForS8gemm", &kOpHandle, kCreate, 7},
    {"aclblasCreateHandleForS8gemv", &kOpHandle, kCreate, 4},
    {"aclopDestroyHandle", &kOpHandle, kDestroy, 0},
    {"aclCreateGraphDumpOpt", &kGraphDumpOpt, kCreate, kReturned},
    {"aclDestroyGraphDumpOpt", &kGraphDumpOpt, kDestroy, 0},
    {"aclprofCreateConfig", &kProfConfig, kCreate, kReturned},
    {"aclprofDestroyConfig", &kProfConfig, kDestroy, 0},
    {"aclprofCreateStamp", &kStamp, kCreate, kReturned},
    {"aclprofDestroyStamp", &kStamp, kDestroy, 0},
    {"aclprofCreateStepInfo", &kStepInfo, kCreate, kReturned},
    {"aclprofDestroyStepInfo", &kStepInfo, kDestroy, 0},
    {"aclprofCreateSubscribeConfig", &kSubscription, kCreate, kReturned},
    {"aclprofDestroySubscribeConfig", &kSubscription, kDestroy, 0},
    {"acldvppCreatePicDesc", &kPicDesc, kCreate, kReturned},
    {"acldvppDestroyPicDesc", &kPicDesc, kDestroy, 0},
    {"acldvppCreateBatchPicDesc", &kBatchPicDesc, kCreate, kReturned},
    {"acldvppDestroyBatchPicDesc", &kBatchPicDesc, kDestroy, 0},
    {"acldvppCreateStreamDesc", &kStreamDesc, kCreate, kReturned},
    {"acldvppDestroyStreamDesc", &kStreamDesc, kDestroy, 0},
    {"acldvppCreateRoiConfig", &kRoi, kCreate, kReturned},
    {"acldvppDestroyRoiConfig", &kRoi, kDestroy, 0},
    {"acldvppCreateResizeConfig", &kResize, kCreate, kReturned},
    {"acldvppDestroyResizeConfig", &kResize, kDestroy, 0},
    {"acldvppCreateJpegeConfig", &kJpege, kCreate, kReturned},
    {"acldvppDestroyJpegeConfig", &kJpege, kDestroy, 0},
    {"acldvppCreateBorderConfig", &kBorder, kCreate, kReturned},
    {"acldvppDestroyBorderConfig", &kBorder, kDestroy, 0},
    {"acldvppCreateLutMap", &kLut, kCreate, kReturned},
    {"acldvppDestroyLutMap", &kLut, kDestroy, 0},
    {"acldvppCreateHist", &kHist, kCreate, kReturned},
    {"acldvppDestroyHist", &kHist, kDestroy, 0},
    {"acldvppCreateChannelDesc", &kChannelDesc, kCreate, kReturned},
    {"acldvppDestroyChannelDesc", &kChannelDesc, kDestroy, 0},
    {"acldvppCreateChannel", &kChannel, kCreate, 0, -1, false},
    {"acldvppDestroyChannel", &kChannel, kDestroy, 0},
    {"aclvdecCreateChannelDesc", &kVdecDesc, kCreate, kReturned},
    {"aclvdecDestroyChannelDesc", &kVdecDesc, kDestroy, 0},
    {"aclvdecCreateChannel", &kVdec, kCreate, 0, -1, false},
    {"aclvdecDestroyChannel", &kVdec, kDestroy, 0},
    {"aclvdecCreateFrameConfig", &kVdecFrame, kCreate, kReturned},
    {"aclvdecDestroyFrameConfig", &kVdecFrame, kDestroy, 0},
    {"aclvencCreateChannelDesc", &kVencDesc, kCreate, kReturned},
    {"aclvencDestroyChannelDesc", &kVencDesc, kDestroy, 0},
    {"aclvencCreateChannel", &kVenc, kCreate, 0, -1, false},
    {"aclvencDestroyChannel", &kVenc, kDestroy, 0},
    {"aclvencCreateFrameConfig", &kVencFrame, kCreate, kReturned},
    {"aclvencDestroyFrameConfig", &kVencFrame, kDestroy, 0},
    {"hi_mpi_vb_create_pool", &kBlockPool, kCreate, kReturned},
    {"hi_mpi_vb_destroy_pool", &kBlockPool, kDestroy, 0},
    {"hi_mpi_vb_get_block", &kBlock, kCreate, kReturned},
    {"hi_mpi_vb_block_copyref", &kBlock, kShare, 0},
    {"hi_mpi_vb_release_block", &kBlock, kDestroy, 0},
    {"hi_mpi_rgn_create", &kRegion, kCreate, 0, -1, false},
    {"hi_mpi_rgn_destroy", &kRegion, kDestroy, 0},
    {"hi_mpi_vpc_create_chn", &kHiVpc, kCreate, 0, -1, false},
    {"hi_mpi_vpc_sys_create_chn", &kHiVpc, kCreate, 0},
    {"hi_mpi_vpc_destroy_chn", &kHiVpc, kDestroy, 0},
    {"hi_mpi_vdec_create_chn", &kHiVdec, kCreate, 0, -1, false},
    {"hi_mpi_vdec_destroy_chn", &kHiVdec, kDestroy, 0},
    {"hi_mpi_venc_create_chn", &kHiVenc, kCreate, 0, -1, false},
    {"hi_mpi_venc_destroy_chn", &kHiVenc, kDestroy, 0},
    {"hi_mpi_pngd_create_chn", &kHiPngd, kCreate, 0, -1, false},
    {"hi_mpi_pngd_destroy_chn", &kHiPngd, kDestroy, 0},
    {"hi_mpi_sys_create_epoll", &kEpoll, kCreate, 1},
    {"hi_mpi_sys_close_epoll", &kEpoll, kDestroy, 0},
    {"aclfvCreateInitPara", &kFvInit, kCreate, kReturned},
    {"aclfvDestroyInitPara", &kFvInit, kDestroy, 0},
    {"aclfvCreateFeatureInfo", &kFvFeature, kCreate, kReturned},
    {"aclfvDestroyFeatureInfo", &kFvFeature, kDestroy, 0},
    {"aclfvCreateQueryTable", &kFvTable, kCreate, kReturned},
    {"aclfvDestroyQueryTable", &kFvTable, kDestroy, 0},
    {"aclfvCreateRepoRange", &kFvRange, kCreate, kReturned},
    {"aclfvDestroyRepoRange", &kFvRange, kDestroy, 0},
    {"aclfvCreateSearchInput", &kFvInput, kCreate, kReturned},
    {"aclfvDestroySearchInput", &kFvInput, kDestroy, 0},
    {"aclfvCreateSearchResult", &kFvResult, kCreate, kReturned},
    {"aclfvDestroySearchResult", &kFvResult, kDestroy, 0},
};

}  // namespace

Rows lifetimes_of(std::string_view function) {
  static const auto* rows = [] {
    auto* map = new std::unordered_map<std::string_view, Rows>;
    for (const LifetimeRow& row : kTable) {
      Rows& found = (*map)[row.function];
      (found.first ? found.second : found.first) = &row;
    }
    return map;
  }();
  const auto found = rows->find(function);
  return found == rows->end() ? Rows() : found->second;
}

}  // namespace anynpu::check
