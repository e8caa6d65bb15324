# SPDX-License-Identifier: Apache-2.0
"""MultiDeviceSession on a real Ray cluster of three nodes, two of which die during runs."""
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from om_models import image

from ais_bench.infer import ray_cluster
from ais_bench.infer.interface import MultiDeviceSession

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
QUICK = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}


def make_cluster():
    from ray.cluster_utils import Cluster
    made = Cluster()
    try:
        made.add_node(**NODE, _system_config=QUICK)
        made.add_node(**NODE)
        made.add_node(**NODE)
        made.wait_for_nodes(timeout=300)
    except BaseException:
        made.shutdown()
        raise
    return made


# Starts a cluster of this machine, tells where it listens, and has it attacked by sys.argv[2:].
LOCAL_PROGRAM = """
import os, subprocess, sys
from ais_bench.infer.interface import MultiDeviceSession

session = MultiDeviceSession(sys.argv[1], cluster="ray")
print(len(session.nodes()), "node")


def tree(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [pid, *(found for child in file.read().split() for found in tree(int(child)))]


sockets = set()
for pid in tree(os.getpid()):
    try:
        sockets |= {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    except OSError:
        pass
for table in ("/proc/net/tcp", "/proc/net/tcp6"):
    for line in open(table).readlines()[1:]:
        _, local, _, state, *rest = line.split()
        if state == "0A" and f"socket:[{rest[5]}]" in sockets:
            print("listens", local.split(":")[0])
import ray
address = ray.get_runtime_context().gcs_address
token = os.path.expanduser("~/.ray/auth_token")
print("mode", oct(os.stat(token).st_mode & 0o777))
folder = ray._private.worker._global_node.get_session_dir_path()
print("socket", os.path.exists(folder + "/sockets/plasma_store"))
clean = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
clean.update(HOME="/nonexistent", TMPDIR="/tmp", RAY_AUTH_MODE="token")
for given in ({"RAY_AUTH_MODE": "disabled"}, {"RAY_AUTH_TOKEN": "0" * 64},
              {"RAY_AUTH_TOKEN": open(token).read()}):
    done = subprocess.run([*sys.argv[2:], address, token, folder], env={**clean, **given},
                          cwd="/", capture_output=True, text=True, timeout=200)
    print("attack", done.stdout.strip() or done.stderr[-2000:])
session.close()
ray.shutdown()
"""

# Another user's: reads the token if it can, joins by the files and sockets of the cluster, replaces
# them, and writes into the cluster's table over its port.
ATTACK = """
import os, sys
import socket

address, token, folder = sys.argv[1:]


def connect(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)


def replace(path):
    os.rename(path, path + ".old")


for attempt, path in ((open, token), (os.listdir, folder), (connect, folder + "/sockets/raylet"),
                      (connect, folder + "/sockets/plasma_store"), (replace, folder + "/sockets"),
                      (os.listdir, os.path.dirname(os.path.dirname(folder)))):
    try:
        if not OWN_USER:
            attempt(path)
            print(attempt.__name__, path, end=" ")
    except OSError:
        pass
from ray._raylet import GcsClient
try:
    client = GcsClient(address=address)
    client.internal_kv_put(b"mark", b"%d" % os.getuid(), True, b"attack", timeout=20)
    print("wrote", client.internal_kv_get(b"mark", b"attack", timeout=20).decode())
except Exception as error:
    print("refused", type(error).__name__, str(error).replace(chr(10), " ")[:300])
"""

# Folders that only root may enter, and in which the interpreter or Ray lies, are entered by all; in
# a mount namespace of its own, so that nothing outside changes. Then the user changes, and the
# program starts.
AS_NOBODY = r"""
import ctypes, os, stat, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]


def mount(source, target, kind=None, flags=0, data=None):
    texts = [text and text.encode() for text in (source, target, kind)]
    if libc.mount(*texts, flags, data and data.encode()):
        raise OSError(ctypes.get_errno(), f"mount {source} at {target}")


NEW_NAMESPACE, BIND, PRIVATE = 0x20000, 4096 | 16384, 1 << 18 | 16384
needed = {os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, *sys.path) if path}


def closed_folders(path):
    walk = "/"
    for part in path.split("/")[1:]:
        walk = os.path.join(walk, part)
        if walk != path and os.path.isdir(walk) and not os.stat(walk).st_mode & stat.S_IXOTH:
            yield walk


if any(any(closed_folders(path)) for path in needed):
    if libc.unshare(NEW_NAMESPACE):
        raise OSError(ctypes.get_errno(), "unshare")
    mount(None, "/", flags=PRIVATE)
for path in sorted(needed):
    for walk in closed_folders(path):
        # The closed folder becomes an open one with nothing in it but the way to the path.
        kept = os.open(path, os.O_PATH)
        mount("none", walk, "tmpfs", 0, "mode=755,size=1m")
        os.makedirs(path)
        mount(f"/proc/self/fd/{kept}", path, flags=BIND)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def another_users_program():
    """The command of the attack: by another user where this one may change it, else by this one
    without its home. The token is what keeps both out."""
    if os.geteuid() != 0:
        return [sys.executable, "-c", "OWN_USER = True" + ATTACK]
    return [sys.executable, "-c", AS_NOBODY, "-c", "OWN_USER = False" + ATTACK]


def test_a_cluster_of_this_machine_is_the_users_own(models, tmp_path):
    """It listens on the loopback interface; another user is refused, without a token and with a
    wrong one. The same program with the right one gets in: so it was the token that kept it out."""
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    environment = {**os.environ, "HOME": str(home)}
    environment.pop("RAY_ADDRESS", None)
    command = [sys.executable, "-c", LOCAL_PROGRAM, models("step"), *another_users_program()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    lines = done.stdout.split("\n")
    assert "1 node" in lines, done.stdout + done.stderr
    heard = {line.split()[1] for line in lines if line.startswith("listens")}
    assert heard and heard <= {"0100007F", "0000000000000000FFFF00000100007F",
                               "00000000000000000000000001000000"}, heard
    assert "mode 0o600" in lines and "socket True" in lines
    attacks = [line for line in lines if line.startswith("attack ")]
    assert len(attacks) == 3, done.stdout + done.stderr
    user = 65534 if os.geteuid() == 0 else os.getuid()
    assert attacks[0].startswith("attack refused AuthenticationError"), attacks
    assert attacks[1].startswith("attack refused AuthenticationError"), attacks
    assert attacks[2] == f"attack wrote {user}", attacks


def test_a_folder_that_another_user_made_first_is_not_used(tmp_path, monkeypatch):
    """Ray's files lie in a folder of mode 0700 of this user, also where its name is taken."""
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    expected = tmp_path / f"ray-{os.geteuid()}"
    assert ray_cluster._private_folder() == str(expected)
    assert ray_cluster._private_folder() == str(expected), "it is kept"
    expected.chmod(0o777)
    others = [ray_cluster._private_folder()]
    expected.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    expected.symlink_to(tmp_path / "elsewhere")
    others.append(ray_cluster._private_folder())
    if os.geteuid() == 0:
        expected.unlink()
        expected.mkdir(mode=0o700)
        os.chown(expected, 65534, 65534)
        others.append(ray_cluster._private_folder())
    assert str(expected) not in others and len(set(others)) == len(others)
    assert all(os.stat(path).st_mode & 0o777 == 0o700 for path in others)


@pytest.fixture(scope="module")
def cluster():
    import ray
    for left in (2, 1, 0):  # Ray gives a node 30 seconds to come up, which a busy machine may miss
        try:
            made = make_cluster()
            break
        except Exception:
            if not left:
                raise
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def session(cluster, models):
    made = MultiDeviceSession(models("step"), cluster="ray")
    yield made
    made.close()


def pair(i):
    return [image(4, 8) + i, image(4, 8) * 0.5]


def same(got, want):
    return len(got) == len(want) and all(np.array_equal(a, b) for a, b in zip(got, want))


def test_every_way_gives_the_bytes_of_one_session(session, make):
    local, feeds = make("step"), [pair(i) for i in range(6)]
    want = [local.infer(one) for one in feeds]
    assert len(session.nodes()) == 3
    got = session.infer({"0:0": feeds[:3], "1:0": feeds[3:5], "2:5": feeds[5:]})
    assert list(got) == ["0:0", "1:0", "2:5"]
    assert all(same(a, b) for a, b in zip(got["0:0"] + got["1:0"] + got["2:5"], want))
    assert {key: len(times) for key, times in session.summary().items()} == {
        "0:0": 3, "1:0": 2, "2:5": 1}
    used = {device.node_id for device in session._devices.values()}
    assert len(used) == 3, "a device is on the node that its name says"
    lists = session.infer_pipeline({"0:0": [feeds], "1:0": [feeds[::-1]]})
    assert all(same(a, b) for a, b in zip(lists["0:0"][0], want))
    assert all(same(a, b) for a, b in zip(lists["1:0"][0], want[::-1]))
    turns = session.infer_iteration({"2:5": [feeds[1]]}, [1, 0], 4)
    assert same(turns["2:5"][0], local.infer_iteration(feeds[1], [1, 0], 4))
    assert all(same(a, b) for a, b in zip(session.infer_spread(feeds, ["0:0", "1:0"]), want))


def test_errors_are_raised_with_their_traceback_and_the_session_goes_on(session, tmp_path):
    with pytest.raises(RuntimeError, match="(?s)device 1:0, feeds 0.*input 1 .'b'. was given 112"):
        session.infer({"0:0": [pair(0)], "1:0": [[image(4, 8), image(4, 7)]]})
    with pytest.raises(RuntimeError, match="(?s)its session failed to start.*device 99 does not"):
        session.infer({"0:99": [pair(0)]})
    for name in ("9:0", "somewhere:0", "0", "0:", "0:300", None):
        with pytest.raises(ValueError):
            session.infer({name: [pair(0)]})
    assert len(session.infer({"0:0": [pair(0)], "1:0": [pair(1)]})) == 2
    with pytest.raises(RuntimeError, match="none.om"):
        MultiDeviceSession(str(tmp_path / "none.om"), cluster="ray")
    with pytest.raises(ValueError, match="'ray' are known"):
        MultiDeviceSession(str(tmp_path / "none.om"), cluster="mpi")


def test_the_model_travels_through_the_object_store(cluster, models, tmp_path):
    path = tmp_path / "gone.om"
    path.write_bytes(open(models("step"), "rb").read())
    session = MultiDeviceSession(str(path), cluster="ray")
    path.unlink()
    assert session.infer({"2:0": [pair(0)]})["2:0"][0][0].shape == (4, 8)
    session.close()


def during(session, turn, action):
    """Calls action() once, when the run has reached its `turn`."""
    feed, turns = session._feed, [0]

    def counted(*arguments):
        turns[0] += 1
        if turns[0] == turn:
            action()
        feed(*arguments)

    session._feed = counted


def pid_of(actor):
    import ray
    return ray.get(actor.__ray_call__.remote(lambda _: os.getpid()))


def end_node(cluster, session, key):
    """What to call to end the node of a device, with all its processes, as when a machine fails."""
    node_id = session._devices[key].node_id
    node = next(n for n in cluster.list_all_nodes() if n.node_id == node_id)
    pids = [pid_of(d.actor) for d in session._devices.values() if d.node_id == node_id]

    def end():
        cluster.remove_node(node, allow_graceful=False)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    return end


def test_a_killed_actor_is_replaced_and_every_feed_is_answered_once(session, make):
    local, feeds = make("step"), [pair(i) for i in range(200)]
    session.infer({"0:0": feeds[:1], "1:0": feeds[:1]})
    victim = session._devices["1:0"].actor
    pid = pid_of(victim)
    during(session, 60, lambda: os.kill(pid, signal.SIGKILL))
    got = session.infer_spread(feeds, ["0:0", "1:0"])
    assert len(got) == 200
    assert all(same(a, local.infer(one)) for a, one in zip(got, feeds))
    assert session._devices["1:0"].actor is not victim


def test_nodes_that_die_are_replaced_by_others(session, make, cluster):
    local, feeds = make("step"), [pair(i) for i in range(90)]
    keys = ["0:0", "1:0", "2:0"]
    session.infer({key: feeds[:1] for key in keys})
    head = cluster.head_node.node_id
    first, second = (key for key in keys if session._devices[key].node_id != head)
    during(session, 40, end_node(cluster, session, first))
    got = session.infer({key: feeds[i::3] for i, key in enumerate(keys)})
    for i, key in enumerate(keys):
        assert len(got[key]) == 30
        assert all(same(a, local.infer(one)) for a, one in zip(got[key], feeds[i::3]))
    assert len(session.nodes()) == 2
    del session._feed
    during(session, 40, end_node(cluster, session, second))
    spread = session.infer_spread(feeds, keys)
    assert all(same(a, local.infer(one)) for a, one in zip(spread, feeds))
    assert same(session.infer({second: feeds[:1]})[second][0], local.infer(feeds[0]))
    assert session._devices[second].node_id == head


def test_ray_address_makes_a_plain_script_use_the_cluster(cluster, models, monkeypatch, make):
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    session = MultiDeviceSession(models("step"))
    got = session.infer({0: [pair(0)], 1: [pair(1)]})
    assert list(got) == [0, 1] and same(got[1][0], make("step").infer(pair(1)))
    assert hasattr(session, "nodes")
    session.close()


def test_without_ray_the_error_says_how_to_install_it(models):
    code = ("import sys\nsys.modules['ray'] = None\n"
            "from ais_bench.infer.interface import MultiDeviceSession\n"
            "MultiDeviceSession(sys.argv[1], cluster='ray')\n")
    done = subprocess.run([sys.executable, "-c", code, models("step")], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 1
    assert "pip install anynpu[ray]" in done.stderr.splitlines()[-1]
