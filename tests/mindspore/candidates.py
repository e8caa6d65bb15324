# SPDX-License-Identifier: Apache-2.0
"""Arguments that sweep.py tries: those of functions that take something of their own are in
special_arguments.py."""
import numpy as np
from special_arguments import SPECIAL

# Values are random: only shapes and types are compared.
RANDOM = {
    "bernoulli", "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "gamma",
    "gumbel_softmax",
    "laplace", "log_uniform_candidate_sampler", "multinomial", "multinomial_with_replacement",
    "normal",
    "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "random_categorical",
    "random_gamma", "random_poisson", "randperm", "rrelu", "standard_laplace", "standard_normal",
    "uniform", "uniform_candidate_sampler", "choice_with_mask", "fractional_max_pool2d",
    "fractional_max_pool3d", "feature_alpha_dropout", "empty", "empty_like", "shuffle",
}
# No operators: transformations of functions, printing, control flow, communication.
LEFT_OUT = {
    "grad", "value_and_grad", "vjp", "jvp", "jacrev", "jacfwd", "vmap", "get_grad", "stop_gradient",
    "print_", "tensordump", "TensorDump", "constexpr", "custom_info_register", "kernel",
    "ms_kernel",
    "while_loop", "for_loop", "scan", "cond", "recompute", "derivative", "jet", "get_vm_impl_fn",
    "all_gather_into_tensor", "all_reduce", "all_to_all_single_with_output_shape",
    "all_to_all_with_output_shape", "barrier", "batch_isend_irecv", "broadcast",
    "gather_into_tensor",
    "irecv", "isend", "P2POp", "recv", "reduce", "reduce_scatter_tensor", "scatter_tensor", "send",
    "flash_attention_score", "prim_attr_register", "shard", "parallel_concat", "set_seed",
    "get_seed",
    "seed", "manual_seed", "initial_seed", "get_rng_state", "set_rng_state", "signature_func",
}


class Maker:
    """Arrays of one candidate; the same for both back ends."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)

    def f(self, *shape):
        return self.random.randn(*shape).astype(np.float32)

    def p(self, *shape):
        return self.random.uniform(0.1, 0.9, shape).astype(np.float32)

    def big(self, *shape):
        return self.random.uniform(1.1, 4, shape).astype(np.float32)

    def i(self, *shape, most=3, kind=np.int64):
        return self.random.randint(0, most, shape).astype(kind)

    def n(self, *shape):
        return self.random.randint(1, 9, shape).astype(np.int32)

    def b(self, *shape):
        return self.random.rand(*shape) > 0.5

    def square(self, n=4):
        return (self.random.randn(n, n) + 4 * np.eye(n)).astype(np.float32)

    def spd(self, n=4):
        a = self.random.randn(n, n)
        return (a @ a.T + n * np.eye(n)).astype(np.float32)

    def c(self, *shape):
        return (self.random.randn(*shape) + 1j * self.random.randn(*shape)).astype(np.complex64)


GENERAL = [
    lambda m: [m.f(3, 4)], lambda m: [m.p(3, 4)], lambda m: [m.big(3, 4)], lambda m: [m.f(2, 3, 4)],
    lambda m: [m.f(3, 4), m.f(3, 4)], lambda m: [m.p(3, 4), m.p(3, 4)],
    lambda m: [m.big(3, 4), m.big(3, 4)],
    lambda m: [m.f(3, 4), m.f(4)], lambda m: [m.n(3, 4), m.n(3, 4)],
    lambda m: [m.b(3, 4), m.b(3, 4)],
    lambda m: [m.n(3, 4)], lambda m: [m.b(3, 4)], lambda m: [m.f(3, 4), 1],
    lambda m: [m.f(3, 4), 0.5],
    lambda m: [m.f(3, 4), 2], lambda m: [m.n(3, 4), 2], lambda m: [m.f(3, 4), (1, 0)],
    lambda m: [m.f(3, 4), (2, 6)],
    lambda m: [m.f(3, 4), (2, 2)], lambda m: [m.f(3, 4), m.f(3, 4), m.f(3, 4)],
    lambda m: [m.p(3, 4), m.p(3, 4), m.p(3, 4)], lambda m: [m.b(3, 4), m.f(3, 4), m.f(3, 4)],
    lambda m: [m.f(3, 4), m.b(3, 4)], lambda m: [m.f(3, 4), m.b(3, 4), 0.5],
    lambda m: [[m.f(3, 4), m.f(3, 4)]], lambda m: [(m.f(4), m.f(4))],
    lambda m: [[m.f(3, 4), m.f(3, 4)], 1],
    lambda m: [m.square()], lambda m: [m.spd()], lambda m: [m.square(), m.f(4, 2)],
    lambda m: [m.f(3, 4), m.f(4, 5)], lambda m: [m.f(2, 3, 4), m.f(2, 4, 5)],
    lambda m: [m.f(4), m.f(4)],
    lambda m: [m.f(3, 4), m.f(4)], lambda m: [m.f(3), m.f(4)], lambda m: [m.f(6)],
    lambda m: [m.f(2, 5), m.f(2, 3), m.f(3, 5)], lambda m: [m.f(2, 2, 5), m.f(2, 2, 3),
                                                            m.f(2, 3, 5)],
    lambda m: [m.f(3, 4), 0, m.i(3, 4)], lambda m: [m.f(3, 4), 0, m.i(2)],
    lambda m: [m.f(3, 4), m.i(2), 0], lambda m: [m.f(3, 4), 1, m.i(3, 4), m.f(3, 4)],
    lambda m: [m.f(3, 4), 0, m.i(2), m.f(2, 4)], lambda m: [m.f(3, 4), m.i(3, 4)],
    lambda m: [m.f(3, 4), m.i(3)], lambda m: [m.f(3, 4), m.i(3, most=4, kind=np.int32)],
    lambda m: [m.i(3, 4), m.f(5, 6)], lambda m: [m.f(3, 4), m.i(2, 1), m.f(2, 4)],
    lambda m: [m.f(3, 4), m.i(2, 1, kind=np.int32), m.f(2, 4)],
    lambda m: [m.f(3, 4), m.i(3, 1, kind=np.int32)], lambda m: [m.f(3, 4), 0, 1],
    lambda m: [m.f(3, 4), 1, 1, 2],
    lambda m: [m.f(3, 4), 0.3, 0.9], lambda m: [m.f(3, 4), -0.5, 0.5], lambda m: [m.f(2, 3, 8, 8)],
    lambda m: [m.f(2, 3, 8, 8), 2], lambda m: [m.f(2, 3, 8, 8), (2, 2)],
    lambda m: [m.f(2, 4, 8, 8), m.f(6, 4, 3, 3)],
    lambda m: [m.f(2, 3, 8), 2], lambda m: [m.f(2, 4, 8), m.f(6, 4, 3)],
    lambda m: [m.f(2, 3, 6, 6, 6), 2],
    lambda m: [m.f(2, 4, 6, 6, 6), m.f(6, 4, 3, 3, 3)], lambda m: [m.f(2, 3, 8, 8), (1, 1, 2, 2)],
    lambda m: [m.f(2, 4, 8, 8), m.f(4, 6, 3, 3)], lambda m: [m.f(2, 3, 8), (1, 2)],
    lambda m: [m.f(2, 4, 8, 8), 2, m.p(4), m.f(4)],
    lambda m: [m.p(4), m.i(4, most=2).astype(np.float32)],
    lambda m: [m.p(3, 4), m.b(3, 4).astype(np.float32)],
    lambda m: [m.f(3, 4), m.b(3, 4).astype(np.float32) * 2 - 1],
    lambda m: [m.f(3, 4), m.f(3, 4), m.b(3).astype(np.float32) * 2 - 1],
    lambda m: [m.f(3, 4), (4,)], lambda m: [m.f(3, 4), [4], m.f(4), m.f(4)], lambda m: [5],
    lambda m: [0, 5], lambda m: [0.0, 1.0, 5],
    lambda m: [(2, 3)], lambda m: [2, 3], lambda m: [(2, 3), 1.5], lambda m: [m.c(3, 4)],
    lambda m: [m.c(3, 4), m.c(3, 4)],
    lambda m: [m.f(3, 4), m.n(3, 4), 2], lambda m: [m.n(6)], lambda m: [m.i(6, most=5)],
    lambda m: [m.f(8), 4],
    lambda m: [m.f(3, 4), 1, 0], lambda m: [m.f(3, 4), (0, 1), (1, 0)],
    lambda m: [m.f(3, 4), 0, (1, 2)], lambda m: [m.f(2, 3, 4), 0, 1],
    lambda m: [m.f(2, 3, 4), 0, 1, 2], lambda m: [np.float32(1.5), m.f(3, 4)],
    lambda m: [2.5, m.f(3, 4)], lambda m: [m.f(3, 4), 3, 0],
    lambda m: [np.sort(m.f(5)), m.f(3)], lambda m: [m.f(3, 4), np.sort(m.f(5))],
    lambda m: [m.f(3, 4), "sum"], lambda m: [m.f(3, 4), m.i(3, 4, kind=np.int32), m.f(3, 4)],
    lambda m: [m.f(3, 4), (0, 0), (2, 3)], lambda m: [m.f(3, 4), (0, 0), (2, 3), (1, 1)],
    lambda m: [m.f(3, 4), m.f(3, 4), 0.5],
    lambda m: [m.f(3, 4), m.f(3, 4), m.f(3, 4), 0.5], lambda m: [m.f(2, 4, 4, 4), 2, 1],
    lambda m: [m.i(4, most=3, kind=np.int32), 3],
    lambda m: [m.i(4, most=3), 3, np.float32(1), np.float32(0)],
    lambda m: [m.f(3, 4), m.p(4), m.f(4)],
    lambda m: [m.f(3, 4), 1e-5], lambda m: ["ij,jk->ik", m.f(3, 4), m.f(4, 5)],
    lambda m: [m.f(3, 4), "float16"],
    lambda m: [m.f(2, 3, 8, 8), m.f(2, 5, 5, 2)], lambda m: [m.f(3, 4), m.i(2, 2, kind=np.int32)],
    lambda m: [m.f(6, 4), m.i(6, most=3, kind=np.int32), 3], lambda m: [m.f(3, 3), 2],
    lambda m: [m.f(3, 4), 2, 1],
]


def without_signs(name, arrays):
    """Singular vectors have any sign: their sizes, and the matrix that they make."""
    if name != "svd" or len(arrays) != 3:
        return arrays
    values, u, v = arrays
    return [values, np.abs(u), np.abs(v), u * values[..., None, :] @ np.swapaxes(v, -1, -2)]


def all_of(name):
    special = SPECIAL.get(name.rpartition(".")[2], [])
    return special + [lambda m, make=make: (make(m), {}) for make in GENERAL]


def count(name):
    return len(all_of(name))


def arguments(name, place):
    """Arguments and keywords of one candidate, arrays as tensors."""
    import mindspore as ms

    def convert(value):
        if isinstance(value, np.ndarray | np.generic):
            return ms.Tensor(value)
        if isinstance(value, list | tuple):
            return type(value)(convert(item) for item in value)
        if hasattr(value, "tensor"):
            return value.tensor()
        return value

    given, keywords = all_of(name)[place](Maker(place))
    return [convert(v) for v in given], {k: convert(v) for k, v in keywords.items()}
