# SPDX-License-Identifier: Apache-2.0
"""Kernels: parameters, cores, exceptions, ordering in streams, events, several devices."""
import struct
import time

import numpy as np
import pytest
from hpe_programs import compile_kernels, kernels, output, program

import hpe.hpert.api as hpe


@pytest.fixture(scope="module")
def module():
    return hpe.module(kernels())


def refused(call, name):
    with pytest.raises(hpe.CruntimeException) as caught:
        call()
    assert caught.value.name == name, str(caught.value)
    return caught.value


def read(memory, dtype=np.int32, count=None):
    array = np.zeros(memory.size // np.dtype(dtype).itemsize, dtype)
    memory.copy_to_host(array)
    return array[:count].tolist()


def zeros(count, device_id=None):
    memory = hpe.device_mem(4 * count, device_id)
    memory.copy_from_host(np.zeros(count, np.int32))
    return memory


@pytest.mark.parametrize("cores", range(1, 9))
def test_core_num_npcs_run_the_kernel(module, cores):
    out = zeros(8)
    module.launch_kernel("who", [out], core_num=cores)
    hpe.synchronize()
    assert read(out) == [100 * cores + i for i in range(cores)] + [0] * (8 - cores)


def test_eight_npcs_by_default(module):
    out = zeros(8)
    module.launch_kernel("who", (out,))
    hpe.synchronize()
    assert read(out) == [800 + i for i in range(8)]


@pytest.mark.parametrize("cores", [0, 9, -1])
def test_other_core_numbers_are_refused(module, cores):
    refused(lambda: module.launch_kernel("nothing", core_num=cores), "stcErrorInvalidCoreNum")


def test_parameters_are_ints_floats_and_numpy_scalars(module):
    out = zeros(4)
    module.launch_kernel("words", [out, -5, 2**32 - 1, 1.25, np.float16(0.5)])
    hpe.synchronize()
    assert read(out, np.uint32, 2) == [2**32 - 5, 2**32 - 1]
    assert read(out, np.float32)[2:] == [2.5, 0.5]
    module.launch_kernel("words", [out.offset_address(0), np.int8(-3), np.uint64(7),
                                   np.float32(3), np.float16(-2)])
    hpe.synchronize()
    assert read(out, np.uint32, 2) == [2**32 - 3, 7]
    assert read(out, np.float32)[2:] == [6, -2]


def test_parameters_past_the_registers(module):
    out = zeros(1)
    module.launch_kernel("many", [out, *range(1, 11)])
    hpe.synchronize()
    assert read(out) == [sum(i * i for i in range(1, 11))]


@pytest.mark.parametrize("value", [2**32, -2**31 - 1, "x", None, [1], 1j, 1e300, b"1"])
def test_parameters_that_do_not_fit_four_bytes(module, value):
    refused(lambda: module.launch_kernel("say", [value]), "stcErrorInvalidValue")


TYPES = """
extern "C" {
void narrow(int *out, signed char a, unsigned char b, short c, unsigned short d, bool e) {
    if (CoreID == 0) { out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; }
}
void floats(float *out, float a, __fp16 b) { if (CoreID == 0) { out[0] = a; out[1] = (float)b; } }
enum Colour { red, green };
typedef const volatile unsigned *Address;
void others(Address out, Colour a, unsigned b, int &c) { if (CoreID == 0) c = a + b; }
void wide(double a) {}
void longer(long long a) {}
}
"""


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("typed"))
    return {option: hpe.module(compile_kernels(TYPES, folder, "typed" + option, "-O2 " + option))
            for option in ("-g", "-g0")}


def test_integers_narrower_than_a_word_arrive_extended(typed):
    out = zeros(5)
    typed["-g"].launch_kernel("narrow", [out, 200, -1, np.int16(-5), 65535, True])
    hpe.synchronize()
    assert read(out) == [-56, 255, -5, 65535, 1]
    typed["-g"].launch_kernel("narrow", [out, -128, 255, 32768, -1, np.bool_(False)])
    hpe.synchronize()
    assert read(out) == [-128, 255, -32768, 65535, 0]


def test_floats_arrive_by_value_and_ints_for_them_by_bits(typed):
    out = zeros(2)
    for a, b, want in ((1.5, np.float16(-2), [1.5, -2]), (np.float64(3), np.float16(0), [3, 0]),
                       (np.float32(-0.5), 0x3C00, [-0.5, 1]), (0x40490000, 0, [3.140625, 0])):
        typed["-g"].launch_kernel("floats", [out, a, b])
        hpe.synchronize()
        assert read(out, np.float32) == want


def test_addresses_enumerations_and_references_are_words(typed):
    out = zeros(1)
    typed["-g"].launch_kernel("others", [out.offset_address(0), 1, 41, out])
    hpe.synchronize()
    assert read(out) == [42]
    typed["-g"].launch_kernel("others", [out, 0, out, out])  # an address as unsigned
    hpe.synchronize()
    assert read(out, np.uint32) == [out.offset_address(0)]


MEMORY = object()  # stands for device memory


@pytest.mark.parametrize("kernel, given, sentence", [
    ("narrow", [MEMORY, 256, 0, 0, 0, 0], "parameter 1 ('a') of kernel 'narrow' is a signed "
     "integer of 1 bytes, the integer 256 was given"),
    ("narrow", [MEMORY, 0, -129, 0, 0, 0], "is an unsigned integer of 1 bytes, the integer -129"),
    ("narrow", [MEMORY, 0, 0, 70000, 0, 0], "('c')"),
    ("narrow", [MEMORY, 0, 0, 0, 0, 2], "is a bool, the integer 2"),
    ("narrow", [MEMORY, MEMORY, 0, 0, 0, 0], "device memory was given"),
    ("narrow", [MEMORY, 1.0, 0, 0, 0, 0], "a float of 4 bytes was given"),
    ("narrow", [1.0, 0, 0, 0, 0, 0], "is a pointer, a float of 4 bytes"),
    ("narrow", [np.float16(1), 0, 0, 0, 0, 0], "is a pointer, a float of 2 bytes"),
    ("floats", [MEMORY, 2, np.float16(1)], "('a') of kernel 'floats' is a float, the integer 2"),
    ("floats", [MEMORY, -2, np.float16(1)], "is a float, the integer -2"),
    ("floats", [MEMORY, MEMORY, np.float16(1)], "is a float, device memory"),
    ("floats", [MEMORY, np.float16(1), np.float16(1)], "is a float, a float of 2 bytes"),
    ("floats", [MEMORY, 1.0, 1.0], "is a __fp16, a float of 4 bytes"),
    ("floats", [MEMORY, 1.0, 2], "is a __fp16, the integer 2"),
    ("floats", [MEMORY, 1.0, 0x10000], "is a __fp16, the integer 65536"),
    ("others", [MEMORY, 0, 2.5, MEMORY], "is an unsigned integer of 4 bytes, a float"),
    ("wide", [1.0], "has 8 bytes, a kernel's have at most 4"),
    ("longer", [1], "has 8 bytes, a kernel's have at most 4"),
    ("floats", [MEMORY, 1.0], "takes 3 parameters, 2 were given"),
])
def test_parameters_of_another_type_are_refused_where_types_are_known(typed, kernel, given,
                                                                      sentence):
    memory = zeros(8)
    values = [memory if value is MEMORY else value for value in given]
    error = refused(lambda: typed["-g"].launch_kernel(kernel, values), "stcErrorInvalidValue")
    assert sentence in error.detail
    hpe.synchronize()
    assert read(memory) == [0] * 8, "nothing ran"


def test_without_debug_information_every_word_is_taken(typed):
    out = zeros(2)
    typed["-g0"].launch_kernel("floats", [out, 2, 0x4000, 7])
    hpe.synchronize()
    assert read(out, np.float32) == [struct.unpack("f", struct.pack("i", 2))[0], 2]


def test_parameters_have_to_be_a_list_or_tuple(module):
    refused(lambda: module.launch_kernel("say", 3), "stcErrorInvalidValue")
    refused(lambda: module.launch_kernel("say", {1: 2}), "stcErrorInvalidValue")


def test_memory_of_another_device_is_refused(module):
    other = hpe.device_mem(64, device_id=1)
    refused(lambda: module.launch_kernel("who", [other]), "stcErrorInvalidDevicePointer")


def test_flag_and_flags_are_accepted(module):
    for flag in hpe.KernelFlag:
        module.launch_kernel("nothing", flag=flag)
        module.launch_kernel("nothing", flags=flag)
    module.launch_kernel("nothing", [], 0, 8, hpe.KernelFlag.stcKernelFlagNone)
    hpe.synchronize()
    refused(lambda: module.launch_kernel("nothing", flag=4), "stcErrorInvalidValue")


@pytest.mark.parametrize("name", ["none", "", 5, "who\0", "CoreID"])
def test_kernels_that_are_not_there(module, name):
    refused(lambda: module.launch_kernel(name), "stcErrorInvalidKernel")


def test_an_exception_comes_with_the_next_synchronize_and_prints_the_call_stack(module, capfd):
    module.launch_kernel("trap")
    error = refused(hpe.synchronize, "stcErrorDeviceImageException")
    stack = capfd.readouterr().err
    assert "trap" in error.detail + stack and "deep" in stack and "kernels.cc" in stack
    hpe.synchronize()  # told once
    out = zeros(8)
    module.launch_kernel("who", [out])
    hpe.synchronize()
    assert read(out, count=1) == [800]


def test_the_instruction_budget_is_set_by_the_environment():
    done = program("""
        module = hpe.module(IMAGE)
        module.launch_kernel("forever", core_num=1)
        try:
            hpe.synchronize()
        except hpe.CruntimeException as error:
            print(error.name)
        module.launch_kernel("nothing")
        hpe.synchronize()
        """, ANYNPU_NPC_BUDGET="100000")
    assert done.stdout.split() == ["stcErrorDeviceImageException"], done.stderr
    assert "instruction budget used up" in done.stderr and "forever" in done.stderr


def test_an_exception_belongs_to_its_stream(module, capfd):
    good, bad = hpe.stream(), hpe.stream()
    module.launch_kernel("stop", stream=bad)
    module.launch_kernel("nothing", stream=good)
    good.synchronize()
    refused(bad.synchronize, "stcErrorDeviceImageException")
    assert capfd.readouterr().err


def test_an_exception_of_a_dropped_stream_comes_with_the_device(module, capfd):
    module.launch_kernel("stop", stream=hpe.stream())
    refused(hpe.synchronize, "stcErrorDeviceImageException")
    assert "stop" in capfd.readouterr().err


def test_printf_of_a_kernel_is_shown():
    assert "device says 42" in output("""
        module = hpe.module(IMAGE)
        module.launch_kernel('say', [42])
        hpe.synchronize()
    """)


def test_a_stream_runs_in_order(module):
    log = zeros(64)
    stream = hpe.stream()
    for value in range(40):
        module.launch_kernel("append", [log, value], stream)
    stream.synchronize()
    assert read(log, count=41) == [40, *range(40)]


def test_events_order_streams(module):
    log = zeros(64)
    slow, fast = hpe.stream(), hpe.stream()
    event = hpe.event()
    scratch = zeros(1)
    for turn in range(10):
        module.launch_kernel("work", [scratch, 20000], slow)
        module.launch_kernel("append", [log, 2 * turn], slow)
        event.record(slow)
        fast.wait(event)
        module.launch_kernel("append", [log, 2 * turn + 1], fast)
        event.record(fast)
        slow.wait(event)
    slow.synchronize()
    fast.synchronize()
    assert read(log, count=21) == [20, *range(20)]


def test_an_event_on_stream_zero_marks_all_streams(module):
    out = [zeros(1) for _ in range(3)]
    streams = [hpe.stream() for _ in range(3)]
    for memory, stream in zip(out, streams):
        module.launch_kernel("work", [memory, 50000], stream)
    event = hpe.event()
    event.record()
    event.synchronize()
    expected = np.int64(sum(range(50000))).astype(np.int32)
    assert [read(memory)[0] for memory in out] == [expected] * 3


def test_asynchronous_copies_are_ordered_with_kernels(module):
    stream = hpe.stream()
    source = np.arange(256, dtype=np.int32)
    target = np.zeros(256, np.int32)
    there, back = hpe.device_mem(1024), hpe.device_mem(1024)
    there.copy_from_host(source, stream=stream)
    module.launch_kernel("copy", [there, back, 256], stream)
    back.copy_to_host(target, stream=stream)
    del there, back, source
    stream.synchronize()
    assert (target == np.arange(256)).all()


def test_every_device_runs_kernels_of_its_own_module(module):
    outs, modules = [], []
    for device in range(4):
        modules.append(hpe.module(kernels(), device_id=device))
        outs.append(zeros(8, device))
        modules[-1].launch_kernel("who", [outs[-1]], core_num=device + 1)
    for device in range(4):
        hpe.synchronize(device)
        assert read(outs[device], count=1) == [100 * (device + 1)]


def test_stc_set_devices_renumbers_clusters():
    assert output("""
        module = hpe.module(IMAGE, device_id=1)
        out = hpe.device_mem(32, 1)
        module.launch_kernel('who', [out])
        hpe.synchronize(1)
        array = np.zeros(8, np.int32)
        out.copy_to_host(array)
        print(array[0])
    """, STC_SET_DEVICES="3,1").split() == ["800"]


def test_threads_use_their_own_devices(module):
    assert output("""
        def use(device, results):
            hpe.set_device(device)
            module, out = hpe.module(IMAGE), hpe.device_mem(32)
            for cores in range(1, 9):
                module.launch_kernel('who', [out], core_num=cores)
                hpe.synchronize()
                array = np.zeros(8, np.int32)
                out.copy_to_host(array)
                results.append(array[0] == 100 * cores)
        results = []
        threads = [threading.Thread(target=use, args=(i, results)) for i in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(len(results), all(results))
    """).split() == ["32", "True"]


def test_a_missing_symbol_is_named(tmp_path):
    path = compile_kernels('extern "C" { void absent(); void go() { absent(); } }', tmp_path)
    error = refused(lambda: hpe.module(path), "stcErrorLinkFailure")
    assert "absent" in error.detail


def test_images_of_other_machines_and_broken_ones():
    image = kernels()
    refused(lambda: hpe.module("/bin/true"), "stcErrorInvalidImage")
    refused(lambda: hpe.module(image[: len(image) // 2]), "stcErrorInvalidImage")
    wrong = bytearray(image)
    wrong[18:20] = struct.pack("<H", 62)  # x86-64
    refused(lambda: hpe.module(bytes(wrong)), "stcErrorInvalidImage")


def test_ctrl_c_ends_a_wait_and_the_program():
    done = program("""
        module = hpe.module(IMAGE)
        module.launch_kernel('forever', core_num=1)
        try:
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            hpe.synchronize()
        except KeyboardInterrupt:
            print('interrupted', flush=True)
            os._exit(0)
    """)
    assert done.stdout.split() == ["interrupted"], done.stderr


def test_ctrl_c_in_the_programs_own_code_ends_it_while_a_kernel_never_ends():
    begin = time.monotonic()
    done = program("""
        module = hpe.module(IMAGE)
        module.launch_kernel('forever', core_num=1)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        time.sleep(60)
    """, timeout=50)
    assert "KeyboardInterrupt" in done.stderr
    assert time.monotonic() - begin < 20


def test_a_kernel_has_a_time_limit_whose_message_says_how_to_raise_it():
    done = program("""
        module = hpe.module(IMAGE)
        module.launch_kernel("forever", core_num=1)
        try:
            hpe.synchronize()
        except hpe.CruntimeException as error:
            print(error.name, error.detail)
        module.launch_kernel("nothing")
        hpe.synchronize()
        """, ANYNPU_NPC_TIMEOUT="1")
    assert done.stdout.startswith("stcErrorDeviceImageException"), done.stderr
    assert "a kernel may run for 1 s" in done.stdout and "ANYNPU_NPC_TIMEOUT" in done.stdout


# Functions of math.h, what numpy calls them, and their second argument.
FUNCTIONS = [(f"{name}f", name, ()) for name in "sqrt exp log sin cos tanh floor ceil".split()]
FUNCTIONS += [("fabsf", "abs", ()), ("powf", "power", (0.75,)), ("fminf", "minimum", (0.75,)),
              ("fmaxf", "maximum", (0.75,))]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_float_functions_are_right_to_the_last_places(level, tmp_path):
    body = "".join(f"""
        void {name}_of(float* out, const float* in, int n) {{
          for (int i = 0; i < n; ++i) out[i] = {name}(in[i]{"".join(f", {v}f" for v in second)});
        }}""" for name, _, second in FUNCTIONS)
    source = f'#include <math.h>\nextern "C" {{{body}}}\n'
    module = hpe.module(compile_kernels(source, tmp_path, options=level))
    x = np.linspace(0.01, 9, 256, dtype=np.float32)
    there, back = hpe.device_mem(x.nbytes), hpe.device_mem(x.nbytes)
    there.copy_from_host(x)
    for name, known, second in FUNCTIONS:
        module.launch_kernel(f"{name}_of", [back, there, len(x)], core_num=1)
        hpe.synchronize()
        want = getattr(np, known)(x.astype(np.float64), *second).astype(np.float32)
        np.testing.assert_array_max_ulp(np.array(read(back, np.float32), np.float32), want, 2)
