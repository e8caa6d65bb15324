#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks format and common bugs of the code: clang-format, clang-tidy, ruff.

    tools/lint.py           format and ruff over everything, clang-tidy over changed C++ files
    tools/lint.py --all     clang-tidy over every C++ file (long)
    tools/lint.py --fix     let clang-format and ruff rewrite what they can

Changed means: differs from the last commit, or from the branch named by --base.
"""
import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CPP = (".cpp", ".h", ".cc", ".hpp")
TIDY = "clang-tidy-19"  # the first to know half floats and all of C++20 that GCC 12 takes


def git(*arguments):
    out = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return [line for line in out.stdout.splitlines() if line]


def tracked(suffixes):
    files = git("ls-files", "--cached", "--others", "--exclude-standard")
    return [f for f in files if f.endswith(suffixes) and os.path.isfile(os.path.join(ROOT, f))]


def run(title, command):
    print(f"{title}: {command[0]}", flush=True)
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def check_format(fix):
    if not shutil.which("clang-format"):
        sys.exit("clang-format is missing; `make lint` installs it")
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    return run("format", ["clang-format", *mode, *tracked(CPP)])


def check_python(fix):
    ruff = [sys.executable, "-m", "ruff", "check", "--quiet"]
    return run("python", [*ruff, "--fix", "."] if fix else [*ruff, "."])


def check_tidy(files, jobs):
    """clang-tidy reads the commands of a non-unity configuration, so each file stands alone."""
    if not files:
        print("tidy: no changed C++ file")
        return True
    build = os.path.join(ROOT, "build-lint")
    done = subprocess.run(["cmake", "-S", ".", "-B", build, "-G", "Ninja", "-DANYNPU_UNITY=OFF",
                           f"-DPython_EXECUTABLE={sys.executable}"], cwd=ROOT,
                          stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        return False
    # Headers are checked through the sources that include them.
    sources = [f for f in files if f.endswith((".cpp", ".cc"))]
    headers = {f for f in files if f.endswith((".h", ".hpp"))}
    for header in headers:
        twin = os.path.splitext(header)[0] + ".cpp"
        if twin not in sources and os.path.isfile(os.path.join(ROOT, twin)):
            sources.append(twin)
    def tidy(source):
        return source, subprocess.run([TIDY, "--quiet", "-p", build, source], cwd=ROOT, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      check=False)

    bad = 0
    with ThreadPoolExecutor(jobs) as pool:
        for number, (source, done) in enumerate(pool.map(tidy, sources), 1):
            bad += done.returncode != 0
            print(f"tidy {number}/{len(sources)} {source}\n" + done.stdout, end="", flush=True)
    print(f"tidy: {len(sources)} files, {bad} with findings")
    return not bad


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="clang-tidy over every C++ file")
    parser.add_argument("--base", default="HEAD", help="what 'changed' compares with")
    parser.add_argument("--fix", action="store_true", help="rewrite what can be rewritten")
    parser.add_argument("--skip-tidy", action="store_true", help="format and ruff only")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()

    changed = set(git("diff", "--name-only", args.base)) | \
        set(git("ls-files", "--others", "--exclude-standard"))
    cpp = [f for f in tracked(CPP) if args.all or f in changed]
    good = [check_format(args.fix), check_python(args.fix)]
    if not args.skip_tidy:
        good.append(check_tidy(cpp, args.jobs))
    print("lint: clean" if all(good) else "lint: see the lines above")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
