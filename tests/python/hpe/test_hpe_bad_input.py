# SPDX-License-Identifier: Apache-2.0
"""Mistakes of HPE programs, one row each, with the code of the document's table; and images whose
headers lie."""
import ctypes
import os
import struct

import numpy as np
import pytest
from build_tree import BUILD
from hpe_programs import KERNELS, compile_kernels, kernels

import hpe.hpert.api as hpe


@pytest.fixture(scope="module")
def module():
    return hpe.module(kernels())


def elf_of(machine):
    image = bytearray(kernels())
    image[18:20] = struct.pack("<H", machine)
    return bytes(image)


def on_other_stream(module):
    module.launch_kernel("nothing", stream=hpe.stream(device_id=1))


ROWS = [
    ("not an ELF", "InvalidImage", lambda m: hpe.module(b"\x7fELG" + bytes(200))),
    ("an ELF of 64 bits", "InvalidImage", lambda m: hpe.module("/bin/true")),
    ("another machine's ELF", "InvalidImage", lambda m: hpe.module(elf_of(40))),
    ("truncated to its header", "InvalidImage", lambda m: hpe.module(kernels()[:52])),
    ("truncated in the middle", "InvalidImage", lambda m: hpe.module(kernels()[:-200])),
    ("no file", "NoImage", lambda m: hpe.module("/nowhere.o")),
    ("an empty image", "NoImage", lambda m: hpe.module(b"")),
    ("a missing kernel", "InvalidKernel", lambda m: m.launch_kernel("absent")),
    ("a kernel name that is no text", "InvalidKernel", lambda m: m.launch_kernel("\ud800")),
    ("too few parameters", "InvalidValue", lambda m: m.launch_kernel("copy", [1])),
    ("too many parameters", "InvalidValue", lambda m: m.launch_kernel("nothing", [1])),
    ("a parameter of another type", "InvalidValue", lambda m: m.launch_kernel("say", [1.5])),
    ("a parameter of no type", "InvalidValue", lambda m: m.launch_kernel("say", [None])),
    ("core_num 0", "InvalidCoreNum", lambda m: m.launch_kernel("nothing", core_num=0)),
    ("core_num 9", "InvalidCoreNum", lambda m: m.launch_kernel("nothing", core_num=9)),
    ("a flag that is none", "InvalidValue", lambda m: m.launch_kernel("nothing", flag=4)),
    ("an invalid device", "InvalidDevice", lambda m: hpe.set_device(4)),
    ("a module for an invalid device", "InvalidDevice", lambda m: hpe.module(kernels(), 4)),
    ("memory of an invalid device", "InvalidDevice", lambda m: hpe.device_mem(8, -1)),
    ("a copy past the end", "InvalidValue",
     lambda m: hpe.device_mem(8).copy_from_host(np.zeros(9, np.uint8))),
    ("a copy from past the end", "InvalidValue",
     lambda m: hpe.device_mem(8).copy_to_host(np.zeros(8, np.uint8), device_offset=1)),
    ("a stream of another device", "InvalidStream", on_other_stream),
    ("memory of another device", "InvalidDevicePointer",
     lambda m: m.launch_kernel("who", [hpe.device_mem(32, 1)])),
    ("too much memory", "DeviceMemoryAllocation", lambda m: hpe.device_mem(1 << 33)),
]


@pytest.mark.parametrize("what, name, call", ROWS, ids=[row[0] for row in ROWS])
def test_a_mistake_has_its_code_and_leaves_the_device_usable(module, what, name, call):
    with pytest.raises(hpe.CruntimeException) as caught:
        call(module)
    assert caught.value.name == f"stcError{name}", str(caught.value)
    assert caught.value.detail and caught.value.message
    module.launch_kernel("nothing")
    hpe.synchronize()


@pytest.mark.parametrize("given", [[], [1], [1, 2], [1, 2, 3, 4], [1, 2, 3.5], [1.5, 2, 3]])
def test_wrong_parameters_of_a_kernel_compiled_as_printed(tmp_path, given):
    module = hpe.module(compile_kernels(KERNELS, tmp_path))  # no option, as in the document
    with pytest.raises(hpe.CruntimeException) as caught:
        module.launch_kernel("copy", given)
    assert caught.value.name == "stcErrorInvalidValue" and "'copy'" in caught.value.detail


def test_a_kernel_on_freed_memory_is_an_exception_of_the_device(module, capfd):
    memory = hpe.device_mem(1 << 20)
    address = memory.offset_address(0)
    del memory
    module.launch_kernel("who", [address])
    with pytest.raises(hpe.CruntimeException) as caught:
        hpe.synchronize()
    assert caught.value.name == "stcErrorDeviceImageException"
    assert f"{address:#x}" in capfd.readouterr().err


def test_freed_memory_and_a_module_in_use_from_c(module):
    library = ctypes.CDLL(os.path.join(BUILD, "lib", "libhpert.so"))
    invalid_pointer, task_running, invalid_module = 5, 26, 10
    pointer, handle = ctypes.c_void_p(), ctypes.c_void_p()
    data = ctypes.create_string_buffer(64)
    assert library.stcMalloc(ctypes.byref(pointer), ctypes.c_size_t(64)) == 0
    assert library.stcFree(pointer) == 0
    assert library.stcFree(pointer) == invalid_pointer
    for to, source, kind in ((pointer, data, 1), (data, pointer, 2)):
        assert library.stcMemcpy(to, source, ctypes.c_size_t(64), kind) == invalid_pointer
    image = kernels()
    assert library.stcModuleLoadData(ctypes.byref(handle), image,
                                     ctypes.c_size_t(len(image))) == 0
    assert library.stcMalloc(ctypes.byref(pointer), ctypes.c_size_t(4)) == 0
    stream = ctypes.c_void_p()
    assert library.stcStreamCreate(ctypes.byref(stream)) == 0

    def write_flag(value):
        word = ctypes.byref(ctypes.c_uint32(value))
        assert library.stcMemcpyAsync(pointer, word, ctypes.c_size_t(4), 1, stream) == 0
        assert library.stcStreamSynchronize(stream) == 0

    class Params(ctypes.Structure):
        _fields_ = [("values", ctypes.POINTER(ctypes.c_uint32)), ("count", ctypes.c_size_t)]

    write_flag(0)
    flag = (ctypes.c_uint32 * 1)(pointer.value & 0xFFFFFFFF)
    assert library.stcLaunchKernel(ctypes.byref(handle), b"hold", Params(flag, 1)) == 0
    assert library.stcModuleUnload(handle) == task_running
    write_flag(1)
    assert library.stcDeviceSynchronize() == 0
    assert library.stcModuleUnload(handle) == 0
    assert library.stcModuleUnload(handle) == invalid_module


# -- headers that lie ------------------------------------------------------------------------------

HEADER = {"e_phoff": 28, "e_shoff": 32, "e_ehsize": 40, "e_shentsize": 46, "e_shnum": 48,
          "e_shstrndx": 50}
SECTION = {"sh_name": 0, "sh_type": 4, "sh_flags": 8, "sh_addr": 12, "sh_offset": 16, "sh_size": 20,
           "sh_link": 24, "sh_info": 28, "sh_addralign": 32, "sh_entsize": 36}
HOSTILE = (0, 1, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF)


def load_and_run(image):
    """Loads and launches; every failure has a documented code."""
    try:
        loaded = hpe.module(bytes(image))
        loaded.launch_kernel("nothing", core_num=1)
        hpe.synchronize()
    except hpe.CruntimeException as error:
        return error.name
    return "stcSuccess"


ALLOWED = {"stcSuccess", "stcErrorInvalidImage", "stcErrorNoImage", "stcErrorLinkFailure",
           "stcErrorInvalidKernel", "stcErrorInvalidImageDataSection",
           "stcErrorDeviceMemoryAllocation", "stcErrorDeviceImageException",
           "stcErrorInvalidValue"}  # debug information that lies about the parameters


@pytest.mark.parametrize("field", HEADER)
def test_hostile_fields_of_the_file_header(field, capfd):
    for value in HOSTILE:
        image = bytearray(kernels())
        wide = field in ("e_phoff", "e_shoff")
        struct.pack_into("<I" if wide else "<H", image, HEADER[field],
                         value if wide else value & 0xFFFF)
        assert load_and_run(image) in ALLOWED, (field, value)
    image = bytearray(kernels())
    struct.pack_into("<I", image, HEADER["e_shoff"], 0xFFFFFFF0)
    assert load_and_run(image) == "stcErrorInvalidImage"


@pytest.mark.parametrize("field", SECTION)
def test_hostile_fields_of_every_section(field, capfd, monkeypatch):
    monkeypatch.setenv("ANYNPU_NPC_INTERPRET", "1")  # nothing to translate: hundreds of images
    original = kernels()
    (table,) = struct.unpack_from("<I", original, 32)
    (count,) = struct.unpack_from("<H", original, 48)
    seen = set()
    for section in range(count):
        for value in HOSTILE:
            image = bytearray(original)
            struct.pack_into("<I", image, table + 40 * section + SECTION[field], value)
            seen.add(load_and_run(image))
    assert seen <= ALLOWED
    if field in ("sh_offset", "sh_size"):
        assert "stcErrorInvalidImage" in seen
