# SPDX-License-Identifier: Apache-2.0
"""Every public name of the packages, both versions of the original together."""
import importlib
import inspect

import pytest

import aclruntime
from ais_bench.infer import interface
from ais_bench.infer import summary as summary_module

INFER_SESSION = """
check_dym_aipp_input_exist convert_tensors_to_arrays convert_tensors_to_host
create_tensor_from_arrays_to_device create_tensor_from_fileslist finalize first_inner_run
free_device free_resource get_dym_aipp_input_exist get_inputs get_max_dym_batchsize get_outputs
infer infer_iteration infer_pipeline inner_run load_aipp_config_file reset_sumaryinfo
reset_summaryinfo run run_pipeline set_context set_custom_outsize set_dynamic_batchsize
set_dynamic_dims set_dynamic_hw set_dynamic_shape set_loop_count set_staticbatch sumary summary"""
ATTRIBUTES = """acl_json_path debug device_id infer_mode_switch intensors_desc loop model_path
options outputs_names outtensors_desc session"""
MULTI_DEVICE = """infer infer_iteration infer_pipeline print_subprocess_run_error reset_summaryinfo
subprocess_infer subprocess_infer_iteration subprocess_infer_pipeline summary"""
MEMORY_SUMMARY = """get_D2H_time_list get_H2D_time_list get_d2h_time_list get_h2d_time_list reset"""
ACLRUNTIME = """BaseTensor InferenceSession MemorySummary Tensor batch bool double dtype float16
float32 infer_options int16 int32 int64 int8 memory_device memory_dvpp memory_host model
session_options sumary tensor_desc type uint16 uint32 uint64 uint8"""
INFERENCE_SESSION = """aipp_set_ax_swap_switch aipp_set_crop_params aipp_set_csc_params
aipp_set_dtc_pixel_mean aipp_set_dtc_pixel_min aipp_set_input_format aipp_set_max_batch_size
aipp_set_padding_params aipp_set_pixel_var_reci aipp_set_rbuv_swap_switch aipp_set_src_image_size
check_dym_aipp_input_exist create_tensor_from_fileslist finalize first_inner_run free_resource
get_dym_aipp_input_exist get_inputs get_max_dym_batchsize get_outputs inner_run options
reset_sumaryinfo run run_pipeline set_context set_custom_outsize set_dym_aipp_info_set
set_dynamic_batchsize set_dynamic_dims set_dynamic_hw set_dynamic_shape set_staticbatch sumary"""
TENSOR = "device dtype shape to_device to_dvpp to_host type"
SUMMARY = """add_batchsize d2h_latency_list h2d_latency_list infodict npu_compute_time_list report
reset"""


@pytest.mark.parametrize("place, names", [
    (interface.InferSession, INFER_SESSION), (interface.MultiDeviceSession, MULTI_DEVICE),
    (interface.MemorySummary, MEMORY_SUMMARY), (aclruntime, ACLRUNTIME),
    (aclruntime.InferenceSession, INFERENCE_SESSION), (aclruntime.Tensor, TENSOR),
    (summary_module.summary, SUMMARY),
], ids=lambda value: getattr(value, "__name__", ""))
def test_every_name_is_there(models, place, names):
    if place is interface.MultiDeviceSession:
        place = place(models("fixed"))
    assert [name for name in names.split() if not hasattr(place, name)] == []


def test_a_session_has_its_attributes(make):
    session = make("fixed")
    assert [name for name in ATTRIBUTES.split() if not hasattr(session, name)] == []
    assert list(session.infer_mode_switch) == ["static", "dymbatch", "dymhw", "dymdims", "dymshape"]


@pytest.mark.parametrize("function, arguments", [
    ("InferSession", "device_id model_path acl_json_path=None debug=False loop=1"),
    ("InferSession.infer", "feeds mode='static' custom_sizes=100000 out_array=True"),
    ("InferSession.infer_pipeline", "feeds_list mode='static' custom_sizes=100000"),
    ("InferSession.infer_iteration", "feeds in_out_list=None iteration_times=1 mode='static' "
     "custom_sizes=100000 mem_copy=True"),
    ("InferSession.run", "feeds out_array=False"),
    ("InferSession.run_pipeline", "infilelist output auto_shape=False auto_dims=False "
     "outfmt='BIN' pure_infer_mode=False extra_session=None"),
    ("InferSession.inner_run", "in_out_list get_outputs=False mem_copy=True"),
    ("InferSession.set_dynamic_hw", "w h"),
    ("MultiDeviceSession.infer", "device_feeds mode='static' custom_sizes=100000"),
    ("MultiDeviceSession.infer_pipeline", "device_feeds_list mode='static' custom_sizes=100000"),
])
def test_arguments_have_the_names_and_defaults_of_the_guide(function, arguments):
    found = interface
    for part in function.split("."):
        found = getattr(found, part)
    parameters = [str(parameter) for parameter in inspect.signature(found).parameters.values()]
    assert [text for text in parameters if text != "self"] == arguments.split()


def test_other_methods_work_by_themselves(make, tmp_path, capfd):
    import numpy as np
    from om_models import image
    session, x = make("fixed"), image(1, 3, 8, 8)
    want = session.infer([x])
    session.set_context()
    session.set_staticbatch()
    assert session.get_max_dym_batchsize() == 0 and make("batch").get_max_dym_batchsize() == 4
    assert session.get_dym_aipp_input_exist() == 0
    with pytest.raises(RuntimeError):
        session.check_dym_aipp_input_exist()
    x.tofile(tmp_path / "x.bin")
    desc = session.get_inputs()[0]
    tensor = session.create_tensor_from_fileslist(desc, [str(tmp_path / "x.bin")])
    outputs = session.run([tensor])
    session.convert_tensors_to_host(outputs)
    for got, expected in zip(session.convert_tensors_to_arrays(outputs), want):
        np.testing.assert_array_equal(got, expected)
    tensor = session.create_tensor_from_arrays_to_device(x)
    assert tensor.device == 0
    np.testing.assert_array_equal(session.run([tensor], out_array=True)[0], want[0])
    session.set_loop_count(3)
    session.reset_summaryinfo()
    session.infer([x])
    assert len(session.summary()) == 3
    interface.MultiDeviceSession.print_subprocess_run_error("told")
    assert "told" in capfd.readouterr().out


MODULES = {
    "interface": "InferSession MultiDeviceSession MemorySummary",
    "summary": "summary",
    "common.utils": """logger logger_print get_file_content get_file_datasize get_fileslist_from_dir
    list_split natural_sort save_data_to_files""",
    "utils": "logger logger_print",
    "args_adapter": "BenchMarkArgsAdapter AISBenchInferArgsAdapter",
    "benchmark_process": "benchmark_process",
    "infer_process": "infer_process",
    "common.io_operations": "PURE_INFER_FAKE_FILE PADDING_INFER_FAKE_FILE get_pure_infer_data",
    "io_oprations": "pure_infer_fake_file padding_infer_fake_file get_pure_infer_data",
    "common.path_security_check": "FileStat is_legal_args_path_string",
    "path_security_check": "FileStat",
}


@pytest.mark.parametrize("module", MODULES)
def test_modules_that_scripts_import(module):
    found = importlib.import_module(f"ais_bench.infer.{module}")
    assert [name for name in MODULES[module].split() if not hasattr(found, name)] == []


def test_logger_print_is_a_line_of_the_command(capfd):
    from ais_bench.infer.common.utils import logger_print
    logger_print("told by a script")
    assert "[INFO] told by a script" in capfd.readouterr().out


def test_the_command_runs_from_python(models, tmp_path, capfd):
    from ais_bench.infer.args_adapter import BenchMarkArgsAdapter
    from ais_bench.infer.benchmark_process import benchmark_process
    args = BenchMarkArgsAdapter(model=models("batch"), output=str(tmp_path / "out"), loop=2,
                                dym_batch=2, outfmt="NPY")
    assert (args.dymBatch, args.dym_batch, args.om_model) == (2, 2, args.model)
    args.dym_batch = 4
    assert args.get_all_args_dict()["--dymBatch"] == 4
    assert benchmark_process(args) == 0
    assert "throughput" in capfd.readouterr().out
    (folder,) = [path for path in (tmp_path / "out").iterdir() if path.is_dir()]
    assert list(folder.iterdir())[0].suffix == ".npy"
    with pytest.raises(TypeError, match="no option 'batches'"):
        BenchMarkArgsAdapter(model=models("fixed"), batches=3)


def test_files_as_scripts_take_them(tmp_path):
    import numpy as np

    from ais_bench.infer.common import utils
    for name in ("a10.npy", "a9.npy"):
        utils.save_data_to_files(str(tmp_path / name), np.arange(3, dtype=np.int32))
    files = utils.get_fileslist_from_dir(str(tmp_path))
    assert [path.rsplit("/", 1)[1] for path in files] == ["a9.npy", "a10.npy"]
    assert utils.get_file_datasize(files[0]) == 12
    assert utils.get_file_content(files[0]).tolist() == [0, 1, 2]
    assert list(utils.list_split([1, 2, 3], 2, "p")) == [[1, 2], [3, "p"]]
    assert [utils.list_share(list(range(5)), i, 2, 1) for i in range(2)] == [[0, 1, 2], [3, 4]]


def test_a_path_is_judged(tmp_path):
    from ais_bench.infer.common.path_security_check import FileStat, is_legal_args_path_string
    (tmp_path / "m.om").write_bytes(b"12345")
    (tmp_path / "m.om").chmod(0o640)
    facts = FileStat(str(tmp_path / "m.om"))
    assert facts.is_basically_legal("read") and facts.is_legal_file_type(["om"])
    assert facts.is_legal_file_size(5) and not facts.is_legal_file_size(4)
    assert not is_legal_args_path_string("a b")
