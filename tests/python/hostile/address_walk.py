# SPDX-License-Identifier: Apache-2.0
"""Calls every C function with addresses that are no memory, each function in a child of its own.

Started by test_wrong_addresses.py, because it forks. Prints the functions whose child died, then
how many were called. Pointers to functions are null: programs are trusted with their callbacks.
"""
import csv
import ctypes
import itertools
import os
import signal
import sys

import c_api_facts
from build_tree import BUILD, ROOT

BAD = (1, 0x10, 0xDEAD0000, 0x7FFFFFFFF000, 1 << 63, (1 << 64) - 1)
# The child has called the first itself; the others end what the other calls need.
SKIPPED = {"aclInit", "aclAppLog", "aclFinalize", "aclFinalizeReference"}
Pointer, Size = ctypes.c_void_p, ctypes.c_size_t
NUMBERS = {
    "int8_t": ctypes.c_int8, "uint8_t": ctypes.c_uint8, "int16_t": ctypes.c_int16,
    "uint16_t": ctypes.c_uint16, "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "size_t": Size, "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint, "unsigned char": ctypes.c_uint8, "signed char": ctypes.c_int8,
    "unsigned short": ctypes.c_uint16, "short": ctypes.c_int16, "char": ctypes.c_int8,
    "long": ctypes.c_long, "unsigned long": ctypes.c_ulong, "long long": ctypes.c_longlong,
    "unsigned long long": ctypes.c_ulonglong, "bool": ctypes.c_bool, "float": ctypes.c_float,
    "double": ctypes.c_double,
}
TYPEDEFS = {row["name"]: row["is"] for row in c_api_facts.rows("typedefs")}
SIZES = {row["struct"]: int(row["size"]) for row in c_api_facts.rows("structs")}
ENUMS = {row["enum"] for row in c_api_facts.rows("enums")}


def plain(text):
    return text.replace("const ", "").replace(" const", "").replace("*const", "*").strip()


def ctype_of(text):
    """How ctypes passes a parameter: Pointer, None for a pointer to a function, or a number or
    struct by value."""
    text = plain(text)
    if "(*)" in text:
        return None
    if text.endswith(("*", "]")):
        return Pointer
    if text in NUMBERS:
        return NUMBERS[text]
    if text.startswith("enum ") or text in ENUMS:
        return ctypes.c_int
    tag = c_api_facts.TAGGED.fullmatch(TYPEDEFS.get(text, text))
    size = SIZES.get(text) or (tag and SIZES.get(tag[2]))
    if size:
        fields = [("words", ctypes.c_uint32 * (size // 4))]
        return type(text, (ctypes.Structure,), {"_fields_": fields})
    return ctype_of(TYPEDEFS[text])


class Child:
    """A process with a device, and objects to call functions with."""

    def __init__(self, acl):
        self.acl = acl
        self.memory = ctypes.create_string_buffer(1 << 20)
        assert acl.aclInit(None) == 0 and acl.aclrtSetDevice(0) == 0

    def made(self, function, *arguments):
        """What a function writes through its first argument."""
        out = Pointer()
        getattr(self.acl, function)(ctypes.byref(out), *arguments)
        return out.value

    def returned(self, function, *arguments):
        call = getattr(self.acl, function)
        call.restype = Pointer
        return call(*arguments)

    def handle(self, kind):
        """An object of a type that is known by its handle; None for other types."""
        makers = {
            "aclrtStream": lambda: self.made("aclrtCreateStream"),
            "aclrtEvent": lambda: self.made("aclrtCreateEvent"),
            "aclrtContext": lambda: self.made("aclrtCreateContext", 0),
            "aclrtNotify": lambda: self.made("aclrtCreateNotify", ctypes.c_uint64(0)),
            "aclrtCntNotify": lambda: self.made("aclrtCntNotifyCreate", ctypes.c_uint64(0)),
            "aclrtLabel": lambda: self.made("aclrtCreateLabel"),
            "aclrtMbuf": lambda: self.made("aclrtAllocBuf", Size(64)),
            "aclmdlRI": lambda: self.made("aclmdlRIBuildBegin", 0),
            "aclTensorDesc *": lambda: self.returned("aclCreateTensorDesc", 0, 1,
                                                     (ctypes.c_int64 * 1)(6), 2),
            "aclDataBuffer *": lambda: self.returned("aclCreateDataBuffer", self.memory, Size(64)),
            "aclmdlDataset *": self.dataset,
            "aclmdlAIPP *": lambda: self.returned("aclmdlCreateAIPP", 1, ctypes.c_uint64(1)),
            "acltdtChannelHandle *": lambda: self.returned("acltdtCreateChannelWithCapacity", 0,
                                                           b"n", Size(2)),
            "acltdtQueueRoute *": lambda: self.returned("acltdtCreateQueueRoute", 1, 2),
        }
        for name, create in (("aclmdlDesc", "aclmdlCreateDesc"), ("aclopAttr", "aclopCreateAttr"),
                             ("aclmdlConfigHandle", "aclmdlCreateConfigHandle"),
                             ("aclmdlExecConfigHandle", "aclmdlCreateExecConfigHandle"),
                             ("acltdtQueueAttr", "acltdtCreateQueueAttr"),
                             ("acltdtDataset", "acltdtCreateDataset"),
                             ("acltdtQueueRouteList", "acltdtCreateQueueRouteList"),
                             ("acltdtQueueRouteQueryInfo", "acltdtCreateQueueRouteQueryInfo")):
            makers[f"{name} *"] = lambda create=create: self.returned(create)
        return makers[kind]() if kind in makers else None

    def dataset(self):
        made = self.returned("aclmdlCreateDataset")
        self.acl.aclmdlAddDatasetBuffer(Pointer(made), Pointer(self.handle("aclDataBuffer *")))
        return made

    def arguments(self, types, bad, others):
        """Argument `bad` is wrong; the other pointers are handles of their type, or `others`."""
        for at, (text, kind) in enumerate(types):
            if kind is None:
                yield Pointer(0)
            elif kind is not Pointer:
                yield kind(1) if not issubclass(kind, ctypes.Structure) else kind()
            elif at in bad:
                yield Pointer(bad[at])
            else:
                yield Pointer(self.handle(plain(text)) or others)

    def call(self, function, types):
        pointers = [at for at, (_, kind) in enumerate(types) if kind is Pointer]
        device = self.made("aclrtMalloc", Size(1 << 20), 0)
        for address in BAD:
            function(*self.arguments(types, dict.fromkeys(pointers, address), 0))
            host = ctypes.addressof(self.memory)
            for at, others in itertools.product(pointers, (0, host, device)):
                function(*self.arguments(types, {at: address}, others))


def main():
    with open(os.path.join(ROOT, "src", "api", "libraries.tsv"), encoding="utf-8") as file:
        names = [row["library"] for row in csv.DictReader(file, delimiter="\t")]
    libraries = [ctypes.CDLL(os.path.join(BUILD, "lib", f"lib{name}.so")) for name in names]
    acl, called = libraries[names.index("ascendcl")], 0
    for row in c_api_facts.rows("functions"):
        types = [(text, ctype_of(text)) for text in c_api_facts.split_parameters(row["parameters"])]
        if row["function"] in SKIPPED or Pointer not in (kind for _, kind in types):
            continue
        called += 1
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            signal.alarm(60)
            Child(acl).call(next(getattr(library, row["function"]) for library in libraries
                                 if hasattr(library, row["function"])), types)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status != 0:
            print(row["function"], status)
    print(called)


if __name__ == "__main__":
    sys.exit(main())
