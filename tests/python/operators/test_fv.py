# SPDX-License-Identifier: Apache-2.0
"""acl.fv: repositories, search by distance tables, changes; against numpy."""
import numpy as np
import program
import pytest
from single_op import Refused, Tensor, check

import acl

ONE_N, N_M = 0, 1


@pytest.fixture
def retrieval(device_0):
    para = acl.fv.create_init_para(100_000)
    check(acl.fv.init(para))
    yield
    check(acl.fv.release())
    check(acl.fv.destroy_init_para(para))


def features(count, seed=0, high=256):
    return np.random.default_rng(seed).integers(0, high, (count, 36)).astype(np.uint8)


def info_of(data, id0=0, id1=0, offset=0):
    tensor = Tensor(data)
    return acl.fv.create_feature_info(id0, id1, offset, 36, len(data), tensor.address, data.nbytes)


def add(data, id0=0, id1=0, offset=0, kind=ONE_N):
    return acl.fv.repo_add(kind, info_of(data, id0, id1, offset))


def search(tables, top, kind=ONE_N, ids=(0, 1023, 0, 1023)):
    """Per query a list of (distance, id0, id1, offset)."""
    tables = np.ascontiguousarray(tables, np.float32).reshape(-1, 32, 256)
    count = len(tables)
    data = Tensor(tables)
    query = acl.fv.create_query_table(count, 32 * 1024, data.address, tables.nbytes)
    given = acl.fv.create_search_input(query, acl.fv.create_repo_range(*ids), top)
    number = Tensor(np.zeros(count, np.uint32))
    id0, id1, offset = (Tensor(np.zeros((count, top), np.uint32)) for _ in range(3))
    distance = Tensor(np.zeros((count, top), np.float32))
    result = acl.fv.create_search_result(count, number.address, 4 * count, id0.address,
                                         id1.address, offset.address, distance.address,
                                         4 * count * top)
    check(acl.fv.search(kind, given, result))
    for destroy, handle in ((acl.fv.destroy_search_result, result),
                            (acl.fv.destroy_search_input, given),
                            (acl.fv.destroy_query_table, query)):
        check(destroy(handle))
    columns = [t.read() for t in (distance, id0, id1, offset)]
    return [[tuple(c[q, i] for c in columns) for i in range(number.read()[q])]
            for q in range(count)]


def exact(table, repos, top):
    """What a search has to give: repos is {(id0, id1): {offset: feature}}."""
    hits = []
    for (id0, id1), found in repos.items():
        for offset, feature in found.items():
            total = sum(float(table[s, feature[s]]) for s in range(32))
            hits.append((total, id0, id1, offset))
    return sorted(hits)[:top]


def table(seed=1):
    """Whole numbers: sums are exact in every order, and there are many ties."""
    return np.random.default_rng(seed).integers(0, 50, (32, 256)).astype(np.float32)


def same(got, want):
    assert [(float(d), *map(int, rest)) for d, *rest in got] == [tuple(w) for w in want]


def test_the_nearest_come_first_and_ties_by_id_and_offset(retrieval):
    a, b = features(3000, 1), features(500, 2)
    a[100:200] = a[0:100]
    b[:50] = a[:50]
    check(add(a))
    check(add(b, 1, 1))
    repos = {(0, 0): dict(enumerate(a)), (1, 1): dict(enumerate(b))}
    for top in (1, 5, 700):
        same(search(table(), top)[0], exact(table(), repos, top))


def test_features_are_appended_at_the_next_offset(retrieval):
    a, b = features(1000, 1), features(10, 2)
    check(add(a))
    assert add(b, offset=999) == 100000
    assert "it has 1000" in acl.get_recent_err_msg()
    check(add(b, offset=1000))
    repos = {(0, 0): dict(enumerate(np.concatenate([a, b])))}
    same(search(table(), 20)[0], exact(table(), repos, 20))


def test_features_are_changed_and_taken_away_one_by_one(retrieval):
    a, new = features(300, 1), features(1, 9)
    check(add(a))
    repo = dict(enumerate(a))
    best = exact(table(), {(0, 0): repo}, 1)[0][3]
    check(acl.fv.delete(info_of(a[:1], offset=best)))
    del repo[best]
    check(acl.fv.modify(info_of(new, offset=7)))
    repo[7] = new[0]
    same(search(table(), 30)[0], exact(table(), {(0, 0): repo}, 30))
    assert acl.fv.delete(info_of(a[:1], offset=300)) == 100000
    assert acl.fv.modify(info_of(a[:1], id0=5)) == 100000


def test_a_range_limits_the_repositories(retrieval):
    repos = {(i, j): features(40, i * 3 + j) for i in range(3) for j in range(3)}
    for (i, j), data in repos.items():
        check(add(data, i, j))
    inside = {k: dict(enumerate(v)) for k, v in repos.items() if k[0] >= 1 and k[1] <= 1}
    same(search(table(), 25, ids=(1, 2, 0, 1))[0], exact(table(), inside, 25))
    check(acl.fv.repo_del(ONE_N, acl.fv.create_repo_range(1, 2, 0, 1)))
    left = {k: dict(enumerate(v)) for k, v in repos.items() if k not in inside}
    same(search(table(), 25)[0], exact(table(), left, 25))
    assert acl.fv.repo_del(ONE_N, acl.fv.create_repo_range(1, 2, 0, 1)) == 100000


def test_many_queries_at_a_time(retrieval):
    a = features(700, 1)
    check(add(a, kind=N_M))
    tables = np.stack([table(s) for s in range(4)])
    got = search(tables, 6, N_M)
    for t, hits in zip(tables, got):
        same(hits, exact(t, {(0, 0): dict(enumerate(a))}, 6))
    assert search(table(), 6) == [[]], "1:N has repositories of its own"


def test_fewer_features_than_asked_for(retrieval):
    a = features(3)
    check(add(a))
    assert len(search(table(), 10)[0]) == 3


def test_distances_that_are_no_numbers_match_nothing(retrieval):
    check(add(features(20, high=4)))
    bad = table()
    bad[3, :2] = np.nan
    bad[5, 2] = np.inf
    found = search(bad, 20)[0]
    assert all(np.isfinite(hit[0]) for hit in found)


@pytest.mark.parametrize("make, words", [
    (lambda: acl.fv.create_init_para(0), "fsNum"),
    (lambda: acl.fv.create_feature_info(1024, 0, 0, 36, 1, 4096, 36), "id0"),
    (lambda: acl.fv.create_feature_info(0, 0, 0, 35, 1, 4096, 35), "featureLen"),
    (lambda: acl.fv.create_feature_info(0, 0, 0, 36, 2, 4096, 36), "featureDataLen"),
    (lambda: acl.fv.create_repo_range(3, 2, 0, 0), "id0"),
    (lambda: acl.fv.create_query_table(1, 1024, 4096, 1024), "32768 bytes"),
])
def test_descriptions_are_checked_when_they_are_made(device_0, make, words):
    assert make() == 0
    assert words in acl.get_recent_err_msg()


def test_a_search_gives_at_most_as_many_hits_as_were_asked_for_at_the_start(device_0):
    para = acl.fv.create_init_para(100)
    check(acl.fv.set_1n_top_num(para, 3))
    check(acl.fv.set_nm_top_num(para, 5))
    assert acl.fv.set_1n_top_num(para, 0) == acl.fv.set_nm_top_num(para, 0) == 100000
    check(acl.fv.init(para))
    for kind, most in ((ONE_N, 3), (N_M, 5)):
        check(add(features(10), kind=kind))
        assert len(search(table(), most, kind)[0]) == most
        with pytest.raises(Refused, match=f"topk is {most + 1}; expected 1 to {most}"):
            search(table(), most + 1, kind)
    check(acl.fv.release())
    check(acl.fv.destroy_init_para(para))


def test_the_module_is_initialised_once(retrieval):
    para = acl.fv.create_init_para(10)
    assert acl.fv.init(para) == 100000
    assert acl.fv.destory_init_para(para) == 0
    assert acl.fv.search(7, 0, 0) == 100000


def test_other_chips_refuse():
    text = """
        import acl
        acl.init(); acl.rt.set_device(0)
        print(acl.fv.init(acl.fv.create_init_para(10)))
    """
    assert program.run(text, ANYNPU_SOC="Ascend910B1") == ["200006"]
    assert program.run(text, ANYNPU_SOC="Ascend310P3") == ["0"]
