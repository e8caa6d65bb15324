#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site: lays the pages of this repository out below a folder and runs Sphinx there.

    python3 tools/site build [--out build/site]   the site, in English and Chinese
    python3 tools/site pages                      rewrites docs/errors.md
    python3 tools/site pages --check              fails when it is not what would be written

The layout is that of the repository, so links work as they are: all pages, the files and folders that
they link to (source files as text), and the generated reference.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import error_pages  # noqa: E402
import function_pages  # noqa: E402
import links  # noqa: E402
import navigation  # noqa: E402
from error_table import ACL, HERE, ROOT, errors  # noqa: E402

ERRORS = os.path.join(ROOT, "docs", "errors.md")
REFERENCE = os.path.join("docs", "reference")


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def samples(error):
    found = [message for rows in function_pages.messages().values()
             for _, code, message in rows if error.interface == ACL and code == str(error.number)]
    return list(dict.fromkeys(found))[:4]


def generated():
    """{name: text} of the pages that only the site has."""
    found = {"docs/errors.md": error_pages.index(lambda name: f"reference/errors/{name}")}
    for error in errors():
        found[f"{REFERENCE}/errors/{error_pages.file_name(error)}"] = error_pages.page(
            error, samples(error))
    for name, text in function_pages.pages().items():
        found[f"{REFERENCE}/functions/{name}"] = text
    return found


def source_page(name, text):
    """A page that shows a file of the tree; a page's link to the file leads here."""
    language = {"py": "python", "cpp": "cpp", "h": "cpp", "c": "c", "cc": "cpp"}.get(
        name.rsplit(".", 1)[-1], "text")
    fence = "`````"
    return f"# {name}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"


def folder_page(name, names):
    inside = sorted({n[len(name) + 1:].split("/")[0] for n in names if n.startswith(name + "/")})
    return f"# {name}\n\n" + "\n".join(f"- {entry}" for entry in inside) + "\n"


def staged(target):
    """Lays out the pages; what they link to beside pages and pictures becomes a page of its own."""
    names = links.tracked_files()
    pages = [n for n in names if n.endswith(".md")]
    texts = {n: links.read(n) for n in pages}
    for name, text in generated().items():
        texts[name] = text
    extra = {}
    for name in pages:
        def replaced(match, name=name):
            path = links.target(name, match[2])
            if path is None or path in texts or re.search(r"\.(svg|png)$", path):
                return match[0]
            if path in names:
                extra[path + ".md"] = source_page(path, links.read(path))
                return f"{match[1]}{match[2].split('#')[0]}.md)"
            inside = "README.md" if path == "." else f"{path}/README.md"
            if inside in texts:
                return f"{match[1]}{match[2].rstrip('/')}/README.md)"
            extra[f"{path}/listing.md"] = folder_page(path, names)
            return f"{match[1]}{match[2].rstrip('/')}/listing.md)"
        texts[name] = links.LINK.sub(replaced, texts[name])
    for name, text in {**texts, **extra}.items():
        write(target, name, re.sub(r"<!--.*?-->\n?", "", text, flags=re.S))
    for name in names:
        if name.endswith((".svg", ".png")):
            os.makedirs(os.path.dirname(os.path.join(target, name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(target, name))


def build(out):
    staging = os.path.abspath(out) + "-source"
    for folder in (staging, out):
        shutil.rmtree(folder, ignore_errors=True)
    staged(staging)
    write(staging, "index.md", navigation.front_page(links.read("README.md")))
    os.makedirs(os.path.join(staging, "static"))
    shutil.copy(os.path.join(HERE, "conf.py"), staging)
    shutil.copy(os.path.join(HERE, "site.css"), os.path.join(staging, "static"))
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto",
               "-b", "html", staging, os.path.abspath(out)]
    return subprocess.run(command, check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=("build", "pages"))
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "site"))
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.work == "build":
        return build(args.out)
    text = error_pages.index()
    if not args.check:
        write(ROOT, "docs/errors.md", text)
        return 0
    if not os.path.exists(ERRORS) or links.read("docs/errors.md") != text:
        print("docs/errors.md is out of date; run make doc-pages", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
