"""A ReFrame test: how many images/s does the input pipeline deliver, and for what share of a step does an accelerator
wait?

usage: reframe -c scripts/reframe/chexbench_reframe.py -S data_root=DIR --run
    -S data_root=DIR           the images: a folder or a URL
    -S spec=NAME               a built-in experiment or a file; one trial of it must be left for each pipeline
    -S settings=KEY=VALUE,...  keys of the spec besides data.root and pipeline
    -S num_tasks=N             ranks, which the launcher of ReFrame's partition starts
    -S images_per_s=RATE       the reference: a run that is more than -S tolerance=0.1 below it fails
    -S wait_share_limit=SHARE  a run whose accelerators wait longer fails
    -S chexbench=FILE          the program, if it is not on PATH
-n %pipeline=optimized selects one of the two cases, and -S ChexbenchInput.NAME=VALUE is for this test alone.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable

REPORT = "report-stdout.json"


def absolute_if_file(name):
    """A path, valid from the folder in which ReFrame runs the program; any other name is unchanged."""
    return os.path.abspath(name) if os.path.isfile(name) else name


def absolute_root(root):
    """The folder of a data set, valid from the folder in which ReFrame runs the program; a URL is unchanged."""
    if "://" in root:
        return root
    if not os.path.isdir(root):
        raise ValueError(f"no folder '{root}': -S data_root=DIR names the images, or a URL that chexbench reads")
    return os.path.abspath(root)


@rfm.simple_test
class ChexbenchInput(rfm.RunOnlyRegressionTest):
    pipeline = parameter(["naive", "optimized"])
    spec = variable(str, value="naive-vs-optimized")
    settings = variable(typ.List[str], value=["data.format=images", "engine=emulated:v100", "comm.model=alpha_beta"])
    data_root = variable(str, value="")
    chexbench = variable(str, value="chexbench")
    images_per_s = variable(float, value=0.0)
    tolerance = variable(float, value=0.1)
    wait_share_limit = variable(float, value=1.0)

    descr = "images/s and wait share that chexbench measures"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    tags = {"chexbench", "input"}
    time_limit = "1h"
    keep_files = ["run"]

    @run_before("run")
    def set_command(self):
        settings = [f"data.root={absolute_root(self.data_root)}", f"pipeline={self.pipeline}", *self.settings]
        self.executable = absolute_if_file(self.chexbench)
        self.executable_opts = ["--config", absolute_if_file(self.spec), "--output", "run", "--quiet"]
        for setting in settings:
            self.executable_opts += ["--set", f"'{setting}'"]
        self.postrun_cmds = ["status=$?", f"{self.executable} report run --format json > {REPORT}", "exit $status"]

    @sanity_function
    def one_trial_was_measured(self):
        errors = sn.extractall(r"error: (.*)", self.stderr, 1)
        if self.job.exitcode != 0 or errors:
            return sn.assert_true(False, f"chexbench ended with {self.job.exitcode}: {'; '.join(errors)}")
        trials = self.read_trials()
        return sn.assert_eq(len(trials), 1, f"{len(trials)} trials: -S settings must leave one of {self.spec}")

    def read_trials(self):
        with open(os.path.join(self.stagedir, REPORT)) as file:
            return json.load(file)["trials"]

    @performance_function("images/s", perf_key="images_per_s")
    def measured_images_per_s(self):
        return self.read_trials()[0]["figures"]["images_per_s"]

    @performance_function("of a step", perf_key="wait_share")
    def measured_wait_share(self):
        return self.read_trials()[0]["figures"]["wait_share"]

    @run_before("performance")
    def set_references(self):
        lower = -self.tolerance if self.images_per_s > 0 else None
        self.reference = {"*": {"images_per_s": (self.images_per_s, lower, None, "images/s"),
                                "wait_share": (self.wait_share_limit, None, 0, "of a step")}}
