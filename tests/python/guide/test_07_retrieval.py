# SPDX-License-Identifier: Apache-2.0
"""Guide 7.13: retrieval of features."""
import numpy as np
from blocks import block, read_bytes, run_block

ADD_FEATURES = """
    feature_info_device, ret = acl.rt.malloc(base_data_len, ACL_MEM_MALLOC_NORMAL_ONLY)

    feature_info_list_arr = numpy.array(feature_info_list, dtype=numpy.uint8)
    bytes_data = feature_info_list_arr.tobytes()
    feature_info_ptr = acl.util.bytes_to_ptr(bytes_data)
    ret = acl.rt.memcpy(feature_info_device, feature_count * feature_len, feature_info_ptr,
                        feature_count * feature_len, ACL_MEMCPY_HOST_TO_DEVICE)

    feature_info = acl.fv.create_feature_info(id0, id1, offset, feature_len, feature_count,
                                              feature_info_device, feature_len * feature_count)

    ret = acl.fv.repo_add(SEARCH_1_N, feature_info)

    ret = acl.fv.destroy_feature_info(feature_info)
    """


@block("7.13", "fs_num = 100000",
       slips=("what base_short_feature_data makes is called feature_info_list, then",
              "base_data_len, type_size (4) and the first id0 and id1 are not set",
              "featureCount is feature_count elsewhere, topk is topK",
              "one feature of 36 bytes is copied with the length of 1,000",
              "its description takes feature_info_buffer for feature_info_device",
              "acl.fv.delete is described and not called",
              "adc_table_init makes a table that is not copied to table_data",
              "create_repo_range lacks acl.fv once"))
def test_7_13_features_are_retrieved(ready):
    acl = ready
    random = np.random.default_rng(1)
    made = []

    def base_short_feature_data(count, kind):
        made.append(random.integers(0, 256, (count, 36)).astype(np.uint8))
        return made[-1].tolist()

    tables = random.integers(0, 99, (32, 256)).astype(np.float32)
    names = run_block("""
    fs_num = 100000
    fv_init_para = acl.fv.create_init_para(fs_num)

    ret = acl.fv.init(fv_init_para)

    id0 = id1 = 0
    offset = 0
    feature_count = 1000
    feature_len = 36
    base_data_len = feature_count * feature_len
    feature_type = SEARCH_1_N
    feature_info_list = base_short_feature_data(feature_count, feature_type)
    """ + ADD_FEATURES + """
    offset += feature_count;
    feature_info_list = base_short_feature_data(feature_count, feature_type)
    """ + ADD_FEATURES + """
    feature_data_list = []
    for i in range(36):
        feature_data_list.append(i)
    feature_info_list_arr = numpy.array(feature_data_list, dtype=numpy.uint8)
    bytes_data = feature_info_list_arr.tobytes()
    feature_info_ptr = acl.util.bytes_to_ptr(bytes_data)
    feature_info_device, ret = acl.rt.malloc(36, ACL_MEM_MALLOC_NORMAL_ONLY)
    ret = acl.rt.memcpy(feature_info_device, 36, feature_info_ptr, 36, ACL_MEMCPY_HOST_TO_DEVICE)

    id0 = 0
    id1 = 0
    feature_info = acl.fv.create_feature_info(id0, id1, offset, 36, 1, feature_info_device, 36)

    ret = acl.fv.delete(feature_info)
    acl.fv.destroy_feature_info(feature_info)

    id0 = 1
    id1 = 1
    offset = 0
    feature_info_list = base_short_feature_data(feature_count, feature_type)
    """ + ADD_FEATURES + """
    query_cnt = 1
    table_len = 32 * 1024
    topK = 5
    table_data_len = query_cnt * table_len

    table_data_tmp = adc_table_init(1000, query_cnt * 1024)

    table_data,ret = acl.rt.malloc(table_data_len, ACL_MEM_MALLOC_NORMAL_ONLY)
    ret = acl.rt.memcpy(table_data, table_data_len, acl.util.bytes_to_ptr(table_data_tmp),
                        table_data_len, ACL_MEMCPY_HOST_TO_DEVICE)

    data_len = query_cnt * topK * type_size
    result_num_data_len = query_cnt * type_size
    result_num, ret = acl.rt.malloc(result_num_data_len, ACL_MEM_MALLOC_NORMAL_ONLY)
    id_0, ret = acl.rt.malloc(data_len, ACL_MEM_MALLOC_NORMAL_ONLY)
    id_1, ret = acl.rt.malloc(data_len, ACL_MEM_MALLOC_NORMAL_ONLY)
    result_offert, ret = acl.rt.malloc(data_len, ACL_MEM_MALLOC_NORMAL_ONLY)
    result_distance, ret = acl.rt.malloc(data_len, ACL_MEM_MALLOC_NORMAL_ONLY)

    query_table = acl.fv.create_query_table(query_cnt, table_len, table_data, table_data_len)

    repo_range = acl.fv.create_repo_range(0, 1023, 0, 1023)
    search_input = acl.fv.create_search_input(query_table, repo_range, topK)

    search_result = acl.fv.create_search_result(query_cnt, result_num, result_num_data_len, id_0,
                                                id_1, result_offert, result_distance, data_len)

    ret = acl.fv.search(SEARCH_1_N, search_input, search_result)

    id0Min = 0
    id0Max = 1023
    id1Min = 0
    id1Max = 1023
    repo_range = acl.fv.create_repo_range(id0Min, id0Max, id1Min, id1Max)
    ret = acl.fv.repo_del(SEARCH_1_N, repo_range)

    ret = acl.fv.destroy_init_para(fv_init_para)
    ret = acl.fv.release()
    """, acl=acl, numpy=np, SEARCH_1_N=0, ACL_MEM_MALLOC_NORMAL_ONLY=2, ACL_MEMCPY_HOST_TO_DEVICE=1,
        type_size=4, base_short_feature_data=base_short_feature_data,
        adc_table_init=lambda *sizes: tables.tobytes())
    codes = np.concatenate(made)[:, :32]
    distances = tables[np.arange(32), codes].sum(1)
    distances[1000] = np.inf  # the deleted one: the first of the second thousand
    repo = np.repeat([0, 0, 1], 1000)
    offsets = np.concatenate([np.arange(2000), np.arange(1000)])
    nearest = np.lexsort((offsets, repo, distances))[:5]

    def found(name, kind=np.uint32):
        return np.frombuffer(read_bytes(acl, names[name], 20), kind).tolist()

    assert found("result_offert") == offsets[nearest].tolist()
    assert found("id_0") == found("id_1") == repo[nearest].tolist()
    assert found("result_distance", np.float32) == distances[nearest].tolist()
