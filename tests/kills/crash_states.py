"""The states of a disk after a loss of power, computed from a log of write_log.cpp.

POSIX guarantees little: a file's data are on the disk after fsync of the file, and its name after fsync of its folder,
but not the folder's own name in the folder above. Everything else may be there or not. States of these kinds are
computed at each moment:

  guaranteed   what POSIX guarantees, and nothing else
  nameless     all data, and only those names that are guaranteed
  empty        all names, and of each file only what was synced: what ext4 leaves of a rename without fsync
  torn         all names, and half of what was not synced
  blank        all names and sizes, with zeros for what was not synced: what data=writeback leaves
  ordered      names up to any moment since the last fsync of anything (a journal's commit), and any part of the data
  killed       everything: what kill -9 leaves
"""

import json
import os
import random
from dataclasses import dataclass, field

KINDS = ("guaranteed", "nameless", "empty", "torn", "blank", "ordered", "killed")


def read_log(path):
    """The records in order; a write has its bytes as "data"."""
    records = []
    with open(path, "rb") as file:
        while line := file.readline():
            record = json.loads(line)
            if record["op"] == "write":
                record["data"] = file.read(record["bytes"])
            records.append(record)
    return records


@dataclass
class File:
    """Its changes in order: (place, bytes) of a write, (size, None) of a change of its size."""
    number: int
    changes: list = field(default_factory=list)
    synced: int = 0

    def content(self, count, until, share=0.0, blank=False):
        """After `count` changes, and that share of the bytes of those `until` another one, or zeros in their place."""
        content = bytearray()
        room = int(share * sum(len(data) for _, data in self.changes[count:until] if data is not None))
        for number, (at, data) in enumerate(self.changes[:until]):
            if data is None:
                content[at:] = bytes(max(0, at - len(content)))
                continue
            if number >= count and blank:
                data = bytes(len(data))
            elif number >= count:
                data = data[:room]
                room -= len(data)
                if not data:
                    break
            content[len(content):] = bytes(max(0, at - len(content)))
            content[at:at + len(data)] = data
        return bytes(content)


@dataclass
class Folder:
    """Changes of its names in order: lists of (name, file, folder or None), each list as a whole or not at all."""
    changes: list = field(default_factory=list)
    moments: list = field(default_factory=list)
    synced: int = 0

    def names(self, count):
        names = {}
        for change in self.changes[:count]:
            for name, target in change:
                names.pop(name, None)
                if target is not None:
                    names[name] = target
        return names


class Disk:
    """A folder whose changes are replayed from a log; begins with its current contents, all synced."""

    def __init__(self, root):
        self.root = str(root)
        self.files = {}
        self.folders = {}
        self.moment = 0
        self.committed = 0
        for path, folders, files in os.walk(root):
            folder = self.folders[path] = Folder()
            folder.changes.append([(name, os.path.join(path, name)) for name in folders])
            for name in files:
                full = os.path.join(path, name)
                number = os.stat(full).st_ino
                with open(full, "rb") as file:
                    self.files[number] = File(number, [(0, file.read())], 1)
                folder.changes.append([(name, self.files[number])])
            folder.moments = [0] * len(folder.changes)
            folder.synced = len(folder.changes)

    def apply(self, record):
        self.moment += 1
        getattr(self, "_" + record["op"])(record)

    def _change_names(self, folder, change):
        self.folders[folder].changes.append(change)
        self.folders[folder].moments.append(self.moment)

    def _create(self, record):
        folder, name = os.path.split(record["path"])
        self.files[record["file"]] = File(record["file"])  # a number may be used again
        self._change_names(folder, [(name, self.files[record["file"]])])

    def _mkdir(self, record):
        folder, name = os.path.split(record["path"])
        self.folders[record["path"]] = Folder()
        self._change_names(folder, [(name, record["path"])])

    def _write(self, record):
        self.files[record["file"]].changes.append((record["at"], record["data"]))

    def _resize(self, record):
        self.files[record["file"]].changes.append((record["size"], None))

    def _rename(self, record):
        folder, name = os.path.split(record["path"])
        to_folder, to_name = os.path.split(record["to"])
        assert folder == to_folder, f"{record}: renames between folders are not modelled"
        target = self.folders[folder].names(None)[name]
        self._change_names(folder, [(name, None), (to_name, target)])

    def _remove(self, record):
        folder, name = os.path.split(record["path"])
        self._change_names(folder, [(name, None)])

    def _sync(self, record):
        self.committed = self.moment
        if record["path"] in self.folders:
            folder = self.folders[record["path"]]
            folder.synced = len(folder.changes)
        else:
            file = self.files[record["file"]]
            file.synced = len(file.changes)

    def _sync_all(self, _):
        self.committed = self.moment
        for thing in (*self.files.values(), *self.folders.values()):
            thing.synced = len(thing.changes)

    def _named(self, count_of, path=None):
        """Path and file or None (a folder) of all that is reached with `count_of(folder)` changes of each folder."""
        path = path or self.root
        folder = self.folders[path]
        for name, target in sorted(folder.names(count_of(folder)).items()):
            if isinstance(target, File):
                yield os.path.join(path, name), target
            else:
                yield target, None
                yield from self._named(count_of, target)

    def state(self, kind, seed):
        """The state after a loss of power at this point: a path and, for a file, itself and arguments of content()."""
        chance = random.Random(seed * 1_000_003 + self.moment)
        last = chance.randint(self.committed, self.moment)

        def count_of(folder):
            if kind in ("guaranteed", "nameless"):
                return folder.synced
            if kind == "ordered":
                return max(folder.synced, sum(moment <= last for moment in folder.moments))
            return len(folder.changes)

        state = []
        for path, file in self._named(count_of):
            if file is None:
                state.append((path, None))
                continue
            share = {"torn": 0.5, "ordered": chance.choice((0.0, chance.random(), 1.0))}.get(kind, 0.0)
            whole = kind in ("nameless", "killed")
            count = len(file.changes) if whole else file.synced
            unsynced = count < len(file.changes)
            until = len(file.changes) if unsynced and (share > 0 or kind == "blank") else count
            state.append((path, file, count, until, share if unsynced else 0.0, kind == "blank" and unsynced))
        return state

    def lost(self):
        """Files whose folder was synced for their names, which a loss of power could take even so."""
        kept = {path for path, _ in self._named(lambda folder: folder.synced)}
        return [os.path.relpath(os.path.join(path, name), self.root)
                for path, folder in self.folders.items() if path != self.root and path not in kept
                for name, target in folder.names(folder.synced).items() if isinstance(target, File)]


def signature(state):
    """Of two states with the same one, one is enough."""
    return tuple((path, id(file), *how) for path, file, *how in state)


def contents(state):
    """Bytes, or None for a folder, by path."""
    return {path: None if file is None else file.content(*how) for path, file, *how in state}
