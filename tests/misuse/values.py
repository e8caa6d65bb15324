# SPDX-License-Identifier: Apache-2.0
"""Good values for every argument, so that a call fails for the one that is wrong and no other."""

import ctypes
import mmap
import os
import tempfile
import threading

import numpy

from misuse import kernels, media, models, operators, retrieval

LIBC = ctypes.CDLL(None)
LIBC.mmap.restype = ctypes.c_size_t
LIBC.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]

BLOCK = 4096  # bytes behind every good pointer
COUNT = 64  # bytes that a good call asks for

D2D = 3  # ACL_MEMCPY_DEVICE_TO_DEVICE

# Values that are not what the type alone suggests: for an argument of one function, or by name.
GOOD = {
    ("acl.mdl.set_aipp_input_format", "input_format"): 3,
    ("acl.mdl.set_aipp_src_image_size", "src_image_size_w"): 4,
    ("acl.mdl.set_aipp_src_image_size", "src_image_size_h"): 4,
    ("acl.init", "config_path"): None,
    ("acl.app_log", "message"): "misuse walk",
    ("acl.create_tensor_desc", "dims"): [1, 3],
    ("acl.get_compile_opt", "length"): 64,
    ("acl.get_version_str", "pkg_name"): "cann",
    ("acl.set_compile_opt", "value"): "force_fp16",
    ("acl.trans_tensor_desc_format", "dst_format"): 2,
    ("acl.get_tensor_desc_dim_range", "dim_range_num"): 2,
    ("acl.rt.memcpy2d", "dpitch"): 64, ("acl.rt.memcpy2d", "spitch"): 64,
    ("acl.rt.memcpy2d", "width"): 32, ("acl.rt.memcpy2d", "height"): 2,
    ("acl.rt.memcpy2d_async", "dpitch"): 64, ("acl.rt.memcpy2d_async", "spitch"): 64,
    ("acl.rt.memcpy2d_async", "width"): 32, ("acl.rt.memcpy2d_async", "height"): 2,
    ("acl.rt.process_report", "timeout"): 1,
    ("acl.rt.value_wait", "value"): 0,
    ("acl.rt.create_event_with_flag", "flag"): 8,
    ("acl.rt.create_event_ex_with_flag", "flag"): 8,
    ("acl.rt.host_register_v2", "flag"): 2,
    ("acl.rt.reduce_async", "kind"): 10, ("acl.rt.reduce_async", "count"): COUNT,
    ("acl.rt.device_enable_peer_access", "peer_dev_id"): 1,
    ("acl.rt.device_disable_peer_access", "peer_dev_id"): 1,
    ("acl.rt.device_can_access_peer", "peer_dev_id"): 1,
    ("acl.rt.device_peer_access_status", "peer_device_id"): 1,
    ("acl.rt.get_devices_topo", "other_device_id"): 1,
    ("acl.rt.set_device_res_limit", "value"): 1,
    ("acl.rt.set_stream_res_limit", "value"): 1,
    ("acl.rt.device_set_limit", "value"): 1024,
    ("acl.rt.ipc_mem_get_export_key", "len"): 65,
    ("acl.rt.notify_get_export_key", "len"): 65,
    ("acl.rt.synchronize_stream_with_timeout", "timeout"): 100,
    ("acl.rt.synchronize_event_with_timeout", "timeout"): 100,
    ("acl.rt.synchronize_device_with_timeout", "timeout"): 100,
    ("acl.rt.device_task_abort", "timeout"): 100,
    ("acl.rt.reserve_mem_address", "size"): 2 << 20,
    ("acl.rt.malloc_physical", "size"): 2 << 20,
    ("acl.rt.map_mem", "size"): 2 << 20,
    ("acl.util.ptr_to_numpy", "np_type"): 1,
    ("acl.rt.get_device_capability", "dev_feature_type"): 1,
    ("acl.rt.get_stream_attribute", "stm_attr_type"): 1,
    ("acl.rt.set_stream_attribute", "stm_attr_type"): 1,
    ("acl.rt.malloc_host_with_cfg", "size"): COUNT,
    ("acl.rt.host_register", "size"): COUNT,
    ("acl.rt.host_register_v2", "size"): COUNT,
    ("acl.rt.get_device_info", "attr"): 1,
    ("acl.rt.set_device_sat_mode", "mode"): 1,
    ("acl.rt.launch_callback", "block_type"): 0,
    ("acl.prof.create_config", "aicore_events"): 0,
    ("acl.prof.create_config", "data_type_config"): 1,
    ("acl.prof.set_config", "config_type"): 3,
    ("acl.prof.set_config", "config"): "15",
    ("acl.prof.set_stamp_trace_message", "msg_len"): 4,
    ("acl.prof.create_subscribe_config", "time_info_switch"): 1,
    ("acl.prof.create_subscribe_config", "fd"): os.pipe()[1],
    ("acl.mdl.get_op_attr", "op_name"): "node",
    ("acl.mdl.get_op_attr", "attr"): "_datadump_original_op_names",
}  # fmt: skip

BY_NAME = {
    "kind": D2D, "dest_max": BLOCK, "max_count": BLOCK, "index": 0, "alignment": 0, "offset": 0,
    "flags": 0, "flag": 0, "device_id": 0, "dev_id": 0, "batch_size": 1, "batch_index": 0,
    "num_blocks": 1, "place_holder_num": 0, "type": 0, "gear_count": 1,
}  # fmt: skip

BY_TYPE = {
    "size": COUNT, "enum": 0, "i8": 0, "u8": 0, "i16": 0, "u16": 0, "i32": 0, "u32": 0, "i64": 0,
    "u64": 0, "int": 0, "f32": 1.0, "f64": 1.0, "str": "name", "bytes": b"0123456789",
    "object": [0], "int or callable": 1,
    "list": [], "shape": (16,), "list[i64]": [1, 3], "list[i64[2]]": [[1, 2]], "list[u32]": [0],
    "list[enum]": [0], "list[i32]": [os.getpid()], "one or list[i32]": [os.getpid()],
    "list[aclrtPlaceHolderInfo]": [], "list[aclrtMemUceInfo]": [],
    "int or str": 0, "int or aclrtStreamAttrValue": 0,
    "aclmdlIODims": {"name": "", "dimCount": 1, "dims": [1]},
    "aclrtPhysicalMemProp": {"handleType": 0, "allocationType": 0, "memAttr": 4,
                             "location": {"id": 0, "type": 1}, "reserve": 0},
}  # fmt: skip


# Functions that ask for an event that was recorded.
RECORDED = (
    "acl.rt.stream_wait_event",
    "acl.rt.synchronize_event",
    "acl.rt.event_elapsed_time",
    "acl.rt.synchronize_event_with_timeout",
    "acl.rt.event_get_timestamp",
)


def prepare(acl, function, args):
    """What has to happen before the call for a good one to succeed."""
    name = function.name
    if name == "acl.init":
        acl.finalize()
    elif name in ("acl.get_compile_opt", "acl.get_compile_opt_size"):
        acl.set_compile_opt(0, "force_fp16")
    elif name == "acl.rt.get_sys_param_opt":
        acl.rt.set_sys_param_opt(0, 1)
    elif name == "acl.rt.ctx_get_sys_param_opt":
        acl.rt.ctx_set_sys_param_opt(0, 1)
    elif name == "acl.rt.device_disable_peer_access":
        acl.rt.device_enable_peer_access(1, 0)
    elif name == "acl.rt.unsubscribe_report" and all(isinstance(a, int) for a in args):
        if 0 <= args[0] < 2**64:
            acl.rt.subscribe_report(*args)
    elif name == "acl.rt.launch_callback" and isinstance(args[3], int):
        reporter = media.serve_callbacks(acl)
        acl.rt.subscribe_report(reporter, args[3])
    elif name == "acl.rt.notify_set_import_pid" and isinstance(args[0], int):
        acl.rt.notify_get_export_key(args[0], 65, 0)
    elif name == "acl.rt.wait_and_reset_notify" and isinstance(args[0], int):
        acl.rt.record_notify(args[0], 0)
        acl.rt.synchronize_stream(0)
    elif name == "acl.rt.get_group_info_detail" and isinstance(args[0], int):
        acl.rt.get_all_group_info(args[0])
    elif name == "acl.rt.allocator_unregister" and isinstance(args[0], int):
        acl.rt.allocator_register(args[0], filled_allocator(acl))
    elif name in ("acl.prof.create_stamp", "acl.prof.mark_ex"):
        start_marks(acl)
    elif name in ("acl.prof.start", "acl.prof.stop", "acl.prof.finalize"):
        acl.prof.init(tempfile.mkdtemp())
        if name == "acl.prof.stop" and isinstance(args[0], int):
            acl.prof.start(args[0])
    elif name == "acl.prof.pop":
        start_marks(acl)
        stamp = acl.prof.create_stamp()
        acl.prof.push(stamp)
    elif name in ("acl.prof.model_unsubscribe", "acl.prof.model_un_subscribe"):
        if isinstance(args[0], int) and 0 <= args[0] < 2**32:
            config = acl.prof.create_subscribe_config(1, 0xFF, os.pipe()[1])
            acl.prof.model_subscribe(args[0], config)
    elif name == "acl.rt.process_report":
        acl.rt.subscribe_report(threading.get_ident(), acl.rt.create_stream()[0])


def start_marks(acl):
    """A session that records marks; nothing when there is one."""
    if acl.prof.init(tempfile.mkdtemp()) == 0:
        acl.prof.start(acl.prof.create_config([0], 0, 0, 0x81))


def filled_allocator(acl):
    """A description with all its functions."""
    desc = acl.rt.allocator_create_desc()
    acl.rt.allocator_set_obj_to_desc(desc, 1)
    acl.rt.allocator_set_alloc_func_to_desc(desc, lambda allocator, size: 0)
    acl.rt.allocator_set_free_func_to_desc(desc, lambda allocator, block: None)
    acl.rt.allocator_set_get_addr_from_block_func_to_desc(desc, lambda block: block)
    return desc


class Maker:
    """Makes good values in the current process; keeps alive what they point into."""

    def __init__(self, acl):
        self.acl = acl
        self.kept = []

    def start(self):
        """Init, device 0 and its default context."""
        ret = self.acl.init()
        assert ret == 0, f"init: {ret}"
        ret = self.acl.rt.set_device(0)
        assert ret == 0, f"set_device: {ret} {self.acl.get_recent_err_msg()}"

    # C type -> (create, destroy). A create that gives a pair has the code behind the handle.
    CREATORS = {
        "aclrtStream": ("rt.create_stream", (), "rt.destroy_stream"),
        "aclrtEvent": ("rt.create_event_with_flag", (11,), "rt.destroy_event"),
        "aclrtNotify": ("rt.create_notify", (0,), "rt.destroy_notify"),
        "aclrtContext": ("rt.create_context", (0,), "rt.destroy_context"),
        "aclTensorDesc": ("create_tensor_desc", (0, [1, 3], 2), "destroy_tensor_desc"),
        "aclmdlDataset": ("mdl.create_dataset", (), "mdl.destroy_dataset"),
        "aclmdlDesc": ("mdl.create_desc", (), "mdl.destroy_desc"),
        "aclmdlAIPP": ("mdl.create_aipp", (1,), "mdl.destroy_aipp"),
        "aclmdlConfigHandle": ("mdl.create_config_handle", (), "mdl.destroy_config_handle"),
        "aclmdlExecConfigHandle": (
            "mdl.create_exec_config_handle",
            (),
            "mdl.destroy_exec_config_handle",
        ),
        "aclrtAllocatorDesc": ("rt.allocator_create_desc", (), "rt.allocator_destroy_desc"),
        "aclopAttr": ("op.create_attr", (), "op.destroy_attr"),
        "aclGraphDumpOption": ("op.create_graph_dump_opt", (), "op.destroy_graph_dump_opt"),
        "aclrtGroupInfo": ("rt.create_group_info", (), "rt.destroy_group_info"),
        "aclprofConfig": ("prof.create_config", ([0], 0, 0, 0x81), "prof.destroy_config"),
        "aclprofStepInfo": ("prof.create_step_info", (), "prof.destroy_step_info"),
        "aclprofStamp": ("prof.create_stamp", (), "prof.destroy_stamp"),
        "aclprofSubscribeConfig": (
            "prof.create_subscribe_config",
            (1, 0xFF, os.pipe()[1]),
            "prof.destroy_subscribe_config",
        ),
        "aclrtDrvMemHandle": (
            "rt.malloc_physical",
            (2 << 20, BY_TYPE["aclrtPhysicalMemProp"], 0),
            "rt.free_physical",
        ),
    }

    def function(self, path):
        target = self.acl
        for part in path.split("."):
            target = getattr(target, part)
        return target

    def handle(self, kind, function=None):
        if kind in media.DESTROY:
            return media.handle(self, kind, function)
        if kind == "aclDataBuffer":
            return self.acl.create_data_buffer(self.device_block(), BLOCK)
        if kind == "aclopHandle":
            return operators.handle(self.acl)
        if kind in retrieval.DESTROY:
            return retrieval.make(self, kind)
        if kind in kernels.DESTROY:
            return kernels.make(self, kind)
        if kind not in self.CREATORS:
            return 0x1000  # nothing makes one of these (yet): no good value
        create, args, _ = self.CREATORS[kind]
        if kind == "aclprofStamp":
            start_marks(self.acl)
        made = self.function(create)(*args)
        return made[0] if isinstance(made, tuple) else made

    def destroy(self, kind, value):
        if kind in media.DESTROY:
            media.destroy(self, kind, value)
        elif kind == "aclDataBuffer":
            self.acl.destroy_data_buffer(value)
        elif kind == "aclopHandle":
            self.acl.op.destroy_handle(value)
        elif kind in retrieval.DESTROY:
            getattr(self.acl.fv, retrieval.DESTROY[kind])(value)
        elif kind in kernels.DESTROY:
            kernels.destroy(self, kind, value)
        elif kind in self.CREATORS:
            self.function(self.CREATORS[kind][2])(value)

    def other_handle(self, kind):
        """A live handle of another type."""
        if kind == "aclTensorDesc":
            return self.acl.create_data_buffer(self.device_block(), BLOCK)
        return self.handle("aclTensorDesc")

    def device_block(self, size=BLOCK):
        block, ret = self.acl.rt.malloc(size, 0)
        if ret != 0:
            return 0
        self.acl.rt.memset(block, size, 0, size)
        return block

    def host_block(self, size=BLOCK):
        """Host memory with a stretch behind it that nobody may touch: too small is noticed."""
        guard = 4 << 20
        length = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        address = LIBC.mmap(
            None,
            length + guard,
            mmap.PROT_READ | mmap.PROT_WRITE,
            mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
            -1,
            0,
        )
        LIBC.mprotect(ctypes.c_void_p(address + length), ctypes.c_size_t(guard), 0)
        return address + length - size

    def pointer(self, function, argument, size=BLOCK):
        name = argument.name
        if function.name.startswith("acl.util.") or name in ("binary", "func"):
            return self.host_block(size)
        if function.name == "acl.set_tensor_const":
            return self.host_block(size)
        if function.name == "acl.rt.free_host" or name == "host_ptr":
            return self.acl.rt.malloc_host(size)[0]
        if function.name in ("acl.rt.host_register", "acl.rt.host_register_v2"):
            return self.host_block(size)
        if function.name in ("acl.rt.host_unregister", "acl.rt.host_get_device_pointer"):
            block = self.host_block(size)
            self.acl.rt.host_register(block, size, 0)
            return block
        if name == "vir_ptr":
            block = self.acl.rt.reserve_mem_address(2 << 20, 0, 0, 0)[0]
            if function.name == "acl.rt.unmap_mem":
                physical = self.handle("aclrtDrvMemHandle")
                self.acl.rt.map_mem(block, 2 << 20, 0, physical, 0)
            return block
        return self.device_block(size)

    def key(self, function):
        """A key that any process may import."""
        if "notify" in function.name:
            return self.acl.rt.notify_get_export_key(self.handle("aclrtNotify"), 65, 2)[0]
        return self.acl.rt.ipc_mem_get_export_key(self.device_block(), COUNT, 65, 1)[0]

    def good(self, function, argument):
        key = (function.name, argument.name)
        for module in (models, media, operators, retrieval, kernels):
            value = module.good(self, function, argument)
            if value is not models.NO_VALUE:
                return value
        if key == ("acl.prof.init", "profiler_result_path"):
            return tempfile.mkdtemp()
        if key == ("acl.prof.range_stop", "range_id"):
            return self.acl.prof.range_start(self.handle("aclprofStamp"))[0]
        if key == ("acl.prof.mark_ex", "stream"):
            return self.handle("aclrtStream")
        if argument.name == "thread_id":
            return self.acl.util.start_thread(lambda args: None, [])[0]
        if key in GOOD:
            return GOOD[key]
        if argument.name == "key":
            return self.key(function)
        if argument.name == "shareable_handle":
            number = self.acl.rt.mem_export_to_shareable_handle(
                self.handle("aclrtDrvMemHandle"), 0, 1
            )
            return number[0]
        if key == ("acl.rt.allocator_register", "allocator_desc"):
            return filled_allocator(self.acl)
        if key == ("acl.rt.memcpy_async_with_desc", "desc"):
            desc = self.device_block()
            self.acl.rt.set_memcpy_desc(
                desc, D2D, self.device_block(), self.device_block(), COUNT, 0
            )
            return desc
        if argument.type == "handle":
            value = 0 if argument.optional else self.handle(argument.handle)
            if argument.handle == "aclrtEvent" and function.name in RECORDED:
                self.acl.rt.record_event(value, 0)
                self.acl.rt.synchronize_stream(0)
            return value
        if argument.type == "list[handle]":
            return [self.handle("aclrtNotify")]
        if argument.type == "ptr":
            return 0 if argument.optional else self.pointer(function, argument)
        if argument.type == "callable":
            return lambda *args: 0
        if argument.type == "ndarray":
            array = numpy.arange(16, dtype=numpy.float32)
            self.kept.append(array)
            return array
        if argument.optional:
            return None
        if argument.name in BY_NAME and argument.type != "str":
            return BY_NAME[argument.name]
        if "hi_" in argument.type:
            return [] if argument.type.startswith("list") else {}
        return BY_TYPE[argument.type]
