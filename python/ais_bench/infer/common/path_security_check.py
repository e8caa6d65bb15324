# SPDX-License-Identifier: Apache-2.0
"""Checks of paths under the names that scripts import."""
import os

from ais_bench.infer import file_checks


def is_legal_args_path_string(path):
    """Only characters and lengths that are allowed."""
    try:
        file_checks.check_name(path)
    except file_checks.UnsafePath:
        return False
    return True


class FileStat:
    """What a file is, and whether it is safe to use."""

    def __init__(self, path):
        self.file = file_checks.check_name(path)
        self.is_exists = os.path.exists(path)
        self.is_softlink = os.path.islink(path)
        self.is_file = os.path.isfile(path)
        self.is_dir = os.path.isdir(path)
        self.file_size = os.path.getsize(path) if self.is_file else 0
        self.realpath = os.path.realpath(path)

    def is_basically_legal(self, perm="none"):
        """perm: 'read', 'write' or 'none'."""
        check = file_checks.output_folder if perm == "write" else file_checks.readable
        try:
            check(self.file)
        except file_checks.UnsafePath:
            return False
        return True

    def is_legal_file_type(self, suffixes):
        return os.path.splitext(self.file)[1].lstrip(".") in [s.lstrip(".") for s in suffixes]

    def is_legal_file_size(self, largest):
        return self.file_size <= largest
