# SPDX-License-Identifier: Apache-2.0
"""Blocks of the guide that no test runs, with the reason: (section, first line, reason)."""

NETWORK = "fetches from the network; the tests make their own pictures and models"

UNRUN = [
    ("2", "cd $HOME/first_app/data (wget dog1_1024_683.jpg)", NETWORK),
    ("2", "cd $HOME/first_app/data (wget dog2_1024_683.jpg)", NETWORK),
    ("2", "cd $HOME/first_app/model (wget resnet50.onnx)", NETWORK),
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
