# SPDX-License-Identifier: Apache-2.0
"""`anynpu compare-speed`: an ONNX model here and in another engine, operator by operator.

Engines fuse operators differently, so operators of both sides that stand for the same operators of
the model form a group; the table has the groups where most time is lost first.
"""

import json
import os
import subprocess
import sys
import tempfile

PEERS = ("onnxruntime", "openvino")


def add_arguments(commands, environment):
    sub = commands.add_parser("compare-speed",
                              help="say operator by operator where a peer is faster")
    sub.add_argument("model", help="an .onnx file whose inputs have fixed shapes")
    sub.add_argument("--peer", choices=PEERS, default=PEERS[0])
    sub.add_argument("--threads", type=int, default=os.cpu_count())
    sub.add_argument("--runs", type=int, default=20, help="the median of so many is shown")
    sub.add_argument("--rows", type=int, default=15, help="groups to show; 0: all")
    sub.add_argument("--inputs", help="an .npz file with an array for each input")
    sub.set_defaults(function=lambda args: main(args, environment(os.environ)))


class Groups:
    """Operators of both sides joined by the operators of the model that they stand for."""

    def __init__(self):
        self.parent = {}

    def find(self, key):
        self.parent.setdefault(key, key)
        while self.parent[key] != key:
            self.parent[key] = self.parent[self.parent[key]]
            key = self.parent[key]
        return key

    def join(self, keys):
        keys = list(keys)
        for key in keys[1:]:
            self.parent[self.find(key)] = self.find(keys[0])


def origins_by_tensors(model, nodes):
    """{operator: nodes of `model` it stands for}, from the tensors that both have: what lies behind
    such a tensor back to the next ones. nodes: [(name, inputs, outputs)] of the fused graph."""
    maker = {out: node for node in model.graph.node for out in node.output}
    known = {tensor for _, inputs, outputs in nodes for tensor in (*inputs, *outputs)}
    found = {}
    for name, inputs, outputs in nodes:
        names, todo = [], [t for t in outputs if t in maker]
        stop = set(inputs)
        while todo:
            node = maker.get(todo.pop())
            if node is None or node.name in names:
                continue
            names.append(node.name)
            todo += [t for t in node.input if t not in stop and t not in known]
        found[name] = names
    return found


def fused_away(model, found):
    """Nodes that no operator stands for belong to the operator of one that reads them."""
    owner = {node: op for op, nodes in found.items() for node in nodes}
    readers = {}
    for node in model.graph.node:
        for tensor in node.input:
            readers.setdefault(tensor, []).append(node)
    for node in reversed(model.graph.node):
        if node.name in owner:
            continue
        for reader in (r for out in node.output for r in readers.get(out, [])):
            if reader.name in owner:
                owner[node.name] = owner[reader.name]
                found[owner[reader.name]].append(node.name)
                break
    return found


def table(ours, peer, peer_name, origins, rows):
    """Lines of text. ours, peer: {operator: (type, microseconds)}; origins: the same two keys to
    lists of nodes of the model."""
    groups = Groups()
    for side, found in enumerate(origins):
        for op, nodes in found.items():
            groups.join([(side, op), *((2, node) for node in nodes)])
    sums = {}
    for side, times in enumerate((ours, peer)):
        for op, (kind, took) in times.items():
            group = sums.setdefault(groups.find((side, op)), {"us": [0.0, 0.0], "ops": [[], []]})
            group["us"][side] += took
            group["ops"][side].append((took, kind, op))
    listed = sorted(sums.values(), key=lambda g: g["us"][1] - g["us"][0])
    total = [sum(g["us"][side] for g in listed) for side in range(2)]
    width = max(len(peer_name), 10)
    lines = [f"{'here us':>10} {peer_name + ' us':>{width + 3}} {'lost us':>10}  operators"]

    def line(us, text):
        return f"{us[0]:10.1f} {us[1]:{width + 3}.1f} {us[0] - us[1]:10.1f}  {text}"

    def kinds(ops):
        names = {}
        for _, kind, _ in sorted(ops, reverse=True):
            names[kind] = names.get(kind, 0) + 1
        return " ".join(kind if n == 1 else f"{n} {kind}" for kind, n in names.items()) or "nothing"

    for group in listed[:rows or len(listed)]:
        largest = max(group["ops"][0] or group["ops"][1])[2]
        text = f"{kinds(group['ops'][0])} / {kinds(group['ops'][1])} ({largest})"
        lines.append(line(group["us"], text))
    if rows and len(listed) > rows:
        rest = [sum(g["us"][side] for g in listed[rows:]) for side in range(2)]
        lines.append(line(rest, f"{len(listed) - rows} more"))
    lines.append(line(total, "in all"))
    return lines


def ask(engine, model, args, env):
    """What the worker of an engine measured: {"times": ..., "origins": ...}."""
    command = [sys.executable, "-m", "anynpu.compare_speed_worker", engine, model,
               str(args.threads), str(args.runs), args.inputs or ""]
    env = dict(env, ANYNPU_THREADS=str(args.threads))
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"anynpu compare-speed: {engine} failed with status {done.returncode}: {last}",
              file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main(args, env):
    try:
        import onnx
        model = onnx.load(args.model, load_external_data=False)
    except ImportError:
        print("anynpu compare-speed needs the package onnx: pip install onnx", file=sys.stderr)
        return 2
    except Exception as error:
        print(f"anynpu compare-speed: cannot read '{args.model}': {error}; expected an .onnx file",
              file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        om = os.path.join(folder, "model")
        atc = subprocess.run(["atc", "--framework=5", "--model=" + args.model, "--output=" + om,
                              "--soc_version=Ascend310P3"], env=env, capture_output=True,
                             text=True)
        if atc.returncode:
            print(atc.stdout + atc.stderr, end="", file=sys.stderr)
            return 1
        ours = ask("anynpu", om + ".om", args, env)
        peer = ask(args.peer, args.model, args, env)
    if ours is None or peer is None:
        return 1
    if args.peer == "onnxruntime":
        peer["origins"] = origins_by_tensors(model, peer["nodes"])
    found = [fused_away(model, side["origins"]) for side in (ours, peer)]
    print("\n".join(table(ours["times"], peer["times"], args.peer, found, args.rows)))
    print(f"\nWithout the measurement: {ours['whole']:.1f} us here, {peer['whole']:.1f} us there.")
    return 0
