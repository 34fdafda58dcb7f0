"""Reads the tensors of a file that torch.save() wrote (.pth, .pt, .pth.tar), without PyTorch.

No code of the file is run: a pickle may name only the parts of a dictionary of tensors. Both formats are read: the zip
archive of PyTorch 1.6 and later, and the older stream, the format of torchvision's oldest weights.
"""

import collections
import math
import pickle
import struct
import zipfile
from array import array

MAGIC = 0x1950A86A20F9469CFC6C  # of the older format
PROTOCOL = 1001
TYPE_BYTES = {"Float": 4, "Double": 8, "Half": 2, "BFloat16": 2, "Long": 8, "Int": 4, "Short": 2, "Char": 1, "Byte": 1,
              "Bool": 1}
HOW_TO_SAVE = "save the tensors alone by PyTorch: torch.save(model.state_dict(), FILE)"


class Unreadable(Exception):
    """The file lacks the expected contents; the message names them and the remedy."""


class Storage:
    """The values of one or more tensors: their type, and their bytes once they are known."""

    def __init__(self, kind, count):
        self.kind, self.count, self.data = kind, count, None

    @property
    def value_bytes(self):
        return TYPE_BYTES[self.kind]


class Tensor:
    """A view of a storage."""

    def __init__(self, storage, offset, shape, strides):
        self.storage, self.offset, self.shape, self.strides = storage, offset, tuple(shape), tuple(strides)
        numbers = (offset, *self.shape, *self.strides)
        if len(self.shape) != len(self.strides) or any(not isinstance(n, int) or n < 0 for n in numbers):
            raise Unreadable(f"a tensor of shape {self.shape}, strides {self.strides} and offset {offset} is none")
        last = offset + sum((side - 1) * stride for side, stride in zip(self.shape, self.strides, strict=True))
        if 0 not in self.shape and last >= storage.count:
            raise Unreadable(f"a tensor of shape {self.shape} reaches beyond the {storage.count} values of its storage")

    def is_contiguous(self):
        expected = 1
        for side, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if side != 1 and stride != expected:
                return False
            expected *= side
        return True

    def f32(self):
        """The values as little-endian f32, row-major."""
        kind, data = self.storage.kind, memoryview(self.storage.data)
        count, size = math.prod(self.shape), self.storage.value_bytes
        if self.is_contiguous():
            data = data[self.offset * size:(self.offset + count) * size]
        else:
            data = b"".join(data[i * size:(i + 1) * size] for i in self._places())
        if kind == "Float":
            return bytes(data)
        if kind == "BFloat16":  # the upper half of an f32
            return b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2))
        if kind not in ("Double", "Half"):
            raise Unreadable(f"values of type {kind}, which are no weights")
        return array("f", struct.unpack(f"<{count}{'d' if kind == 'Double' else 'e'}", data)).tobytes()

    def _places(self):
        """The number of each value in the storage, row-major."""
        places = [self.offset]
        for side, stride in zip(self.shape, self.strides, strict=True):
            places = [place + i * stride for place in places for i in range(side)]
        return places


class StorageType:
    """Stands for torch.FloatStorage in a pickle."""

    def __init__(self, kind):
        self.kind = kind


def rebuild_tensor(storage, offset, shape, strides, *_):
    if not isinstance(storage, Storage):
        raise Unreadable("a tensor without a storage")
    return Tensor(storage, offset, shape, strides)


def rebuild_parameter(tensor, *_):
    return tensor


KNOWN = {("collections", "OrderedDict"): collections.OrderedDict,
         ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor, ("torch._utils", "_rebuild_tensor"): rebuild_tensor,
         ("torch._utils", "_rebuild_parameter"): rebuild_parameter, ("torch", "Size"): tuple,
         **{("torch", f"{kind}Storage"): StorageType(kind) for kind in TYPE_BYTES}}


class TensorUnpickler(pickle.Unpickler):
    """Refuses every name that is not in KNOWN, so that no code of a file is run."""

    def __init__(self, file, storages):
        super().__init__(file, encoding="utf-8")  # for names written by Python 2
        self.storages = storages

    def find_class(self, module, name):
        found = KNOWN.get((module, name))
        if found is None:
            raise Unreadable(f"it holds a {module}.{name}, and nothing but tensors is read: {HOW_TO_SAVE}")
        return found

    def persistent_load(self, pid):
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage" or not isinstance(pid[1], StorageType):
            raise Unreadable(f"a reference of a kind that is not known: {str(pid)[:100]}")
        _, kind, key, _, count, *view = pid
        if view and view[0] is not None:
            raise Unreadable(f"a storage that is a part of another one: {HOW_TO_SAVE}")
        if not isinstance(count, int) or count < 0:
            raise Unreadable(f"a storage of {count} values")
        return self.storages.setdefault(key, Storage(kind.kind, count))


def fill(storage, data, key):
    if len(data) != storage.count * storage.value_bytes:
        raise Unreadable(f"storage {key} has {len(data)} bytes, {storage.count * storage.value_bytes} are needed: "
                         "the file is damaged or cut off")
    storage.data = data


def read_archive(path):
    storages = {}
    with zipfile.ZipFile(path) as archive:
        pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise Unreadable("a zip archive, but not one of torch.save()")
        folder = pickles[0][:-len("data.pkl")]
        if f"{folder}byteorder" in archive.namelist() and archive.read(f"{folder}byteorder") != b"little":
            raise Unreadable("its values are big-endian")
        with archive.open(pickles[0]) as file:
            found = TensorUnpickler(file, storages).load()
        for key, storage in storages.items():
            fill(storage, archive.read(f"{folder}data/{key}"), key)
    return found


def read_stream(path):
    storages = {}
    with open(path, "rb") as file:
        if TensorUnpickler(file, {}).load() != MAGIC or TensorUnpickler(file, {}).load() != PROTOCOL:
            raise Unreadable("not a file of torch.save()")
        if not TensorUnpickler(file, {}).load().get("little_endian"):
            raise Unreadable("its values are big-endian")
        found = TensorUnpickler(file, storages).load()
        for key in TensorUnpickler(file, {}).load():
            count = struct.unpack("<q", file.read(8))[0]
            if key not in storages or storages[key].count != count:
                raise Unreadable(f"storage {key} is not the one that its tensors name: the file is damaged")
            fill(storages[key], file.read(count * storages[key].value_bytes), key)
    return found


def read(path):
    """The contents written by torch.save(): dictionaries and tensors. Raises Unreadable."""
    try:
        return read_archive(path) if zipfile.is_zipfile(path) else read_stream(path)
    except Unreadable as reason:
        raise Unreadable(f"{path}: {reason}") from None
    except OSError as reason:
        raise Unreadable(f"{path}: {reason.strerror or reason}") from None
    except (pickle.UnpicklingError, zipfile.BadZipFile, struct.error, EOFError, KeyError, ValueError, TypeError,
            AttributeError, IndexError, UnicodeDecodeError, MemoryError) as reason:
        raise Unreadable(f"{path}: not a file of torch.save(), or damaged ({reason}); download it again, or "
                         f"{HOW_TO_SAVE}") from None
