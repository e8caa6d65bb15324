# SPDX-License-Identifier: Apache-2.0
"""Good values for acl.fv and acl.blas."""

from misuse.models import NO_VALUE

GEMM = {"m": 4, "n": 4, "k": 4, "lda": 4, "ldb": 4, "ldc": 4, "incx": 1, "incy": 1}
TABLE = 32 * 1024
FV = {
    "fs_num": 100, "max_top_num_for_1n": 5, "max_top_num_for_nm": 5, "id0": 0, "id1": 0,
    "offset": 0, "feature_len": 36, "feature_count": 1, "feature_data_len": 36, "id0_min": 0,
    "id0_max": 1, "id1_min": 0, "id1_max": 1, "query_cnt": 1, "table_len": TABLE,
    "table_data_len": TABLE, "topk": 2, "result_num_data_len": 4, "data_len": 8,
}  # fmt: skip


def init(acl):
    acl.fv.init(acl.fv.create_init_para(100))


def make(maker, kind):
    """A handle of one of the retrieval objects."""
    fv = maker.acl.fv
    if kind == "aclfvInitPara":
        return fv.create_init_para(100)
    if kind == "aclfvFeatureInfo":
        return fv.create_feature_info(0, 0, 0, 36, 1, maker.device_block(), 36)
    if kind == "aclfvRepoRange":
        return fv.create_repo_range(0, 1, 0, 1)
    if kind == "aclfvQueryTable":
        return fv.create_query_table(1, TABLE, maker.device_block(TABLE), TABLE)
    if kind == "aclfvSearchInput":
        return fv.create_search_input(make(maker, "aclfvQueryTable"),
                                      make(maker, "aclfvRepoRange"), 2)
    return fv.create_search_result(1, *[maker.device_block(), 4],
                                   *[maker.device_block() for _ in range(4)], 8)


DESTROY = {
    "aclfvInitPara": "destroy_init_para", "aclfvFeatureInfo": "destroy_feature_info",
    "aclfvRepoRange": "destroy_repo_range", "aclfvQueryTable": "destroy_query_table",
    "aclfvSearchInput": "destroy_search_input", "aclfvSearchResult": "destroy_search_result",
}  # fmt: skip


def prepare(maker, function):
    """Retrieval is on, and there is a feature to find, change or take away."""
    short, acl = function.name.rpartition(".")[2], maker.acl
    if short in ("repo_add", "repo_del", "delete", "modify", "search", "release"):
        init(acl)
    if short in ("repo_del", "delete", "modify", "search"):
        acl.fv.repo_add(0, make(maker, "aclfvFeatureInfo"))


def good(maker, function, argument):
    """The value of one argument, or NO_VALUE."""
    name = argument.name
    if function.name.startswith("acl.blas."):
        if name.startswith("data_type") or name in ("type",) or name.startswith("trans"):
            return 0
        return GEMM.get(name, NO_VALUE)
    if not function.name.startswith("acl.fv."):
        return NO_VALUE
    if argument == function.arguments[0]:
        prepare(maker, function)
    if argument.handle in DESTROY:
        return make(maker, argument.handle)
    if name == "table_data":
        return maker.device_block(TABLE)
    if argument.type == "ptr":
        return NO_VALUE
    return FV.get(name, NO_VALUE)
