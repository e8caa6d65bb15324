# SPDX-License-Identifier: Apache-2.0
"""Guide 4.6.2 (operators behind a model) and 6 (single operators)."""

import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from blocks import block, read_bytes, run_block, shell, write_bytes
from build_tree import ROOT


def tensor(kind, shape):
    return {"format": "ND", "shape": shape, "type": kind}


@pytest.fixture
def op_models(tmp_path, monkeypatch):
    """The folder op_models of the guide's examples, made by atc in the current folder."""
    ops = [{"op": "Cast", "input_desc": [tensor("float", [1000])],
            "output_desc": [tensor("float16", [1000])],
            "attr": [{"name": "truncate", "type": "bool", "value": False},
                     {"name": "dst_type", "type": "int", "value": 1}]},
           {"op": "ArgMaxD", "input_desc": [tensor("float16", [1000])],
            "output_desc": [tensor("int32", [1])],
            "attr": [{"name": "dimension", "type": "int", "value": 0}]}]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.json").write_text(json.dumps(ops))
    done = subprocess.run(["atc", "--singleop=ops.json", "--output=op_models",
                           "--soc_version=Ascend310P3"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return tmp_path / "op_models"


class PostProcess:
    """What the guide calls `self`: a Cast and an ArgMaxD behind a model's output."""

    def __init__(self, acl, scores):
        self.acl = acl
        self.stream = 0
        self.address, _ = acl.rt.malloc(scores.nbytes, 2)
        write_bytes(acl, self.address, scores.tobytes())
        self.dataset = acl.mdl.create_dataset()
        acl.mdl.add_dataset_buffer(self.dataset, acl.create_data_buffer(self.address,
                                                                        scores.nbytes))
        self.tensor_size_arg_max_d = self.output_shape = 4

    def _forward_op_cast(self):
        acl = self.acl
        source = acl.create_tensor_desc(0, [1000], 2)
        self.cast_desc = acl.create_tensor_desc(1, [1000], 2)
        size = acl.get_tensor_desc_size(self.cast_desc)
        self.dev_buffer_cast, _ = acl.rt.malloc(size, 2)
        self.output_buffer_cast = acl.create_data_buffer(self.dev_buffer_cast, size)
        assert acl.op.cast(source, self.input_buffer, self.cast_desc, self.output_buffer_cast, 0,
                           self.stream) == 0
        assert acl.rt.synchronize_stream(self.stream) == 0

    def _forward_op_arg_max_d(self):
        acl = self.acl
        out = acl.create_tensor_desc(3, [1], 2)
        self.dev_buffer_arg_max_d, _ = acl.rt.malloc(4, 2)
        self.output_buffer_arg_max_d = acl.create_data_buffer(self.dev_buffer_arg_max_d, 4)
        attr = acl.op.create_attr()
        assert acl.op.set_attr_int(attr, "dimension", 0) == 0
        assert acl.op.execute_v2("ArgMaxD", [self.cast_desc], [self.output_buffer_cast], [out],
                                 [self.output_buffer_arg_max_d], attr, self.stream) == 0
        assert acl.rt.synchronize_stream(self.stream) == 0


@block("4.6.2", 'ret = acl.op.set_model_dir("./op_models")',
       slips=("host_buffer is read as buffer_host",
              "output_shape is passed as a size in bytes: 4 of them make one int32"))
def test_results_of_a_model_are_processed_by_operators(ready, op_models, capsys):
    scores = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
    scores[321] = 9
    owner = PostProcess(ready, scores)
    run_block("""
        ACL_MEMCPY_DEVICE_TO_HOST = 2
        ret = acl.op.set_model_dir("./op_models")
        self.input_buffer = acl.mdl.get_dataset_buffer(dataset_ptr, 0)
        self._forward_op_cast()
        self._forward_op_arg_max_d()
        host_buffer, ret = acl.rt.malloc_host(self.tensor_size_arg_max_d)
        ret = acl.rt.memcpy(host_buffer,
                            self.tensor_size_arg_max_d,
                            self.dev_buffer_arg_max_d,
                            self.tensor_size_arg_max_d,
                            ACL_MEMCPY_DEVICE_TO_HOST)
        bytes_out = acl.util.ptr_to_bytes(host_buffer, self.output_shape)
        data = np.frombuffer(bytes_out, dtype=np.int32).reshape((1,))
        print("[SingleOP][ArgMaxOp] label of classification result is:{}".format(data[0]))
        ret = acl.rt.free_host(host_buffer)
        ret = acl.rt.free(self.dev_buffer_cast)
        ret = acl.rt.free(self.dev_buffer_arg_max_d)
        ret = acl.destroy_data_buffer(self.output_buffer_cast)
        ret = acl.destroy_data_buffer(self.output_buffer_arg_max_d)
    """, acl=ready, np=np, self=owner, dataset_ptr=owner.dataset)
    assert "label of classification result is:321" in capsys.readouterr().out


@block("6.4", "import acl (gemm_ex)",
       slips=("acl_dtype stands for in_dtype and out_dtype, which the call names input_type and "
              "output_type", "sizes of B and C are those of A: m = n = k here",
              "dev_alpha and dev_beta are not made"))
def test_a_matrix_product_through_cblas(op_models, tmp_path):
    import acl
    (tmp_path / "test_data" / "config").mkdir(parents=True)
    (tmp_path / "test_data" / "config" / "acl.json").write_text("{}")
    m = n = k = 16
    a, b = (np.random.default_rng(i).standard_normal((m, k)).astype(np.float16) for i in (1, 2))

    def factor(value):
        address, _ = acl.rt.malloc(2, 2)
        write_bytes(acl, address, np.float16(value).tobytes())
        return address

    found = {}

    def look(names):
        found["c"] = np.frombuffer(read_bytes(acl, names, 2 * m * n), np.float16).reshape(m, n)

    run_block("""
        ACL_MEM_MALLOC_NORMAL_ONLY = 2
        ACL_TRANS_N = 0
        ACL_COMPUTE_HIGH_PRECISION = 0
        ACL_MEMCPY_HOST_TO_DEVICE = 1
        ACL_MEMCPY_DEVICE_TO_HOST = 2
        ret = acl.init("test_data/config/acl.json")
        ret = acl.op.set_model_dir("op_models")
        device_id = 0
        ret = acl.rt.set_device(device_id)
        in_dtype, out_dtype = 1, 1
        acl_dtype = input_type = output_type = in_dtype
        size_a = m * k * acl.data_type_size(acl_dtype)
        size_b = m * k * acl.data_type_size(acl_dtype)
        size_c = m * k * acl.data_type_size(acl_dtype)
        dev_matrix_a, ret = acl.rt.malloc(size_a, ACL_MEM_MALLOC_NORMAL_ONLY)
        dev_matrix_b, ret = acl.rt.malloc(size_b, ACL_MEM_MALLOC_NORMAL_ONLY)
        dev_matrix_c, ret = acl.rt.malloc(size_c, ACL_MEM_MALLOC_NORMAL_ONLY)
        host_matrix_a, ret = acl.rt.malloc_host(size_a)
        host_matrix_b, ret = acl.rt.malloc_host(size_b)
        host_matrix_c, ret = acl.rt.malloc_host(size_c)
        read_file(host_matrix_a, a)
        read_file(host_matrix_b, b)
        dev_alpha, dev_beta = factor(1), factor(0)
        ret = acl.rt.memcpy(dev_matrix_a, size_a, host_matrix_a, size_a, ACL_MEMCPY_HOST_TO_DEVICE)
        ret = acl.rt.memcpy(dev_matrix_b, size_b, host_matrix_b, size_b, ACL_MEMCPY_HOST_TO_DEVICE)
        stream, ret = acl.rt.create_stream()
        ret = acl.blas.gemm_ex(ACL_TRANS_N, ACL_TRANS_N, ACL_TRANS_N, m, n, k, dev_alpha,
                               dev_matrix_a, k, input_type, dev_matrix_b, n, input_type, dev_beta,
                               dev_matrix_c, n, output_type, ACL_COMPUTE_HIGH_PRECISION, stream)
        ret = acl.rt.synchronize_stream(stream)
        ret = acl.rt.memcpy(host_matrix_c, size_c, dev_matrix_c, size_c, ACL_MEMCPY_DEVICE_TO_HOST)
        look(host_matrix_c)
        ret = acl.rt.destroy_stream(stream)
        ret = acl.rt.reset_device(device_id)
        ret = acl.finalize()
    """, acl=acl, m=m, n=n, k=k, a=a, b=b, factor=factor, look=look,
              read_file=lambda address, data: write_bytes(acl, address, data.tobytes()))
    np.testing.assert_allclose(found["c"].astype(np.float32),
                               a.astype(np.float32) @ b.astype(np.float32), rtol=5e-3, atol=2e-2)


@block("6.6", "ret = acl.op.infer_shape(op_type, ...)",
       slips=("infer_desc_list stands for self.out_desc_list of the call before it",
              "the buffers of self.out_list are made from tensor_dims, which the page leaves out"))
def test_an_operator_whose_shape_only_the_data_decides(ready):
    acl = ready
    x = np.array([[0, 7, 0], [5, 0, 1]], np.int32)
    address, _ = acl.rt.malloc(x.nbytes, 2)
    write_bytes(acl, address, x.tobytes())
    desc = acl.create_tensor_desc(3, [2, 3], 2)
    compiled = [acl.create_tensor_desc(9, [-1, 2], 2)]
    assert acl.op.compile("Where", [desc], compiled, 0, 0, 0, "") == 0
    out = [acl.create_tensor_desc(9, [], 2)]
    buffer = acl.create_data_buffer(address, x.nbytes)
    owner = SimpleNamespace(in_desc_list=[desc], in_list=[buffer], out_desc_list=out,
                            attr=acl.op.create_attr(), stream=0)

    def make_outputs(tensor_dims):
        owner.out_desc_list = [acl.create_tensor_desc(9, dims, 2) for dims in tensor_dims]
        sizes = [acl.get_tensor_desc_size(d) for d in owner.out_desc_list]
        owner.addresses = [acl.rt.malloc(size, 2)[0] for size in sizes]
        owner.out_list = [acl.create_data_buffer(a, s) for a, s in zip(owner.addresses, sizes)]

    names = run_block("""
        ret = acl.op.infer_shape(op_type, self.in_desc_list, self.in_list, num_outputs,
                                 self.out_desc_list, self.attr)
        infer_desc_list = self.out_desc_list
        tensor_dims = []
        for i in range(len(infer_desc_list)):
            dim_nums = acl.get_tensor_desc_num_dims(infer_desc_list[i])
            dim_size = []
            for j in range(dim_nums):
                dim, ret = acl.get_tensor_desc_dim_v2(infer_desc_list[i], j)
                if dim == -1:
                    dim_range, ret = acl.get_tensor_desc_dim_range(infer_desc_list[i], j, 2)
                    dim = dim_range[1]
                dim_size.append(dim)
            tensor_dims.append(dim_size)
        make_outputs(tensor_dims)
        ret = acl.op.execute_v2(op_type, self.in_desc_list, self.in_list, self.out_desc_list,
                                self.out_list, self.attr, self.stream)
        out_tensor_dims = []
        for i in range(len(self.out_desc_list)):
            dim_nums = acl.get_tensor_desc_num_dims(self.out_desc_list[i])
            dim_size = []
            for j in range(dim_nums):
                dim, ret = acl.get_tensor_desc_dim_v2(self.out_desc_list[i], j)
                dim_size.append(dim)
            out_tensor_dims.append(dim_size)
    """, acl=acl, self=owner, op_type="Where", num_outputs=1, make_outputs=make_outputs)
    assert names["tensor_dims"] == [[6, 2]]
    assert names["out_tensor_dims"] == [[3, 2]]
    assert acl.rt.synchronize_stream(owner.stream) == 0
    found = np.frombuffer(read_bytes(acl, owner.addresses[0], 3 * 16), np.int64).reshape(3, 2)
    assert found.tolist() == np.argwhere(x).tolist()


@block("6.3", "(text) by type and by handle, operators with functions of their own and without",
       note="a rule stated in words")
def test_6_3_an_operator_runs_by_type_and_by_handle(ready, op_models):
    acl = ready
    assert acl.op.set_model_dir(str(op_models)) == 0
    scores = np.random.default_rng(3).standard_normal(1000).astype(np.float32)
    source, half = acl.create_tensor_desc(0, [1000], 2), acl.create_tensor_desc(1, [1000], 2)
    label = acl.create_tensor_desc(3, [1], 2)
    addresses = [acl.rt.malloc(size, 2)[0] for size in (4000, 2000, 4)]
    buffers = [acl.create_data_buffer(a, s) for a, s in zip(addresses, (4000, 2000, 4))]
    write_bytes(acl, addresses[0], scores.tobytes())
    attr = acl.op.create_attr()
    assert acl.op.set_attr_int(attr, "dimension", 0) == 0
    cast, ret = acl.op.create_handle_for_cast(source, half, 0)
    assert ret == 0
    arg_max, ret = acl.op.create_handle("ArgMaxD", [half], [label], attr)
    assert ret == 0
    for by_handle in (False, True):
        for address, size in zip(addresses[1:], (2000, 4)):
            assert acl.rt.memset(address, size, 0, size) == 0
        if by_handle:
            assert acl.op.execute_with_handle(cast, buffers[:1], buffers[1:2], 0) == 0
            assert acl.op.execute_with_handle(arg_max, buffers[1:2], buffers[2:], 0) == 0
        else:
            assert acl.op.cast(source, buffers[0], half, buffers[1], 0, 0) == 0
            assert acl.op.execute_v2("ArgMaxD", [half], buffers[1:2], [label], buffers[2:], attr,
                                     0) == 0
        assert acl.rt.synchronize_stream(0) == 0
        found = np.frombuffer(read_bytes(acl, addresses[2], 4), np.int32)[0]
        assert found == scores.astype(np.float16).argmax()
    acl.op.destroy_handle(cast)
    acl.op.destroy_handle(arg_max)


@block("6.3", "(text) acl.op.load: a model from memory that the program keeps",
       note="a rule stated in words")
def test_6_3_a_model_is_loaded_from_memory(ready, op_models):
    acl = ready
    model = (op_models / "1_ArgMaxD_1_2_1000_3_2_1.om").read_bytes()
    half, label = acl.create_tensor_desc(1, [1000], 2), acl.create_tensor_desc(3, [1], 2)
    attr = acl.op.create_attr()
    assert acl.op.set_attr_int(attr, "dimension", 0) == 0
    assert acl.op.create_handle("ArgMaxD", [half], [label], attr)[1] == 100024
    assert acl.op.load(acl.util.bytes_to_ptr(model), len(model)) == 0
    handle, ret = acl.op.create_handle("ArgMaxD", [half], [label], attr)
    assert ret == 0
    acl.op.destroy_handle(handle)


ADD_KERNEL = """
#include <npurt.h>
extern "C" __global__ void cce_add_11_33_float16_11_33_float16_kernel0(
    __fp16* a, __fp16* b, __fp16* out, int* tiling) {
  for (int i = CoreID; i < tiling[0]; i += CoreNum) out[i] = a[i] + b[i];
}
"""


@pytest.mark.skipif(shutil.which("clang-19") is None, reason="clang-19 is not installed")
@block("6.7", "op_selector(in_num, in_desc, out_num, out_desc, op_attr, op_kernel_desc)",
       slips=("the line is the head of a function: def and : are missing",))
@block("6.7", "import acl (register_compile_func)",
       slips=("np_op_0_ptr and op_data_size_0 come from a file that is read before",
              "the stream is not synchronised before the result is copied"))
@block("6.7", "ret = acl.rt.destroy_stream(stream)")
def test_6_7_a_selector_chooses_a_kernel_for_the_shape(tmp_path):
    import acl
    (tmp_path / "add.cc").write_text(ADD_KERNEL)
    shell("""
        stc-clang++ --target=riscv32npu -O2 -c add.cc
        stc-ld.lld -flavor gnu add.o /usr/local/hpe/riscv32npu/lib/libnpurt_hld.a -r -o add-fat.o
    """, cwd=tmp_path)
    kernel = np.fromfile(tmp_path / "add-fat.o", np.uint8)
    names = run_block("""
        def op_selector(in_num, in_desc, out_num, out_desc, op_attr, op_kernel_desc):
            count = 1
            for i in range(acl.get_tensor_desc_num_dims(in_desc[0])):
                count *= acl.get_tensor_desc_dim_v2(in_desc[0], i)[0]
            tiling = np.array([count], np.int32)
            return acl.op.set_kernel_args(op_kernel_desc,
                                          "cce_add_11_33_float16_11_33_float16_kernel0", 2,
                                          acl.util.numpy_to_ptr(tiling), tiling.nbytes)
        op_select = op_selector
        ACL_ENGINE_AICORE = 1
        ACL_FLOAT16 = 1
        ACL_FORMAT_ND = 2
        ACL_MEM_MALLOC_NORMAL_ONLY = 2
        ACL_MEMCPY_HOST_TO_DEVICE = 1
        ACL_MEMCPY_DEVICE_TO_HOST = 2
        device_id = 0
        ret = acl.init()
        ret = acl.rt.set_device(device_id)
        stream, ret = acl.rt.create_stream()
        ret = acl.op.register_compile_func("add", op_select)
        ret = acl.op.create_kernel("add", "cce_add_11_33_float16_11_33_float16_kernel0",
                                   "cce_add_11_33_float16_11_33_float16_kernel0", np_op_0_ptr,
                                   op_data_size_0, ACL_ENGINE_AICORE, 0)
        a = np.random.rand(2, 1).astype(np.float16)
        b = np.random.rand(2, 1).astype(np.float16)
        bytes_data = a.tobytes()
        a_ptr = acl.util.bytes_to_ptr(bytes_data)
        a_bytes = bytes_data
        bytes_data = b.tobytes()
        b_ptr = acl.util.bytes_to_ptr(bytes_data)
        input_desc_list = [acl.create_tensor_desc(ACL_FLOAT16, [2, 1], ACL_FORMAT_ND),
                           acl.create_tensor_desc(ACL_FLOAT16, [2, 1], ACL_FORMAT_ND)]
        output_desc_list = [acl.create_tensor_desc(ACL_FLOAT16, [2, 1], ACL_FORMAT_ND)]
        size_a = acl.get_tensor_desc_size(input_desc_list[0])
        size_b = acl.get_tensor_desc_size(input_desc_list[1])
        size_c = acl.get_tensor_desc_size(output_desc_list[0])
        dev_a, ret = acl.rt.malloc(size_a, ACL_MEM_MALLOC_NORMAL_ONLY)
        dev_b, ret = acl.rt.malloc(size_b, ACL_MEM_MALLOC_NORMAL_ONLY)
        dev_c, ret = acl.rt.malloc(size_c, ACL_MEM_MALLOC_NORMAL_ONLY)
        ret = acl.rt.memcpy(dev_a, size_a, a_ptr, size_a, ACL_MEMCPY_HOST_TO_DEVICE)
        ret = acl.rt.memcpy(dev_b, size_b, b_ptr, size_b, ACL_MEMCPY_HOST_TO_DEVICE)
        op_attr = acl.op.create_attr()
        ret = acl.op.update_params("add", input_desc_list, output_desc_list, op_attr)
        in_data_list = [acl.create_data_buffer(dev_a, size_a),
                        acl.create_data_buffer(dev_b, size_b)]
        out_data_list = [acl.create_data_buffer(dev_c, size_c)]
        ret = acl.op.execute_v2("add", input_desc_list, in_data_list, output_desc_list,
                                out_data_list, op_attr, stream)
        ret = acl.rt.synchronize_stream(stream)
        host_ptr, ret = acl.rt.malloc_host(size_c)
        ret = acl.rt.memcpy(host_ptr, size_c, dev_c, size_c, ACL_MEMCPY_DEVICE_TO_HOST)
        bytes_out = acl.util.ptr_to_bytes(host_ptr, size_c)
        out_np = np.frombuffer(bytes_out, dtype=np.byte).reshape((size_c,))
        ret = acl.rt.destroy_stream(stream)
        ret = acl.rt.reset_device(device_id)
        ret = acl.finalize()
    """, acl=acl, np=np, np_op_0_ptr=acl.util.numpy_to_ptr(kernel), op_data_size_0=kernel.nbytes)
    np.testing.assert_array_equal(names["out_np"].view(np.float16).reshape(2, 1),
                                  names["a"] + names["b"])


@block("9.5.2.1.1", "acl_operator_add",
       note="the folder tree; config and op_models are in test_data")
@block("9.5.2.1.2", "atc --singleop=config/add_op.json --soc_version=Ascendxxx --output=op_models")
@block("9.5.2.1.2", "python3 ../src/acl_execute_add.py",
       note="our own program of the same shape: examples/operator_add")
def test_the_sample_of_matrix_addition(tmp_path):
    source = os.path.join(ROOT, "examples", "operator_add")
    shutil.copytree(source, tmp_path / "sample")
    data = tmp_path / "sample" / "test_data"
    shell("""
        atc --singleop=config/add_op.json --soc_version=Ascend310P3 --output=op_models
        test -f op_models/0_Add_3_2_8_16_3_2_8_16_3_2_8_16.om
    """, cwd=data)
    printed = shell(f"{sys.executable} ../src/execute_add.py", cwd=data)
    for line in ("factor_a:", "init resource success", "execute success", "shape: (8, 16)",
                 "ACL output:", "release source success"):
        assert line in printed
