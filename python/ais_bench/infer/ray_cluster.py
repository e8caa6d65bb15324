# SPDX-License-Identifier: Apache-2.0
"""RaySession: MultiDeviceSession over the machines of a Ray cluster.

A device is named "node:device"; node is a number in the order of nodes(), an address, a host name
or the beginning of a node id. A plain int i is device i // n of node i % n, for n nodes. Each
device has an actor with an InferSession; the model goes to each node once, through Ray's object
store. A device whose actor or node dies is replaced, on its node or another, and what it had not
answered runs again; every answer is delivered once.
"""
import collections
import contextlib
import os
import secrets
import stat
import tempfile

from ais_bench.infer import checks
from ais_bench.infer.logger import logger
from ais_bench.infer.multi_device import MultiDeviceSession, check_feeds, plain, timed
from ais_bench.infer.worker_process import WorkerError

IN_FLIGHT = 2  # runs that wait at a device, so that it never waits for the next
MOST_ATTEMPTS = 5


# Makes Ray listen on 127.0.0.1 only, and require its token.
LOCAL = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token"}


def import_ray():
    if not os.environ.get("RAY_ADDRESS"):  # Ray reads its variables when it is imported
        for name, value in LOCAL.items():
            os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise RuntimeError("a cluster needs Ray, which is not installed; install it with "
                           "'pip install anynpu[ray]'") from error
    return ray


@contextlib.contextmanager
def _defaults(values):
    """Environment variables where the user has set none; Ray's processes inherit them."""
    added = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _make_token():
    """The token of the user's own clusters, made once: Ray's server does not start without one."""
    if os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH"):
        return
    path = os.path.expanduser("~/.ray/auth_token")
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(file, "w") as out:
            out.write(secrets.token_hex(32))


def _private_folder():
    """A folder that this user alone may enter, for Ray's sockets, logs and packages: Ray makes its
    own ones for everybody to write. Its path is short: those of sockets have at most 107 bytes."""
    parent = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"
    path = os.path.join(parent, f"ray-{os.geteuid()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
    found = os.lstat(path)
    closed = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    if closed and found.st_uid == os.geteuid():
        return path
    return tempfile.mkdtemp(prefix=f"ray-{os.geteuid()}-", dir=parent)  # it is somebody else's


def connect(ray, debug):
    """Joins the cluster of RAY_ADDRESS; without one starts a cluster that only this user can reach:
    on the loopback interface, with a token that nobody else can read and files that nobody else can
    change. A cluster that another user has started is never joined."""
    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=debug)
        return
    with _defaults(LOCAL):
        from ray._private import ray_constants
        before = ray_constants.ENABLE_RAY_CLUSTER  # read when Ray was imported
        ray_constants.ENABLE_RAY_CLUSTER = os.environ[next(iter(LOCAL))] != "0"
        try:
            if os.environ["RAY_AUTH_MODE"] == "token":
                _make_token()
            ray.init(address="local", log_to_driver=debug, include_dashboard=False,
                     _temp_dir=os.path.join(_private_folder(), "s"))
        finally:
            ray_constants.ENABLE_RAY_CLUSTER = before
    token = os.path.expanduser("~/.ray/auth_token")
    with contextlib.suppress(OSError):
        if os.stat(token).st_uid == os.geteuid():
            os.chmod(token, 0o600)


class DeviceActor:
    """In the cluster: the session of one device."""

    def __init__(self, device_id, model, config, debug, loop):
        from ais_bench.infer.infer_session import InferSession
        # Anonymous files: nothing is left behind, however this process ends.
        self._files = [self._file(model)]
        if config is not None:
            self._files.append(self._file(config))
        paths = [f"/proc/self/fd/{descriptor}" for descriptor in self._files]
        self._session = InferSession(device_id, *paths, debug=debug, loop=loop)

    @staticmethod
    def _file(content):
        descriptor = os.memfd_create("ais_bench")
        view = memoryview(content)
        done = 0
        while done < len(view):
            done += os.write(descriptor, view[done:])
        return descriptor

    def call(self, method, arguments):
        return timed(self._session, method, arguments)


class Job:
    def __init__(self, key, position, feeds):
        self.key, self.position, self.feeds = key, position, feeds
        self.attempts = 0


class Device:
    """A device as the caller sees it; the actor behind it may change."""

    def __init__(self, key, node_id, device_id):
        self.key, self.node_id, self.device_id = key, node_id, device_id
        self.actor = None
        self.waiting = collections.deque()
        self.running = 0


class RaySession(MultiDeviceSession):
    def __init__(self, model_path, acl_json_path=None, debug=False, loop=1, cluster=None):
        super().__init__(model_path, acl_json_path, debug, loop, cluster)
        self._ray = import_ray()
        self._model = self._put(self.model_path)
        self._config = self._put(self.acl_json_path) if self.acl_json_path else None
        self._devices = {}

    def _put(self, path):
        import numpy as np
        try:
            content = np.fromfile(path, np.uint8)
        except OSError as error:
            raise RuntimeError(f"[1][ACL: invalid parameter] '{path}' cannot be read: "
                               f"{error.strerror}; check the path") from error
        if not self._ray.is_initialized():
            connect(self._ray, self.debug)
        return self._ray.put(content)

    # -- nodes and devices -----------------------------------------------------------------------

    def nodes(self):
        """Ids of the nodes that are alive, in an order that stays."""
        alive = [node for node in self._ray.nodes() if node["Alive"]]
        alive.sort(key=lambda node: (node["NodeManagerAddress"], node["NodeManagerPort"]))
        return [node["NodeID"] for node in alive]

    def _place(self, key):
        """(node id, device) of a device's name."""
        nodes = self.nodes()
        if isinstance(key, int) and not isinstance(key, bool):
            return nodes[key % len(nodes)], checks.device_id(key // len(nodes))
        name, colon, number = str(key).rpartition(":")
        if not isinstance(key, str) or not colon or not number.isdigit():
            raise checks.BadValue(f"device {key!r} is no 'node:device'")
        device = checks.device_id(int(number))
        if name.isdigit() and int(name) < len(nodes):
            return nodes[int(name)], device
        for node in self._ray.nodes():
            if node["Alive"] and (name in (node["NodeManagerAddress"], node["NodeManagerHostname"])
                                  or (len(name) >= 6 and node["NodeID"].startswith(name))):
                return node["NodeID"], device
        raise checks.BadValue(f"device {key!r}: no node '{name}' is alive; there are {len(nodes)} "
                              f"({', '.join(node[:8] for node in nodes)})")

    def _device(self, key):
        if key not in self._devices:
            self._devices[key] = Device(key, *self._place(key))
        return self._devices[key]

    def _start(self, device):
        """An actor on the device's node, or on the emptiest other one when that is gone."""
        nodes = self.nodes()
        if device.node_id not in nodes:
            used = collections.Counter(other.node_id for other in self._devices.values())
            device.node_id = min(nodes, key=lambda node: used[node])
            logger.warning("device %s now runs on node %s", device.key, device.node_id[:8])
        strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            device.node_id, soft=False)
        made = self._ray.remote(DeviceActor).options(num_cpus=0, max_restarts=0,
                                                     scheduling_strategy=strategy)
        device.actor = made.remote(device.device_id, self._model, self._config, self.debug,
                                   self.loop)

    def close(self):
        for device in self._devices.values():
            if device.actor is not None:
                self._ray.kill(device.actor)
        self._devices.clear()

    def __del__(self):
        if getattr(self, "_devices", None) and self._ray.is_initialized():
            self.close()

    # -- runs ------------------------------------------------------------------------------------

    def infer_spread(self, feeds_list, devices, mode="static", custom_sizes=100000):
        """One list of feeds over several devices, each taking the next when it is free; outputs in
        the order of the feeds."""
        jobs = [Job(None, i, plain(feeds)) for i, feeds in enumerate(feeds_list)]
        answers = self._schedule("infer", [self._device(key) for key in devices], jobs,
                                 (mode, custom_sizes))
        return [answers[None, i][0] for i in range(len(jobs))]

    def _run(self, method, device_feeds, arguments):
        check_feeds(device_feeds, self._device)
        self.summary.clear()
        jobs = [Job(key, i, plain(feeds)) for key, entries in device_feeds.items()
                for i, feeds in enumerate(entries)]
        answers = self._schedule(method, [self._device(key) for key in device_feeds], jobs,
                                 arguments)
        results = {key: [] for key in device_feeds}
        for job in jobs:
            result, taken = answers[job.key, job.position]
            results[job.key].append(result)
            self.summary.setdefault(job.key, []).append(taken)
        return results

    def _schedule(self, method, devices, jobs, arguments):
        """{(key, position): answer} of all jobs. A job without a key runs anywhere."""
        anywhere = collections.deque()
        by_key = {device.key: device for device in devices}
        for job in jobs:
            (anywhere if job.key is None else by_key[job.key].waiting).append(job)
        try:
            return self._collect(method, devices, jobs, arguments, anywhere)
        finally:
            for device in devices:
                device.waiting.clear()
                device.running = 0

    def _collect(self, method, devices, jobs, arguments, anywhere):
        pending, answers, failure = {}, {}, None
        while len(answers) < len(jobs):
            for device in devices if failure is None else []:
                self._feed(method, device, anywhere, pending, arguments)
            if not pending:
                break
            (done,), _ = self._ray.wait(list(pending), num_returns=1)
            device, actor, job = pending.pop(done)
            device.running -= 1
            try:
                answers.setdefault((job.key, job.position), self._ray.get(done))
            except self._ray.exceptions.RayTaskError as error:
                failure = failure or WorkerError(f"device {device.key}, feeds {job.position}: a "
                                                 f"task failed\n{error}")
            except self._ray.exceptions.RayError as error:
                problem = self._lost(device, actor, job, error)
                failure = failure or problem
                (anywhere if job.key is None else device.waiting).appendleft(job)
        if failure is not None:
            raise failure
        return answers

    def _feed(self, method, device, anywhere, pending, arguments):
        while device.running < IN_FLIGHT and (device.waiting or anywhere):
            job = (device.waiting or anywhere).popleft()
            if device.actor is None:
                self._start(device)
            reference = device.actor.call.remote(method, (job.feeds, *arguments))
            pending[reference] = (device, device.actor, job)
            device.running += 1

    def _lost(self, device, actor, job, error):
        """The actor is gone before it answered `job`: another takes its place. Returns what stopped
        it, when that happens again and again."""
        if isinstance(getattr(error, "cause", None), Exception) or "creation task" in str(error):
            device.actor = None  # the session itself could not be made
            return WorkerError(f"device {device.key}: its session failed to start\n{error}")
        logger.warning("device %s was lost, its unanswered feeds run again: %s", device.key,
                       str(error).splitlines()[0])
        if device.actor is actor:
            device.actor = None
        job.attempts += 1
        if job.attempts < MOST_ATTEMPTS:
            return None
        return WorkerError(f"device {device.key}, feeds {job.position}: lost {job.attempts} times; "
                           f"the last reason: {error}")
