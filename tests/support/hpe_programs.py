# SPDX-License-Identifier: Apache-2.0
"""Device programs for the HPE tests, compiled with the toolchain of the build, and ways to run
host programs in processes of their own."""
import functools
import os
import subprocess
import sys
import tempfile
import textwrap

LIBRARY = "/usr/local/hpe/riscv32npu/lib/libnpurt_hld.a"  # as the document prints it

KERNELS = """
#include <npurt.h>

extern "C" {
void copy(int *in, int *out, int num) {
    if (CoreID == 0) {
        for (int i = 0; i < num; i++) out[i] = in[i];
    }
}
void nothing() {}
void who(int *out) { out[CoreID] = 100 * CoreNum + CoreID; }
void words(unsigned *out, int a, unsigned b, float c, __fp16 d) {
    if (CoreID != 0) return;
    out[0] = a;
    out[1] = b;
    *(float *)(out + 2) = c * 2;
    *(float *)(out + 3) = (float)d;
}
void many(int *out, int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
    if (CoreID == 0) *out = a + 2*b + 3*c + 4*d + 5*e + 6*f + 7*g + 8*h + 9*i + 10*j;
}
void append(int *log, int value) {
    if (CoreID == 0) log[++log[0]] = value;
}
void work(int *out, int rounds) {
    if (CoreID != 0) return;
    volatile int x = 0;
    for (int i = 0; i < rounds; i++) x = x + i;
    *out = x;
}
void hold(volatile int *released) { while (CoreID == 0 && *released == 0) {} }
void forever() { for (volatile int x = 0;; x = x + 1) {} }
static __attribute__((noinline)) void deep(volatile int *p) { *p = 1; }
void trap() { deep((volatile int *)0); }
void stop() { abort(); }
void say(int n) { if (CoreID == 0) printf("device says %d\\n", n); }
}
"""


def shell(command, cwd=None, **env):
    """Runs a shell line; what it printed."""
    done = subprocess.run(["bash", "-ec", command], cwd=cwd, capture_output=True, text=True,
                          timeout=300, env={**os.environ, **env})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def compile_kernels(source, folder, name="kernels", options=""):
    """The path of the linked object of a device program."""
    with open(os.path.join(folder, name + ".cc"), "w") as file:
        file.write(source)
    shell(f"stc-clang++ --target=riscv32npu {options} -c {name}.cc && "
          f"stc-ld.lld -flavor gnu {name}.o {LIBRARY} -r -o {name}-fatbin.o", cwd=folder)
    return os.path.join(folder, name + "-fatbin.o")


@functools.lru_cache(maxsize=None)
def kernels():
    """The bytes of KERNELS, compiled once a test process."""
    with tempfile.TemporaryDirectory() as folder:
        with open(compile_kernels(KERNELS, folder, options="-O1 -g"), "rb") as file:
            return file.read()


def program(text, *arguments, timeout=300, **env):
    """Runs a Python program with hpe, np and the path of KERNELS as IMAGE; the process."""
    with tempfile.NamedTemporaryFile(suffix=".o") as image:
        image.write(kernels())
        image.flush()
        head = ("import sys, os, gc, time, signal, threading\nimport numpy as np\n"
                "import hpe.hpert.api as hpe\nIMAGE = sys.argv[1]\n")
        return subprocess.run([sys.executable, "-c", head + textwrap.dedent(text), image.name,
                               *arguments],
                              capture_output=True, text=True, timeout=timeout,
                              env={**os.environ, **env})


def output(text, *arguments, **env):
    """What a program printed; it has to end well."""
    done = program(text, *arguments, **env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
