"""scripts/kubernetes/mpijob.yaml: checked against kubeflow's schema, its operator's rules, the image and chexbench."""

import json
import re
import unittest

from harness import REAL_IMAGES, ROOT, SystemTest, python_with

PYTHON = python_with("jsonschema", "yaml")
MANIFEST = ROOT / "scripts/kubernetes/mpijob.yaml"
SCHEMA = ROOT / "tests/data/kubernetes/mpijob-v2beta1.json"
PEER = ROOT / "tests/system/mpijob_peer.py"
CONTAINER = ROOT / "scripts/container"


def operator_errors(job):
    """The rules of pkg/apis/kubeflow/validation/validation.go beyond the schema, after filling in defaults."""
    spec = job["spec"]
    replicas = spec["mpiReplicaSpecs"]
    errors = []
    if not re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", f"{job['metadata']['name']}-worker-0"):
        errors.append("metadata.name: no DNS label")
    if spec.get("runPolicy", {}).get("cleanPodPolicy", "None") not in ("None", "Running", "All"):
        errors.append("spec.runPolicy.cleanPodPolicy")
    if replicas.get("Launcher", {}).get("replicas", 1) != 1:
        errors.append("spec.mpiReplicaSpecs.Launcher.replicas: must be 1")
    if replicas.get("Worker", {}).get("replicas", 0) < 1:
        errors.append("spec.mpiReplicaSpecs.Worker.replicas: must be at least 1")
    for name, replica in replicas.items():
        if replica.get("restartPolicy", "Never") not in ("Never", "OnFailure"):
            errors.append(f"spec.mpiReplicaSpecs.{name}.restartPolicy")
        if not replica["template"]["spec"].get("containers"):
            errors.append(f"spec.mpiReplicaSpecs.{name}.template.spec.containers")
    return errors


@unittest.skipUnless(PYTHON, "needs jsonschema and PyYAML of Debian's Python: scripts/setup full brings them")
class Manifest(SystemTest):
    def read(self, text):
        read = json.loads(self.ends_with(0, PYTHON, "-B", PEER, SCHEMA, input=text).stdout)
        return read["job"], read["errors"]

    def pods(self, job):
        replicas = job["spec"]["mpiReplicaSpecs"]
        return replicas["Launcher"]["template"]["spec"], replicas["Worker"]["template"]["spec"]

    def test_the_schema_and_the_operator_take_it(self):
        job, errors = self.read(MANIFEST.read_text())
        self.assertEqual(errors, [])
        self.assertEqual(operator_errors(job), [])
        self.assertEqual((job["apiVersion"], job["kind"]), ("kubeflow.org/v2beta1", "MPIJob"))
        self.assertEqual(job["spec"]["mpiImplementation"], "MPICH")

    def test_mistakes_are_found(self):
        text = MANIFEST.read_text()
        for right, wrong, place in (
            ("mpiImplementation: MPICH", "mpiImplementation: mpich", "spec.mpiImplementation: 'mpich' is not one of"),
            ("slotsPerWorker: 2", 'slotsPerWorker: "2"', "spec.slotsPerWorker: '2' is not of type 'integer'"),
            ("slotsPerWorker", "slotsPerWorkers", "'slotsPerWorkers' was unexpected"),
            ("mountPath: /data", "path: /data", "'mountPath' is a required property"),
            ("medium: Memory", "medium: [Memory]", "emptyDir.medium"),
        ):
            with self.subTest(wrong=wrong):
                self.assertIn(right, text)
                _, errors = self.read(text.replace(right, wrong))
                self.assertTrue(any(place in error for error in errors), errors)
        job, _ = self.read(text.replace("Worker:\n      replicas: 2", "Worker:\n      replicas: 0"))
        self.assertEqual(operator_errors(job), ["spec.mpiReplicaSpecs.Worker.replicas: must be at least 1"])

    def test_its_parts_fit_each_other(self):
        job, _ = self.read(MANIFEST.read_text())
        launcher, worker = self.pods(job)
        arguments = launcher["containers"][0]["args"]
        ranks = job["spec"]["slotsPerWorker"] * job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"]
        self.assertEqual(arguments[arguments.index("-np") + 1], str(ranks))
        self.assertEqual(launcher["containers"][0]["image"], worker["containers"][0]["image"])
        labels = worker["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]
        self.assertEqual(labels["training.kubeflow.org/job-name"], job["metadata"]["name"])
        for pod in (launcher, worker):
            mounted = [mount["name"] for mount in pod["containers"][0]["volumeMounts"]]
            self.assertEqual(mounted, [volume["name"] for volume in pod["volumes"]])
        places = {mount["mountPath"] for mount in worker["containers"][0]["volumeMounts"]}
        self.assertTrue({"/data", launcher["containers"][0]["workingDir"]} <= places)

    def test_it_fits_the_image(self):
        job, _ = self.read(MANIFEST.read_text())
        containerfile = (CONTAINER / "Containerfile").read_text()
        sshd = dict(line.split(None, 1) for line in (CONTAINER / "sshd_config").read_text().splitlines()
                    if not line.startswith("#"))
        keys = job["spec"]["sshAuthMountPath"]
        self.assertEqual(sshd["HostKey"], f"{keys}/id_rsa")
        self.assertIn(f"Port {sshd['Port']}\n", (CONTAINER / "ssh_config").read_text())
        for pod in self.pods(job):
            user = pod["containers"][0]["securityContext"]["runAsUser"]
            self.assertIn(f"useradd --create-home --uid {user} {keys.split('/')[2]} ", containerfile)
            self.assertEqual(pod["securityContext"]["fsGroup"], user)
        worker = self.pods(job)[1]["containers"][0]
        self.assertEqual(worker["readinessProbe"]["tcpSocket"]["port"], int(sshd["Port"]))
        self.assertEqual(worker["args"][-1], "/etc/chexbench/sshd_config")

    def test_chexbench_takes_its_command(self):
        job, _ = self.read(MANIFEST.read_text())
        arguments = self.pods(job)[0]["containers"][0]["args"]
        ranks = arguments[arguments.index("-np") + 1]
        command = arguments[arguments.index("chexbench") + 1:]
        command = [f"data.root={REAL_IMAGES}" if word == "data.root=/data" else word for word in command]
        self.assertIn(f"data.root={REAL_IMAGES}", command)
        self.succeed(*command, "--dry-run", "--ranks", ranks, cwd=self.folder)
