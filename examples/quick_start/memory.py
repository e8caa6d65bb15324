# SPDX-License-Identifier: Apache-2.0
"""The smallest pyACL program that checks every code: bytes to a device and back."""
import numpy as np

import acl

TO_DEVICE, TO_HOST = 1, 2


def check(ret, what):
    if ret != 0:
        raise SystemExit(f"{what} failed with {ret}: {acl.get_recent_err_msg()}")


def main():
    check(acl.init(), "init")
    check(acl.rt.set_device(0), "set_device")
    sent = np.arange(1000, dtype=np.float32)
    received = np.zeros_like(sent)
    device, ret = acl.rt.malloc(sent.nbytes, 0)
    check(ret, "malloc")
    check(acl.rt.memcpy(device, sent.nbytes, acl.util.numpy_to_ptr(sent), sent.nbytes, TO_DEVICE),
          "memcpy")
    check(acl.rt.memcpy(acl.util.numpy_to_ptr(received), sent.nbytes, device, sent.nbytes, TO_HOST),
          "memcpy")
    print(f"{acl.get_soc_name()}: the same {sent.nbytes} bytes: {np.array_equal(sent, received)}")
    check(acl.rt.free(device), "free")
    check(acl.rt.reset_device(0), "reset_device")
    check(acl.finalize(), "finalize")


if __name__ == "__main__":
    main()
