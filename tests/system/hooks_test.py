"""The hooks of scripts/hooks in real trainings: they must find a loader that is slow by a known amount. And the hook
for PyTorch on a simulated GPU, where it must not wait."""

import csv
import importlib.util
import os
import sys
import tempfile
import textwrap
import types
import unittest
from unittest import mock

from harness import ROOT, SystemTest, measured, python_with, run_program

WITHIN = 0.05  # of the time: how near the share of wait must come to the planted one


class Hook(SystemTest):
    package = None

    def wait_share(self, training):
        """chexbench's findings in the log that `training`, a program's text, writes to the path LOG."""
        python = python_with(self.package)
        if python is None:
            self.skipTest(f"no Python here has {self.package}; scripts/peers/setup makes one")
        program = self.folder / "training.py"
        program.write_text(textwrap.dedent(training))
        log = self.folder / "steps.csv"
        environment = {**os.environ, "LOG": str(log), "PYTHONPATH": str(ROOT / "scripts/hooks"),
                       "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        self.ends_with(0, python, "-B", program, env=environment, timeout=200)
        found = self.told("diagnose", log)
        self.assertEqual(found["steps"], 40)
        self.assertEqual(found["left_out"], 2)
        self.assertEqual(found["ranks"][0]["images"], 38 * 8)
        return found["wait_share"]


class FakeGpu:
    """Replaces torch.cuda: a queue of work whose time passes only on the test's command. Waiting for it is an error,
    and so is reading a mark that has not passed, as in PyTorch."""

    def __init__(self):
        self.now = self.free_at = 0.0

    def is_initialized(self):
        return True

    def synchronize(self, *_):
        raise AssertionError("the hook waits for the GPU")

    def compute(self, seconds):
        self.free_at = max(self.now, self.free_at) + seconds

    def Event(gpu, enable_timing):
        class Event:
            def record(self):
                self.at = gpu.free_at = max(gpu.now, gpu.free_at)

            def query(self):
                return gpu.now >= self.at

            def elapsed_time(self, end):
                assert enable_timing and self.query() and end.query(), "a mark was read before it passed"
                return 1e3 * (end.at - self.at)

            def synchronize(self):
                raise AssertionError("the hook waits for the GPU")

            wait = synchronize

        return Event()


class PyTorchOnAGpu(unittest.TestCase):
    def rows(self, load_s, launch_s, compute_s, steps=10):
        """The hook's log of a training that loads for load_s and queues work for launch_s, of compute_s on the GPU; and
        how many rows were written before the training ended."""
        gpu = FakeGpu()
        with mock.patch.dict(sys.modules, {"torch": types.SimpleNamespace(cuda=gpu)}):
            spec = importlib.util.spec_from_file_location("hook", ROOT / "scripts/hooks/pytorch_steps.py")
            hook = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(hook)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = f"{folder.name}/steps.csv"
        log = hook.StepLog(path)

        def loader():
            for _ in range(steps):
                gpu.now += load_s
                yield [[0] * 8]

        for _ in log.steps(loader()):
            gpu.now += launch_s
            gpu.compute(compute_s)
        with open(path) as file:
            early = len(list(csv.DictReader(file)))
        gpu.now += 1000
        log.close()
        with open(path) as file:
            return [(float(row["wait_s"]), float(row["step_s"])) for row in csv.DictReader(file)], early

    def test_a_gpu_that_is_behind_does_not_wait_for_a_slow_fetch(self):
        rows, early = self.rows(load_s=0.03, launch_s=0.001, compute_s=0.05)
        self.assertEqual(len(rows), 10)
        for wait_s, step_s in rows[1:]:
            self.assertAlmostEqual(wait_s, 0)
            self.assertAlmostEqual(step_s, 0.05)
        self.assertGreater(early, 3)  # the host runs ahead, and the steps computed meanwhile are in the file

    def test_a_gpu_waits_for_what_the_fetch_takes_longer_than_it_computes(self):
        rows, early = self.rows(load_s=0.08, launch_s=0.001, compute_s=0.05)
        for wait_s, step_s in rows[1:]:
            self.assertAlmostEqual(wait_s, 0.081 - 0.051)
            self.assertAlmostEqual(step_s, 0.081)
        self.assertEqual(early, 9)  # one step late


class PyTorch(Hook):
    package = "torch"
    TRAINING = """
        import os, time, torch
        from pytorch_steps import StepLog

        class Images(torch.utils.data.Dataset):
            def __len__(self):
                return 160

            def __getitem__(self, index):
                time.sleep({load_s} / 8)
                return torch.zeros(4), torch.zeros(1)

        if __name__ == "__main__":
            model = torch.nn.Linear(4, 1)
            log = StepLog(os.environ["LOG"])
            for epoch in range(2):
                for images, labels in log.steps(torch.utils.data.DataLoader(Images(), 8, num_workers={workers})):
                    torch.nn.functional.mse_loss(model(images), labels).backward()
                    time.sleep({train_s})
        """

    @measured
    def test_a_slow_loader_is_found(self):
        # One process loads 120 ms, then trains 80 ms.
        share = self.wait_share(self.TRAINING.format(load_s=0.12, train_s=0.08, workers=0))
        self.assertAlmostEqual(share, 0.6, delta=WITHIN)

    @measured
    def test_a_loader_that_keeps_up_is_found(self):
        share = self.wait_share(self.TRAINING.format(load_s=0.04, train_s=0.12, workers=1))
        self.assertAlmostEqual(share, 0, delta=WITHIN)

    def test_it_takes_less_than_a_hundredth_of_a_step(self):
        # In CPU seconds, which other processes do not change: of the hook alone, and of a small training.
        python = python_with(self.package)
        if python is None:
            self.skipTest(f"no Python here has {self.package}; scripts/peers/setup makes one")
        program = """
            import os, sys, time, torch
            from pytorch_steps import StepLog

            torch.set_num_threads(1)
            def cpu_s_per_step(steps, work):
                batches = [[torch.zeros(16, 3, 64, 64)]] * steps
                begin = time.process_time()
                work(batches)
                return (time.process_time() - begin) / steps

            model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3))
            def train(batches):
                for images, in batches:
                    model(images).sum().backward()
            def log(batches):
                for _ in StepLog(sys.argv[1]).steps(batches):
                    pass
            train([[torch.zeros(16, 3, 64, 64)]])  # the first step also makes its kernels
            print(cpu_s_per_step(5000, log), cpu_s_per_step(20, train))
            """
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts/hooks"), "CUDA_VISIBLE_DEVICES": ""}
        done = self.ends_with(0, python, "-B", "-c", textwrap.dedent(program), self.folder / "steps.csv",
                              env=environment, timeout=200)
        hook_s, step_s = map(float, done.stdout.split())
        self.assertLess(hook_s, 0.01 * step_s)

    def test_what_it_costs_can_be_measured(self):
        python = python_with("torchvision")
        if python is None:
            self.skipTest("no Python here has torchvision; scripts/peers/setup makes one")
        done = self.ends_with(0, python, "-B", ROOT / "scripts/hooks/measure_overhead.py", "--rounds", "2", "--steps",
                              "2", "--batch", "2", "--size", "32", timeout=200)
        self.assertRegex(done.stdout, r"^pytorch, 2 rounds of 2 steps each way, [0-9.]+ ms a step\n"
                                      r"wall time with the hook: [-+.0-9]+ % \(95 % interval [-+.0-9]+ % to "
                                      r"[-+.0-9]+ %\)\nCPU time with the hook: ")


class Keras(Hook):
    package = "tensorflow"
    TRAINING = """
        import os, time, numpy, keras
        import tensorflow as tf
        from keras_steps import StepLog

        def batches():
            for _ in range(20):
                time.sleep({load_s})
                yield numpy.zeros((8, 4), "f4"), numpy.zeros((8, 1), "f4")

        class Model(keras.Sequential):
            def train_step(self, data):
                tf.py_function(lambda: time.sleep({train_s}), [], [])
                return super().train_step(data)

        model = Model([keras.layers.Input((4,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        shapes = (tf.TensorSpec((None, 4)), tf.TensorSpec((None, 1)))
        data = tf.data.Dataset.from_generator(batches, output_signature=shapes).prefetch(2)
        model.fit(data, epochs=2, verbose=0, callbacks=[StepLog(os.environ["LOG"])])
        model.fit(data, epochs=1, verbose=0)  # without the hook again: nothing more is logged
        """

    @measured
    def test_a_slow_data_set_is_found(self):
        # The data set's thread loads 200 ms while the step takes 80 ms: 120 of 200 ms are wait.
        self.assertAlmostEqual(self.wait_share(self.TRAINING.format(load_s=0.2, train_s=0.08)), 0.6, delta=WITHIN)

    @measured
    def test_a_data_set_that_keeps_up_is_found(self):
        self.assertAlmostEqual(self.wait_share(self.TRAINING.format(load_s=0.04, train_s=0.12)), 0, delta=WITHIN)


class KerasThatThrows(SystemTest):
    def test_steps_before_the_error_are_written(self):
        program = self.folder / "training.py"
        program.write_text(textwrap.dedent("""
        import os, sys, time, types

        keras, tensorflow = types.ModuleType("keras"), types.ModuleType("tensorflow")
        keras.callbacks = types.SimpleNamespace(Callback=object)
        tensorflow.nest = types.SimpleNamespace(flatten=lambda value: [value])
        sys.modules.update(keras=keras, tensorflow=tensorflow)
        from keras_steps import StepLog

        class Loss:
            def numpy(self):
                time.sleep(0.2)  # the GPU computes while the training has gone on

        def train(batches):
            next(batches)
            return Loss()

        log = StepLog(os.environ["LOG"])
        log.model = types.SimpleNamespace(steps_per_execution=1, train_function=train)
        log.on_train_begin()
        log.on_epoch_begin(0)
        batches = iter([types.SimpleNamespace(shape=(8,))] * 3)
        for _ in range(3):
            log.model.train_function(batches)
        raise MemoryError
        """))
        log = self.folder / "steps.csv"
        done = run_program(sys.executable, "-B", program,
                           env={**os.environ, "LOG": str(log), "PYTHONPATH": str(ROOT / "scripts/hooks")})
        self.assertIn("MemoryError", done.stderr)
        with open(log, newline="") as file:
            self.assertEqual([row["images"] for row in csv.DictReader(file)], ["8"] * 3, done.stderr)


del Hook  # its children are the tests
