# SPDX-License-Identifier: Apache-2.0
"""Atomic file writes, like src/base/whole_file.h in C++.

The bytes go to a temporary file beside the target, which only this process can have created (a
random name, O_EXCL, O_NOFOLLOW, locked) and which is then renamed. Its mode is that of any new
file, without the bits of the umask. The leftovers of a killed process, files and folders, are no
longer locked; the first write of another process into the same folder removes them.
"""
import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import stat

MARK = ".anynpu-tmp-"  # and 16 digits behind it
_TEMPORARY = re.compile(re.escape(MARK) + "[0-9a-f]{16}$")
_TRIES = 100
_clean = set()  # folders without leftovers


def remove_leftovers(folder):
    """Removes what this user's dead processes left in `folder`; returns the number of files and
    folders."""
    removed = 0
    with contextlib.suppress(OSError):
        for name in filter(_TEMPORARY.search, os.listdir(folder)):
            removed += _remove_if_left(os.path.join(folder, name))
    return removed


def remove_leftovers_of_runs(folder, run):
    """The same in all that lies below the folders of earlier runs: those in `folder` whose whole
    names match the expression `run`."""
    removed = remove_leftovers(folder)
    with contextlib.suppress(OSError):
        for name in filter(re.compile(run).fullmatch, os.listdir(folder)):
            for place, folders, _ in os.walk(os.path.join(folder, name)):
                removed += remove_leftovers(place)
                folders[:] = [inner for inner in folders if not _TEMPORARY.search(inner)]
    return removed


def _remove_if_left(path):
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        info = os.fstat(file)
        is_folder = stat.S_ISDIR(info.st_mode)
        if not (is_folder or stat.S_ISREG(info.st_mode)) or info.st_uid != os.geteuid():
            return False
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path) if is_folder else os.unlink(path)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


def _create(path, mode):
    """(temporary path, its file, locked)."""
    for _ in range(_TRIES):
        partial = f"{path}{MARK}{secrets.token_hex(8)}"
        try:
            file = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                           | os.O_CLOEXEC, mode)
        except FileExistsError:
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # somebody takes it for a leftover
            os.close(file)
            continue
        except OSError:
            pass  # a file system without locks
        if os.fstat(file).st_nlink:
            return partial, file
        os.close(file)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)


def _check_target(path):
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", path)


def _sync_folder(folder):
    """The name, too; not every file system can."""
    with contextlib.suppress(OSError):
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        finally:
            os.close(file)


@contextlib.contextmanager
def temporary(path, mode=0o666, synced=True):
    """(path, file) of a temporary file that becomes `path` at the end; a failure leaves `path` as
    it was and raises what it was. Without `synced` nothing waits for the disk: for what can be made
    again."""
    path = os.fspath(path)
    folder = os.path.dirname(path) or "."
    _check_target(path)
    if folder not in _clean:
        remove_leftovers(folder)
        _clean.add(folder)
    partial, file = _create(path, mode)
    try:
        yield partial, file
        if synced:
            os.fsync(file)
        os.replace(partial, path)
        if synced:
            _sync_folder(folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(partial)
        raise
    finally:
        os.close(file)


@contextlib.contextmanager
def temporary_folder(parent, stem):
    """A folder `stem`... in `parent` for this block alone. What a killed process leaves is removed
    by the next that makes one there."""
    remove_leftovers(parent)
    path = os.path.join(parent, f"{stem}{MARK}{secrets.token_hex(8)}")
    os.mkdir(path, 0o700)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield path
    finally:
        os.close(folder)
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def whole(path):
    """A path to write to, which becomes `path` at the end; what a failure leaves is removed."""
    try:
        with temporary(path) as (partial, _):
            yield partial
    except OSError as error:
        if not error.errno:
            raise
        raise OSError(f"'{path}' cannot be written: {error.strerror}; check the folder and "
                      "the free space of its disk") from error


def explained(error):
    """A failure of the file system as a sentence that says where and what to do."""
    if isinstance(error, OSError) and error.errno and error.filename:
        return (f"'{error.filename}' cannot be used: {error.strerror}; check the path, its rights "
                "and the free space of its disk")
    return str(error)


def write_whole(path, text):
    with whole(path) as partial, open(partial, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path
