# SPDX-License-Identifier: Apache-2.0
"""Times the networks of the zoo against onnxruntime and openvino, in alternating rounds.

    python bench/zoo/measure.py --build build [--json FILE] [--precision fp16] [--threads N]
                            [--clock run|cpu] [--rounds N] [word ...]

With words, only networks whose name or family contains one. Results are added to the JSON file
(default BUILD/zoo.json), a network at a time, so a run may be continued; report.py makes
docs/zoo.md and its picture from it.
"""

import argparse
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import harness  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import peers  # noqa: E402
from all_networks import NETWORKS  # noqa: E402

DIFFERS = 1e-3  # relative difference of results beyond which a row says so


def save(network, folder):
    """The .onnx file and the .npz file of its inputs."""
    path, inputs = (os.path.join(folder, network.name + end) for end in (".onnx", ".npz"))
    model, feeds = network.make()
    onnx.save(model, path)
    np.savez(inputs, **feeds)
    return path, inputs


def difference(ours, other, build):
    """Of the results: the greatest norm of a difference over the norm. Outputs whose length a run
    decides are left out."""
    files = [os.path.join(peers.folder(build), name) for name in ("zoo-a.npz", "zoo-b.npz")]
    for side, file in zip((ours, other), files):
        side.ask("save " + file)
    worst = 0.0
    with np.load(files[0]) as a, np.load(files[1]) as b:
        for key in a:
            x, y = a[key].astype(np.float64).ravel(), b[key].astype(np.float64).ravel()
            if x.shape != y.shape or not np.linalg.norm(y):
                continue
            worst = max(worst, float(np.linalg.norm(x - y) / np.linalg.norm(y)))
    return worst


def measure(network, args, kinds=("anynpu", *peers.PEERS)):
    """The row of one network: {"ms": {engine: median}, "ratio": {peer: [median, low, high]}}."""
    build = os.path.abspath(args.build)
    path, inputs = save(network, peers.folder(build))
    modes = {} if args.precision == "origin" else {"precision_mode_v2": args.precision}
    om, atc = peers.compile_om(path, build, **modes)
    row = {"name": network.name, "family": network.family, "atc_s": atc, "peak_kib": {},
           "precision": args.precision, "clock": args.clock, "threads": args.threads}
    engines, times = {}, {}
    try:
        for kind in kinds:
            if peers.missing(kind) and kind != "anynpu":
                continue
            try:
                engines[kind] = peers.Engine(kind, om if kind == "anynpu" else path, inputs, build,
                                             args.threads)
            except peers.Died as reason:
                if kind == "anynpu":
                    raise
                row.setdefault("died", {})[kind] = str(reason)
        for number in range(args.rounds + 1):
            order = sorted(engines)[::1 if number % 2 else -1]
            for kind in order:
                took = engines[kind].run(args.clock)
                if number:
                    times.setdefault(kind, []).append(took)
        row["ms"] = {kind: statistics.median(taken) * 1e3 for kind, taken in times.items()}
        row["ratio"] = {}
        for kind in engines:
            row["peak_kib"][kind] = engines[kind].ask("peak")
            if kind == "anynpu":
                continue
            ratios = harness.estimate([a / b for a, b in zip(times["anynpu"], times[kind])])
            row["ratio"][kind] = [ratios.median, ratios.low, ratios.high]
        if "onnxruntime" in engines:
            row["differs"] = difference(engines["anynpu"], engines["onnxruntime"], build)
    finally:
        for engine in engines.values():
            engine.close()
        for file in (path, inputs, om):
            os.remove(file)
    return row


def text_of(row):
    ratios = " ".join(f"{kind} {values[0]:.2f}" for kind, values in row["ratio"].items())
    more = f" differs by {row['differs']:.0e}" if row.get("differs", 0) > DIFFERS else ""
    return f"{row['name']:28} {row['ms']['anynpu']:9.3f} ms  {ratios}{more}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.dirname(HERE)),
                                                        "build"))
    parser.add_argument("--json")
    parser.add_argument("--precision", default="origin", help="origin, fp16, mixed_bfloat16 ...")
    parser.add_argument("--threads", type=int, default=peers.THREADS)
    parser.add_argument("--clock", choices=("run", "cpu"), default="run")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--again", action="store_true", help="also networks that the file has")
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    file = args.json or os.path.join(args.build, "zoo.json")
    rows = {}
    if os.path.exists(file):
        with open(file) as opened:
            rows = {row["name"]: row for row in json.load(opened)}
    for network in NETWORKS.values():
        chosen = not args.words or any(w in network.name or w in network.family
                                       for w in args.words)
        if not chosen or (network.name in rows and not args.again):
            continue
        try:
            rows[network.name] = measure(network, args)
            print(text_of(rows[network.name]), flush=True)
        except (peers.Died, SystemExit) as reason:
            print(f"{network.name}: {reason}", flush=True)
            continue
        with open(file + ".new", "w") as opened:
            json.dump(list(rows.values()), opened, indent=1)
        os.replace(file + ".new", file)


if __name__ == "__main__":
    main()
