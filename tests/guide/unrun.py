# SPDX-License-Identifier: Apache-2.0
"""Blocks of the guide that no test runs, with the reason: (section, first line, reason)."""

NETWORK = "fetches from the network; the tests make their own pictures and models"

CALLBACKS = ("fragments around a class of the reader's; the same calls run in "
             "tests/python/test_media_video.py and tests/python/test_himpi.py")

UNRUN = [
    ("2", "cd $HOME/first_app/data (wget dog1_1024_683.jpg)", NETWORK),
    ("2", "cd $HOME/first_app/data (wget dog2_1024_683.jpg)", NETWORK),
    ("2", "cd $HOME/first_app/model (wget resnet50.onnx)", NETWORK),
    ("5.3.6", "def _callback(self, input_stream_desc, output_pic_desc, user_data):", CALLBACKS
     + "; slips: acl.rt.destroy_dstream, the channel is created twice"),
    ("5.3.7", "def cb_thread_func(self, args_list):", CALLBACKS),
    ("5.4.3", "attr = {'type': HI_PT_JPEG, 'mode': HI_VDEC_SEND_MODE_FRAME,", CALLBACKS
     + "; slips: the channel is called i, 'vir_addr ' has a blank"),
    ("5.4.5", 'attr = {"stream_que_cnt": STREAM_QUE_CNT}', CALLBACKS),
    ("5.4.6", "buf_attr = [1920, 1080, 0, 8, HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, "
     "HI_COMPRESS_MODE_NONE]", CALLBACKS + "; slips: the channel is called i, temporal_mv_en"),
    ("5.4.7", "param = {'mod_type':HI_VENC_MOD_H265}", CALLBACKS
     + "; slip: HI_VENC_MOD_H265 where a payload type belongs (accepted)"),
    ("9.5.1.1", "tar -zxvf pip-20.2.3.tar.gz", "unpacks a source package that is fetched by hand"),
    ("9.5.1.1", "cd pip-20.2.3", "builds and installs pip from that package into the system"),
    ("9.5.1.1", "ImportError: .../PIL/_imaging.cpython-37m-aarch64-linux-gnu.so: ELF load command "
     "alignment not page-aligned", "a message of another system (CentOS 7 on aarch64)"),
    ("9.5.1.1", "sudo yum install python-devel", "installs packages of CentOS as root"),
    ("9.5.1.1", "tar -xvf Pillow-7.2.0.tar.gz",
     "builds Pillow from a package that is fetched by hand"),
    ("B", "echo 1 > enable_oom_killer",
     "a setting of a card's own kernel, made as root; memory that runs out gives a code here"),
]
