# SPDX-License-Identifier: Apache-2.0
"""acl.fv.search over 1,000,000 features against Faiss's IndexPQ over the same codes, one thread
each. Both must name the same features."""

import os

os.environ["ANYNPU_THREADS"] = "1"  # read when the library is loaded

import time  # noqa: E402

import faiss  # noqa: E402
import numpy as np  # noqa: E402
from harness import ratio_of  # noqa: E402

import acl  # noqa: E402

FEATURES, TOP, DIMENSIONS, PARTS = 1_000_000, 100, 128, 32


def check(code):
    assert code == 0, f"{code}: {acl.get_recent_err_msg()}"


def on_device(array):
    address, ret = acl.rt.malloc(array.nbytes, 0)
    check(ret)
    check(acl.rt.memcpy(address, array.nbytes, acl.util.numpy_to_ptr(array), array.nbytes, 1))
    return address


def from_device(address, dtype, count):
    out = np.empty(count, dtype)
    check(acl.rt.memcpy(acl.util.numpy_to_ptr(out), out.nbytes, address, out.nbytes, 2))
    return out


def make_index():
    """Codes of random vectors; the index is trained on a few."""
    rng = np.random.default_rng(1)
    index = faiss.IndexPQ(DIMENSIONS, PARTS, 8)
    index.pq.cp.niter = 4
    index.train(rng.standard_normal((20_000, DIMENSIONS)).astype(np.float32))
    for _ in range(10):
        index.add(rng.standard_normal((FEATURES // 10, DIMENSIONS)).astype(np.float32))
    return index, rng.standard_normal((1, DIMENSIONS)).astype(np.float32)


def table_of(index, query):
    """Squared distances from each part of the query to its 256 centroids."""
    centroids = faiss.vector_to_array(index.pq.centroids).reshape(PARTS, 256, -1)
    parts = query.reshape(PARTS, 1, -1)
    return ((parts - centroids) ** 2).sum(-1).astype(np.float32)


def seconds(body):
    begin = time.perf_counter()
    body()
    return time.perf_counter() - begin


def rows(report):
    faiss.omp_set_num_threads(1)
    index, query = make_index()
    codes = faiss.vector_to_array(index.codes).reshape(FEATURES, PARTS)
    features = np.zeros((FEATURES, 36), np.uint8)
    features[:, :PARTS] = codes
    check(acl.init())
    check(acl.rt.set_device(0))
    check(acl.fv.init(acl.fv.create_init_para(FEATURES)))
    data = on_device(features)
    check(acl.fv.repo_add(0, acl.fv.create_feature_info(0, 0, 0, 36, FEATURES, data,
                                                        features.nbytes)))
    table = np.ascontiguousarray(table_of(index, query))
    number, id0, id1, offset, distance = (on_device(np.zeros(TOP, np.uint32)) for _ in range(5))
    given = acl.fv.create_search_input(
        acl.fv.create_query_table(1, table.nbytes, on_device(table), table.nbytes),
        acl.fv.create_repo_range(0, 1023, 0, 1023), TOP)
    result = acl.fv.create_search_result(1, number, 4, id0, id1, offset, distance, 4 * TOP)

    def ours():
        check(acl.fv.search(0, given, result))

    def theirs():
        return index.search(query, TOP)

    ours()
    found = from_device(offset, np.uint32, TOP)
    want = theirs()[1][0]
    same = len(set(found.tolist()) & set(want.tolist()))
    assert same >= TOP - 1, f"only {same} of {TOP} hits agree"  # equal distances may swap the last
    measured = ratio_of(lambda: seconds(ours), lambda: seconds(theirs))
    report.add("acl.fv.search over 1,000,000 features: time over Faiss IndexPQ", 1.0, "x", measured,
               f"{seconds(ours) * 1e3:.1f} ms, {same} of {TOP} hits the same")
    acl.rt.reset_device(0)
    acl.finalize()
