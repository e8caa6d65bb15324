# SPDX-License-Identifier: Apache-2.0
"""Arguments of functions that take something of their own, for candidates.py: the values that the
general candidates do not have."""
from dataclasses import dataclass

import numpy as np


@dataclass
class Sparse:
    """Three values of a 3 x 4 matrix; `tensor` makes it a COOTensor or a CSRTensor."""
    kind: str
    values: np.ndarray

    def tensor(self):
        import mindspore as ms
        values = ms.Tensor(self.values)
        if self.kind == "coo":
            return ms.COOTensor(ms.Tensor(np.array([[0, 1], [1, 2], [2, 0]], np.int32)), values,
                                (3, 4))
        return ms.CSRTensor(ms.Tensor(np.array([0, 1, 2, 3], np.int32)),
                            ms.Tensor(np.array([1, 2, 0], np.int32)), values, (3, 4))


@dataclass
class Type:
    """An element type of MindSpore."""
    name: str

    def tensor(self):
        import mindspore as ms
        return getattr(ms, self.name)


@dataclass
class Parameter:
    """A tensor that the function writes."""
    values: np.ndarray

    def tensor(self):
        import mindspore as ms
        return ms.Parameter(ms.Tensor(self.values))


# name -> list of functions of candidates.Maker that return (arguments, keywords)
SPECIAL = {
    "embedding": [lambda m: ([m.i(3, 4), m.f(5, 6)], {})],
    "arange": [lambda m: ([1, 9, 2], {})],
    "linspace": [lambda m: ([0.0, 1.0, 7], {})],
    "logspace": [lambda m: ([0.0, 1.0, 7], {})],
    "interpolate": [lambda m: ([m.f(2, 3, 4, 4)], {"size": (8, 8), "mode": "nearest"}),
                    lambda m: ([m.f(2, 3, 4, 4)], {"size": (7, 9), "mode": "bilinear",
                                                   "align_corners": True}),
                    lambda m: ([m.f(2, 3, 4, 4)], {"size": (7, 9), "mode": "bilinear",
                                                   "align_corners": False})],
    "batch_norm": [lambda m: ([m.f(2, 3, 4, 4), m.f(3), m.p(3), m.p(3), m.f(3)], {}),
                   lambda m: ([m.f(2, 3, 4, 4), m.f(3), m.p(3), m.p(3), m.f(3)],
                              {"training": True})],
    "layer_norm": [lambda m: ([m.f(2, 3, 4), (4,), m.p(4), m.f(4)], {}),
                   lambda m: ([m.f(2, 3, 4), m.p(4), m.f(4)],
                              {"begin_norm_axis": -1, "begin_params_axis": -1})],
    "group_norm": [lambda m: ([m.f(2, 6, 4, 4), 3, m.p(6), m.f(6)], {})],
    "cross_entropy": [lambda m: ([m.f(5, 4), m.i(5, most=4)], {}),
                      lambda m: ([m.f(5, 4), m.i(5, most=4, kind=np.int32)], {})],
    "nll_loss": [lambda m: ([m.f(5, 4), m.i(5, most=4, kind=np.int32)], {}),
                 lambda m: ([m.f(5, 4), m.i(5, most=4)], {})],
    "conv2d": [lambda m: ([m.f(2, 4, 8, 8), m.f(6, 4, 3, 3)], {}),
               lambda m: ([m.f(2, 4, 8, 8), m.f(6, 2, 3, 3), m.f(6)],
                          {"stride": 2, "padding": 1, "groups": 2}),
               lambda m: ([m.f(2, 4, 8, 8), m.f(6, 4, 3, 3), m.f(6)],
                          {"stride": 2, "pad_mode": "pad", "padding": 1})],
    "max_pool2d": [lambda m: ([m.f(2, 3, 8, 8), 3, 2, 1], {})],
    "avg_pool2d": [lambda m: ([m.f(2, 3, 8, 8), 3, 2, 1], {})],
    "pad": [lambda m: ([m.f(2, 3, 8, 8), (1, 2, 1, 0)], {}),
            lambda m: ([m.f(2, 3, 8, 8), (1, 2, 1, 1)], {"mode": "reflect"}),
            lambda m: ([m.f(2, 3, 8, 8), (1, 2, 1, 1)], {"mode": "replicate"})],
    "one_hot": [lambda m: ([m.i(5, most=4), 4], {}),
                lambda m: ([m.i(5, most=4), 4, np.float32(1), np.float32(0)], {})],
    "grid_sample": [lambda m: ([m.f(2, 3, 8, 8), m.p(2, 5, 5, 2)], {"align_corners": True})],
    "scaled_dot_product_attention": [lambda m: ([m.f(2, 2, 4, 8), m.f(2, 2, 4, 8), m.f(2, 2, 4, 8)],
                                                {})],
    "unfold": [lambda m: ([m.f(2, 3, 8, 8), 3], {})],
    "fold": [lambda m: ([m.f(2, 12, 9), (4, 4), (2, 2)], {})],
    "split": [lambda m: ([m.f(6, 4), 2], {}), lambda m: ([m.f(6, 4), (2, 4)], {})],
    "where": [lambda m: ([m.b(3, 4), m.f(3, 4), m.f(3, 4)], {})],
    "full": [lambda m: ([(2, 3), 1.5], {})],
    "full_like": [lambda m: ([m.f(3, 4), 1.5], {})],
    "rms_norm": [lambda m: ([m.f(3, 4), m.p(4)], {})],
    "addmv": [lambda m: ([m.f(3), m.f(3, 4), m.f(4)], {})],
    "addr": [lambda m: ([m.f(3, 4), m.f(3), m.f(4)], {})],
    "addmm": [lambda m: ([m.f(3, 5), m.f(3, 4), m.f(4, 5)], {})],
    "bounding_box_decode": [lambda m: ([m.f(5, 4), m.f(5, 4)], {"max_shape": (768, 1280)})],
    "bartlett_window": [lambda m: ([np.int32(7)], {})],
    "blackman_window": [lambda m: ([np.int32(7)], {})],
    "broadcast_to": [lambda m: ([m.f(3, 4), (2, 3, 4)], {}), lambda m: ([m.f(4), (3, 4)], {})],
    "cast": [lambda m: ([m.f(3, 4), Type("int32")], {}),
             lambda m: ([m.n(3, 4), Type("float16")], {})],
    "channel_shuffle": [lambda m: ([m.f(2, 6, 4, 4), 3], {})],
    "check_valid": [lambda m: ([m.p(5, 4) * 10, np.array([20, 30, 1], np.float32)], {})],
    "cholesky_inverse": [lambda m: ([np.linalg.cholesky(m.spd()).astype(np.float32)], {})],
    "cholesky_solve": [lambda m: ([m.f(4, 2), np.linalg.cholesky(m.spd()).astype(np.float32)], {})],
    "col2im": [lambda m: ([m.f(2, 3, 4, 9), np.array([4, 4], np.int32)],
                          {"kernel_size": [2, 2], "dilation": [1, 1], "padding_value": [0, 0],
                           "stride": [1, 1]})],
    "conv3d_transpose": [lambda m: ([m.f(2, 4, 4, 4, 4), m.f(4, 6, 3, 3, 3)], {})],
    "conv_transpose2d": [lambda m: ([m.f(2, 4, 5, 5), m.f(4, 6, 3, 3)], {})],
    "crop_and_resize": [lambda m: ([m.p(2, 8, 8, 3), np.array([[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9]],
                                                               np.float32),
                                    np.array([0, 1], np.int32), (4, 4)], {})],
    "ctc_greedy_decoder": [lambda m: ([m.f(6, 2, 5), np.array([6, 4], np.int32)], {})],
    "ctc_loss": [lambda m: ([np.log(m.p(6, 2, 5)), m.i(2, 3, kind=np.int32) + 1,
                             np.array([6, 6], np.int32), np.array([3, 2], np.int32)], {})],
    "deformable_conv2d": [lambda m: ([m.f(1, 2, 6, 6), m.f(3, 2, 3, 3), m.p(1, 27, 4, 4)],
                                     {"kernel_size": (3, 3), "strides": (1, 1, 1, 1),
                                      "padding": (0, 0, 0, 0)})],
    "expand": [lambda m: ([m.f(3, 1), np.array([3, 4])], {})],
    "fill": [lambda m: ([Type("float32"), (2, 3), 1.5], {}),
             lambda m: ([Type("int32"), (2, 3), 4], {})],
    "gamma": [lambda m: ([(2, 3), m.p(2, 3), m.p(2, 3)], {})],
    "index_add": [lambda m: ([Parameter(m.f(3, 4)), np.array([0, 2], np.int32), m.f(2, 4), 0], {})],
    "index_fill": [lambda m: ([m.f(3, 4), 0, np.array([0, 2], np.int32), np.float32(7)], {})],
    "inplace_add": [lambda m: ([m.f(3, 4), m.f(2, 4), (0, 2)], {})],
    "inplace_sub": [lambda m: ([m.f(3, 4), m.f(2, 4), (0, 2)], {})],
    "inplace_update": [lambda m: ([m.f(3, 4), m.f(2, 4), (0, 2)], {})],
    "inplace_index_add": [lambda m: ([Parameter(m.f(3, 4)), np.array([0, 2], np.int32), m.f(2, 4),
                                      0], {})],
    "is_nonzero": [lambda m: ([m.f(1)], {})],
    "laplace": [lambda m: ([(2, 3), m.f(2, 3), m.p(2, 3)], {})],
    "log_uniform_candidate_sampler": [lambda m: ([m.i(3, 1, most=9), 1, 5, True, 9], {})],
    "uniform_candidate_sampler": [lambda m: ([m.i(3, 1, most=9), 1, 5, True, 9], {})],
    "lu_solve": [lambda m: ([m.f(4, 2), m.square(), np.array([1, 2, 3, 4], np.int32)], {})],
    "matrix_diag_part": [lambda m: ([m.f(3, 4), 0, np.float32(0)], {}),
                         lambda m: ([m.f(2, 3, 4), 1, np.float32(0)], {})],
    "max_unpool2d": [lambda m: ([m.f(1, 1, 2, 2), np.array([[[[0, 3], [9, 14]]]]), 2], {})],
    "max_unpool3d": [lambda m: ([m.f(1, 1, 1, 2, 2), np.array([[[[[0, 3], [9, 14]]]]]), (1, 2, 2)],
                                {})],
    "mirror_pad": [lambda m: ([m.f(3, 4), np.array([[1, 1], [2, 1]]), "REFLECT"], {}),
                   lambda m: ([m.f(3, 4), np.array([[1, 1], [2, 1]]), "SYMMETRIC"], {})],
    "multilabel_margin_loss": [lambda m: ([m.f(2, 4),
                                           np.array([[1, 2, -1, 0], [3, -1, 0, 1]], np.int32)],
                                          {})],
    "normal": [lambda m: ([(2, 3), np.float32(0), np.float32(1)], {})],
    "orgqr": [lambda m: ([m.f(4, 3), m.p(3)], {})],
    "ormqr": [lambda m: ([m.f(4, 3), m.p(3), m.f(4, 2)], {})],
    "padding": [lambda m: ([m.f(3, 1), 4], {})],
    "pixel_shuffle": [lambda m: ([m.f(2, 12, 3, 3), 2], {})],
    "pixel_unshuffle": [lambda m: ([m.f(2, 3, 6, 6), 2], {})],
    "polygamma": [lambda m: ([np.int32(1), m.p(3, 4)], {})],
    "randint": [lambda m: ([0, 9, (2, 3)], {})],
    "randint_like": [lambda m: ([m.f(2, 3), 0, 9], {})],
    "random_gamma": [lambda m: ([np.array([2, 3], np.int32), m.p(2)], {})],
    "range": [lambda m: ([np.int32(1), np.int32(9), np.int32(2)], {})],
    "renorm": [lambda m: ([m.f(3, 4), 2, 0, 1.0], {})],
    "reverse_sequence": [lambda m: ([m.f(3, 4), np.array([1, 4, 2]), 1], {})],
    "rot90": [lambda m: ([m.f(3, 4), 1, [0, 1]], {}), lambda m: ([m.f(2, 3, 4), 3, [1, 2]], {})],
    "scalar_cast": [lambda m: ([2, Type("float32")], {})],
    "scatter_nd": [lambda m: ([np.array([[0], [2]], np.int32), m.f(2, 4), (3, 4)], {})],
    "select_scatter": [lambda m: ([m.f(3, 4), m.f(4), 0, 1], {})],
    "slice_scatter": [lambda m: ([m.f(3, 4), m.f(1, 4), 0, 1, 2], {})],
    "soft_margin_loss": [lambda m: ([m.f(3, 4), np.sign(m.f(3, 4))], {})],
    "space_to_batch_nd": [lambda m: ([m.f(1, 2, 4, 4), [2, 2], [[0, 0], [0, 0]]], {})],
    "batch_to_space_nd": [lambda m: ([m.f(4, 2, 2, 2), [2, 2], [[0, 0], [0, 0]]], {})],
    "sparse_segment_mean": [lambda m: ([m.f(5, 4), np.array([0, 2, 4], np.int32),
                                        np.array([0, 0, 1], np.int32)], {})],
    "take": [lambda m: ([m.f(3, 4), m.i(2, 2, most=12)], {})],
    "tensor_dot": [lambda m: ([m.f(3, 4), m.f(4, 5), 1], {}),
                   lambda m: ([m.f(2, 3, 4), m.f(3, 4, 5), 2], {})],
    "uniform": [lambda m: ([(2, 3), np.float32(0), np.float32(1)], {})],
    "poisson": [lambda m: ([(2, 3), np.float32(2)], {})],
    "coo_add": [lambda m: ([Sparse("coo", m.f(3)), Sparse("coo", m.f(3)), np.float32(0)], {})],
    "coo_concat": [lambda m: ([(Sparse("coo", m.f(3)), Sparse("coo", m.f(3)))], {})],
    "csr_add": [lambda m: ([Sparse("csr", m.f(3)), Sparse("csr", m.f(3)), np.float32(1),
                            np.float32(1)], {})],
    "csr_mm": [lambda m: ([Sparse("csr", m.f(3)), m.f(4, 2)], {})],
    "csr_mv": [lambda m: ([Sparse("csr", m.f(3)), m.f(4, 1)], {})],
    "csr_mul": [lambda m: ([Sparse("csr", m.f(3)), m.f(3, 4)], {})],
    "csr_div": [lambda m: ([Sparse("csr", m.f(3)), m.big(3, 4)], {})],
    "csr_reduce_sum": [lambda m: ([Sparse("csr", m.f(3)), 1], {})],
    "csr_softmax": [lambda m: ([Sparse("csr", m.f(3)), Type("float32")], {})],
    "csr_to_dense": [lambda m: ([Sparse("csr", m.f(3))], {})],
    "csr_to_coo": [lambda m: ([Sparse("csr", m.f(3))], {})],
}
for _of_one in ("abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor inv isfinite "
                "isinf isnan log log1p neg relu relu6 round sigmoid sin sinh softsign sqrt square "
                "tan tanh").split():
    for _kind in ("coo", "csr"):
        # Between 0 and 1, where all but acosh are defined.
        SPECIAL[f"{_kind}_{_of_one}"] = [
            lambda m, kind=_kind, more=_of_one == "acosh": ([Sparse(kind,
                m.p(3) + np.float32(more))], {})]
