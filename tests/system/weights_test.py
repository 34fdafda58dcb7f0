"""scripts/weights: files of torch.save() become weights that a training begins from, and nothing in them is run."""

import json
import os
import pickle
import struct
import sys
import types
import unittest
import zipfile
from array import array

from epochs import EpochsTest, read_checkpoint
from harness import BINARY, HAS_ONEDNN, ROOT, SystemTest, run

sys.path.insert(0, str(ROOT / "scripts"))
from pretrained import torch_file  # noqa: E402

TYPES = {"f": "FloatStorage", "d": "DoubleStorage", "e": "HalfStorage", "q": "LongStorage"}


class FakeTensor:
    """A tensor as PyTorch pickles it: a call of torch._utils._rebuild_tensor_v2 on a storage outside the pickle."""

    def __init__(self, values, shape, strides=None, kind="f"):
        self.data, self.count, self.kind = struct.pack(f"<{len(values)}{kind}", *values), len(values), kind
        self.shape, self.strides = tuple(shape), tuple(strides or [1] * len(shape))
        if strides is None:
            for i in range(len(shape) - 2, -1, -1):
                self.strides = (*self.strides[:i], self.strides[i + 1] * shape[i + 1], *self.strides[i + 1:])

    def __reduce__(self):
        return FAKES["torch._utils"]._rebuild_tensor_v2, (Reference(self), 0, self.shape, self.strides, False, {})


class Reference:
    def __init__(self, tensor):
        self.tensor = tensor


class TensorPickler(pickle.Pickler):
    def __init__(self, file, stored):
        super().__init__(file, 2)
        self.stored = stored

    def persistent_id(self, obj):
        if not isinstance(obj, Reference):
            return None
        self.stored.append(obj.tensor)
        kind = getattr(FAKES["torch"], TYPES[obj.tensor.kind])
        return ("storage", kind, str(len(self.stored) - 1), "cpu", obj.tensor.count, *self.view())

    def view(self):
        return ()


class StreamPickler(TensorPickler):
    def view(self):
        return (None,)


def fake_modules():
    """The classes that a pickle of PyTorch names, importable while one is written."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    for name in TYPES.values():
        setattr(torch, name, type(name, (), {"__module__": "torch"}))

    def _rebuild_tensor_v2():
        """Only its name is pickled."""
    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2
    return {"torch": torch, "torch._utils": utils}


FAKES = fake_modules()


def pickled(file, pickler, found, stored):
    kept = {name: sys.modules.get(name) for name in FAKES}
    sys.modules.update(FAKES)
    try:
        pickler(file, stored).dump(found)
    finally:
        for name, module in kept.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def save_archive(path, found):
    """As torch.save() writes it since PyTorch 1.6."""
    stored = []
    with zipfile.ZipFile(path, "w") as archive:
        with archive.open("archive/data.pkl", "w") as file:
            pickled(file, TensorPickler, found, stored)
        for i, tensor in enumerate(stored):
            archive.writestr(f"archive/data/{i}", tensor.data)


def save_stream(path, found):
    """As it wrote it before."""
    stored = []
    with open(path, "wb") as file:
        for part in (torch_file.MAGIC, torch_file.PROTOCOL, {"little_endian": True}):
            pickle.dump(part, file, 2)
        pickled(file, StreamPickler, found, stored)
        pickle.dump([str(i) for i in range(len(stored))], file, 2)
        for tensor in stored:
            file.write(struct.pack("<q", tensor.count) + tensor.data)


class Reading(SystemTest):
    def read(self, found, save=save_archive):
        save(self.folder / "file.pth", found)
        return torch_file.read(self.folder / "file.pth")

    def test_both_formats_give_the_same_tensors(self):
        for save in (save_archive, save_stream):
            with self.subTest(save.__name__):
                found = self.read({"a": FakeTensor([1, 2, 3, 4, 5, 6], (2, 3)), "b": FakeTensor([7], ())}, save)
                self.assertEqual(found["a"].shape, (2, 3))
                self.assertEqual(list(array("f", found["a"].f32())), [1, 2, 3, 4, 5, 6])
                self.assertEqual(list(array("f", found["b"].f32())), [7])

    def test_other_strides_and_types_become_rows_of_f32(self):
        found = self.read({"turned": FakeTensor([1, 2, 3, 4, 5, 6], (3, 2), (1, 3)),
                           "half": FakeTensor([0.5, -2], (2,), kind="e"),
                           "double": FakeTensor([0.25], (1,), kind="d"), "long": FakeTensor([3], (), kind="q")})
        self.assertEqual(list(array("f", found["turned"].f32())), [1, 4, 2, 5, 3, 6])
        self.assertEqual(list(array("f", found["half"].f32())), [0.5, -2])
        self.assertEqual(list(array("f", found["double"].f32())), [0.25])
        with self.assertRaisesRegex(torch_file.Unreadable, "no weights"):
            found["long"].f32()

    def test_nothing_of_a_file_is_run(self):
        class Attack:
            def __reduce__(self):
                return os.mkdir, (str(witness),)
        witness = self.folder / "it-ran"
        for save in (save_archive, save_stream):
            with self.subTest(save.__name__), self.assertRaisesRegex(torch_file.Unreadable, "mkdir.*nothing but ten"):
                self.read({"a": Attack()}, save)
        self.assertFalse(witness.exists())

    def test_a_tensor_beyond_its_storage_is_refused(self):
        for tensor in (FakeTensor([1, 2], (3,)), FakeTensor([1, 2], (2,), (-1,)), FakeTensor([1, 2], (2,), (2,))):
            with self.assertRaisesRegex(torch_file.Unreadable, "file.pth"):
                self.read({"a": tensor})

    def test_every_cut_file_is_refused(self):
        for save in (save_archive, save_stream):
            save(self.folder / "file.pth", {"a": FakeTensor(range(8), (8,))})
            whole = (self.folder / "file.pth").read_bytes()
            for length in range(0, len(whole), 7):
                (self.folder / "cut.pth").write_bytes(whole[:length])
                with self.subTest(save=save.__name__, length=length), self.assertRaises(torch_file.Unreadable):
                    torch_file.read(self.folder / "cut.pth")


def shapes_of(network):
    tensors = json.loads(run("model", network, "--format", "json").stdout)["tensors"]
    return {tensor["name"]: tensor["shape"] for tensor in tensors}


def state_of(network, outputs=14):
    """A state_dict of the network's shapes; the values count up in small steps."""
    state = {}
    for number, (name, shape) in enumerate(shapes_of(network).items()):
        if name.startswith(("classifier.", "fc.")):
            shape = [outputs, *shape[1:]]
        count = 1
        for side in shape:
            count *= side
        state[name] = FakeTensor(array("f", [(number % 97 + 1) / 1024]) * count, shape)
    return state


@unittest.skipUnless(HAS_ONEDNN, "trains on the CPU")
class Weights(EpochsTest):
    def call(self, code, *arguments, binary=BINARY):
        return self.ends_with(code, sys.executable, "-B", ROOT / "scripts/weights", *arguments,
                              env=os.environ | {"CHEXBENCH_BINARY": str(binary)})

    def weights(self, network, state, save=save_archive, code=0, says=()):
        save(self.folder / "file.pth", state)
        done = self.call(code, network, self.folder / "file.pth", self.out)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stdout + done.stderr)
        self.assertEqual(self.out.exists(), code == 0)
        return done

    def setUp(self):
        super().setUp()
        self.out = self.folder / "weights.safetensors"

    def first_of(self, path):
        _, tensors, data = read_checkpoint(path)
        return {name: struct.unpack_from("<f", data, tensor["data_offsets"][0])[0]
                for name, tensor in tensors.items() if tensor["dtype"] == "F32"}

    def test_a_training_begins_from_them(self):
        state = state_of("mobilenet_v2")
        self.weights("mobilenet_v2", state)
        spec = self.training(model={"name": "mobilenet_v2", "image_size": 32, "weights": str(self.out)},
                             training__epochs=1, training__learning_rate=1e-30)  # the weights stay
        self.train(spec, self.folder / "out")
        trained = self.first_of(self.last(self.folder / "out").with_name("best.safetensors"))
        for name, tensor in state.items():
            if "running" not in name:
                self.assertAlmostEqual(trained[name], struct.unpack_from("<f", tensor.data)[0], 12, name)

    def test_a_head_of_imagenet_is_told_and_begun_anew(self):
        self.weights("mobilenet_v2", state_of("mobilenet_v2", 1000), says="'classifier.1' has 1000 outputs")
        spec = self.training(model={"name": "mobilenet_v2", "image_size": 32, "weights": str(self.out)},
                             training__epochs=1)
        done = self.succeed("--config", spec, "--output", self.folder / "out")
        self.assertIn("layer 'classifier.1' starts from random weights", done.stderr)

    def test_wrapped_and_old_names_are_found(self):
        state = state_of("densenet121")
        wrapped = {}
        for name, tensor in state.items():
            for number in "12":
                for part in ("norm", "conv"):
                    if "denselayer" in name:
                        name = name.replace(f".{part}{number}.", f".{part}.{number}.")
            wrapped["module.densenet121." + name.replace("classifier.", "classifier.0.")] = tensor
        wrapped["module.densenet121.features.norm0.num_batches_tracked"] = FakeTensor([1], (), kind="q")
        self.weights("densenet121", {"epoch": 3, "state_dict": wrapped, "best_loss": 0.5}, save_stream)
        found = self.first_of(self.out)
        for name, tensor in state.items():
            self.assertEqual(found[name], struct.unpack_from("<f", tensor.data)[0], name)

    def test_auxiliary_heads_are_left_out(self):
        state = state_of("googlenet")
        state["aux1.fc1.weight"] = FakeTensor([1], (1, 1))
        self.weights("googlenet", state)
        self.assertNotIn("aux1.fc1.weight", self.first_of(self.out))

    def test_what_does_not_fit_is_refused(self):
        state = state_of("mobilenet_v2")
        self.weights("resnet50", state, code=3, says=["no tensor 'conv1.weight'", "another network"])
        without = {name: tensor for name, tensor in state.items() if name != "features.3.conv.2.weight"}
        self.weights("mobilenet_v2", without, code=3, says="no tensor 'features.3.conv.2.weight'")
        self.weights("mobilenet_v2", state | {"features.0.1.bias": FakeTensor([1], (1,))}, code=3,
                     says=["'features.0.1.bias' has shape [1]", "[32]"])
        self.weights("mobilenet_v2", state | {"extra.weight": FakeTensor([1], (1,))}, code=3, says="'extra.weight'")
        self.weights("mobilenet_v2", {"epoch": 3}, code=3, says="no dictionary of tensors")

    def test_what_is_missing_here_is_named(self):
        none = self.folder / "none.pth"
        self.assertIn("none.pth: No such file", self.call(3, "alexnet", none, self.out).stderr)
        unbuilt = self.call(2, "alexnet", none, self.out, binary=self.folder / "none")
        self.assertIn("build it, or name it by CHEXBENCH_BINARY", unbuilt.stderr)
        save_archive(self.folder / "file.pth", state_of("mobilenet_v2"))
        away = self.call(6, "mobilenet_v2", self.folder / "file.pth", self.folder / "no/folder")
        self.assertIn("cannot write it", away.stderr)
