# SPDX-License-Identifier: Apache-2.0
"""Signals of the host program while kernels run: bad accesses of a kernel are its own, everything
else belongs to the program."""
import signal

from hpe_programs import program


def test_a_bad_access_is_an_exception_also_with_faulthandler_on():
    done = program("""
        import faulthandler
        module = hpe.module(IMAGE)
        module.launch_kernel('nothing')
        hpe.synchronize()
        faulthandler.enable()
        for turn in range(3):
            module.launch_kernel('trap', core_num=2)
            try:
                hpe.synchronize()
            except hpe.CruntimeException as error:
                print(error.name)
        module.launch_kernel('nothing')
        hpe.synchronize()
        print('alive')
    """)
    assert done.stdout.split() == ["stcErrorDeviceImageException"] * 3 + ["alive"], done.stderr
    assert "Fatal Python error" not in done.stderr
    assert "a null pointer" in done.stderr


def test_timers_of_the_program_run_their_handler_during_a_kernel():
    done = program("""
        rang = []
        signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
        module, out = hpe.module(IMAGE), hpe.device_mem(4)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        end = time.monotonic() + 60
        while len(rang) < 5 and time.monotonic() < end:
            module.launch_kernel('work', [out, 3_000_000])
            hpe.synchronize()
        signal.setitimer(signal.ITIMER_REAL, 0)
        there = np.zeros(1, np.int32)
        out.copy_to_host(there)
        expected = np.arange(3_000_000, dtype=np.int64).sum().astype(np.int32)
        print(there[0] == expected, len(rang) >= 5)
    """)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_a_fault_of_the_program_itself_still_ends_it():
    done = program("""
        import ctypes
        module = hpe.module(IMAGE)
        module.launch_kernel('nothing')
        hpe.synchronize()
        ctypes.string_at(8)
    """)
    assert done.returncode == -signal.SIGSEGV
