# SPDX-License-Identifier: Apache-2.0
"""Messages between a program and its workers: small parts over a socket, the data of arrays in
shared memory, so that they are written once and read in place."""
import mmap
import os
import pickle
import socket
import struct

_HEAD = struct.Struct("<QQ")  # bytes of the pickle, number of arrays
_ALIGNMENT = 64


def _aligned(size):
    return -(-size // _ALIGNMENT) * _ALIGNMENT


class Channel:
    def __init__(self, connection):
        self._socket = connection

    def fileno(self):
        return self._socket.fileno()

    def send(self, message):
        buffers = []
        head = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
        views = [buffer.raw() for buffer in buffers]
        sizes = struct.pack(f"<{len(views)}Q", *(view.nbytes for view in views))
        descriptors = [self._shared(views)] if views else []
        try:
            socket.send_fds(self._socket, [_HEAD.pack(len(head), len(views))], descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        self._socket.sendall(sizes + head)

    @staticmethod
    def _shared(views):
        descriptor = os.memfd_create("ais_bench", os.MFD_CLOEXEC)
        total = sum(_aligned(view.nbytes) for view in views)
        if total:
            os.ftruncate(descriptor, total)
        offset = 0
        for view in views:
            done = 0
            while done < view.nbytes:
                done += os.pwrite(descriptor, view[done:], offset + done)
            offset += _aligned(view.nbytes)
        return descriptor

    def receive(self):
        """The next message; EOFError when the other side is gone."""
        try:
            raw, descriptors, _, _ = socket.recv_fds(self._socket, _HEAD.size, 1)
        except ConnectionError as error:
            raise EOFError from error
        if not raw:
            raise EOFError
        head_size, count = _HEAD.unpack(raw + self._read(_HEAD.size - len(raw)))
        sizes = struct.unpack(f"<{count}Q", self._read(8 * count))
        head = self._read(head_size)
        memory = self._map(descriptors, sum(map(_aligned, sizes)))
        views, offset = [], 0
        for size in sizes:
            views.append(memory[offset:offset + size])
            offset += _aligned(size)
        return pickle.loads(head, buffers=views)

    @staticmethod
    def _map(descriptors, total):
        try:
            return memoryview(mmap.mmap(descriptors[0], total)) if total else memoryview(b"")
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _read(self, size):
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(min(size - len(parts), 1 << 20))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)

    def close(self):
        self._socket.close()
