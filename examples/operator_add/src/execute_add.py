# SPDX-License-Identifier: Apache-2.0
"""Adds two matrices with the single operator Add; run it in the folder test_data."""
import numpy as np

import acl

INT32, ND = 3, 2
NORMAL_ONLY, TO_DEVICE, TO_HOST = 2, 1, 2


def check(ret, what):
    if ret != 0:
        raise SystemExit(f"{what} failed with {ret}: {acl.get_recent_err_msg()}")


class Adder:
    """The operator and what it needs on one device."""

    def __init__(self, device=0, models="op_models"):
        print("init resource stage:")
        check(acl.init("config/acl.json"), "init")
        check(acl.rt.set_device(device), "set_device")
        self.device = device
        self.context, ret = acl.rt.create_context(device)
        check(ret, "create_context")
        self.stream, ret = acl.rt.create_stream()
        check(ret, "create_stream")
        check(acl.op.set_model_dir(models), "set_model_dir")
        self.attr = acl.op.create_attr()
        print("init resource success")

    def tensor(self, array):
        """(description, buffer, address) of an array on the device."""
        desc = acl.create_tensor_desc(INT32, list(array.shape), ND)
        size = acl.get_tensor_desc_size(desc)
        address, ret = acl.rt.malloc(size, NORMAL_ONLY)
        check(ret, "malloc")
        check(acl.rt.memcpy(address, size, acl.util.numpy_to_ptr(array), size, TO_DEVICE), "memcpy")
        return desc, acl.create_data_buffer(address, size), address

    def add(self, a, b):
        print("gen input data stage:")
        inputs = [self.tensor(a), self.tensor(b)]
        print("gen input data success\ngen output data stage:")
        result = np.zeros_like(a)
        output = self.tensor(result)
        print("gen output data success\nexecute stage:")
        check(acl.op.execute_v2("Add", [t[0] for t in inputs], [t[1] for t in inputs], [output[0]],
                                [output[1]], self.attr, self.stream), "execute")
        check(acl.rt.synchronize_stream(self.stream), "synchronize")
        print("execute success\nget operator result stage:")
        check(acl.rt.memcpy(acl.util.numpy_to_ptr(result), result.nbytes, output[2], result.nbytes,
                            TO_HOST), "memcpy")
        for desc, buffer, address in [*inputs, output]:
            acl.destroy_tensor_desc(desc)
            check(acl.destroy_data_buffer(buffer), "destroy_data_buffer")
            check(acl.rt.free(address), "free")
        return result

    def release(self):
        print("release source stage:")
        acl.op.destroy_attr(self.attr)
        check(acl.rt.destroy_stream(self.stream), "destroy_stream")
        check(acl.rt.destroy_context(self.context), "destroy_context")
        check(acl.rt.reset_device(self.device), "reset_device")
        check(acl.finalize(), "finalize")
        print("release source success")


def main():
    a, b = (np.random.randint(0, 100, (8, 16)).astype(np.int32) for _ in range(2))
    print(f"factor_a:\n{a}\nfactor_b:\n{b}")
    adder = Adder()
    result = adder.add(a, b)
    print(f"shape: {result.shape}\nACL output:\n{result}\nget operator result success")
    adder.release()
    assert np.array_equal(result, a + b)


if __name__ == "__main__":
    main()
