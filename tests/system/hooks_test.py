"""The hooks of scripts/hooks in real trainings: a loader that is slow by a known amount has to be found so."""

import json
import os
import subprocess
import sys
import textwrap
import unittest

from harness import ROOT, SystemTest, measured

WITHIN = 0.05  # of the time: how near the share of wait must come to the planted one


def python_with(package):
    """A Python that has `package`: the one of these tests, or that of scripts/peers; None: neither."""
    for python in (sys.executable, ROOT / "build/peers-venv/bin/python"):
        try:
            found = subprocess.run(
                [python, "-c", f"import importlib.util as u, sys; sys.exit(not u.find_spec('{package}'))"]
            )
        except OSError:
            continue
        if found.returncode == 0:
            return python
    return None


class Hook(SystemTest):
    package = None

    def wait_share(self, training):
        """What chexbench finds in the log that `training`, a program's text, writes to the path LOG."""
        python = python_with(self.package)
        if python is None:
            self.skipTest(f"no Python here has {self.package}; scripts/peers/setup makes one")
        program = self.folder / "training.py"
        program.write_text(textwrap.dedent(training))
        log = self.folder / "steps.csv"
        environment = {
            **os.environ,
            "LOG": str(log),
            "PYTHONPATH": str(ROOT / "scripts/hooks"),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "OMP_NUM_THREADS": "1",
            "CUDA_VISIBLE_DEVICES": "",
        }
        done = subprocess.run([python, "-B", program], env=environment, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(self.succeed("diagnose", log, "--format", "json").stdout)
        self.assertEqual(found["steps"], 40)
        self.assertEqual(found["left_out"], 2)
        self.assertEqual(found["ranks"][0]["images"], 38 * 8)
        return found["wait_share"]


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


del Hook  # its children are the tests

if __name__ == "__main__":
    unittest.main()
