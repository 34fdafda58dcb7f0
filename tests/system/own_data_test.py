"""Data sets that are not laid out as ChestX-ray14: found, looked at, converted, checked, staged and trained on."""

import json
import shutil
import unittest

from harness import HAS_ONEDNN, IMAGES, SystemTest, small_images

CLASSES = ("cat", "eel", "owl")


class OwnData(SystemTest):
    def classes(self):
        """The images in folders of three classes."""
        root = self.folder / "classes"
        for i, image in enumerate(sorted((small_images() / "images").iterdir())):
            folder = root / ("val" if i % 4 == 0 else "train") / CLASSES[i % 3]
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(image, folder)
        return root

    def table(self):
        """The same with its own table of two labels."""
        root = self.folder / "table"
        shutil.copytree(small_images() / "images", root / "deep/images")
        rows = [f"{image.stem},{i % 2},{i},{int(i % 3 == 0)},{'train' if i % 4 else 'val'}"
                for i, image in enumerate(sorted((root / "deep/images").iterdir()))]
        (root / "labels.csv").write_text("picture,Left,age,Right,fold\n" + "\n".join(rows) + "\n")
        return root

    LABELS = ("--set", "data.layout=csv", "--set", "data.labels.columns=Left,Right", "--set",
              "data.labels.split_column=fold")

    def test_folders_of_classes_are_indexed_converted_checked_and_run(self):
        root = self.classes()
        index = self.succeed("data", "index", "--explain", root).stdout
        self.assertRegex(index, r"layout: folders\nimages: 24\n")
        for line in ("label.cat: 8", "label.owl: 8", "split.val.images: 6", "missing_files: 0"):
            self.assertIn(line, index)
        self.succeed("data", "convert", root, "--split", "train")
        manifest = json.loads((root / "tfrecord/train-manifest.json").read_text())
        self.assertEqual(manifest["labels"], list(CLASSES))
        self.assertEqual(self.told("data", "check", root)["records"], 18)
        for data_format in ("images", "tfrecord"):
            out = self.folder / data_format
            done = self.succeed("--config", self.spec(data__root=str(root), data__format=data_format), "--output", out)
            self.assertIn("read as data.layout folders, 3 labels", done.stderr)
            self.assertEqual(self.report(out)["trials"][0]["images"], 18)

    def test_a_table_is_indexed_converted_checked_and_run(self):
        root = self.table()
        index = self.succeed("data", "index", "--explain", root, *self.LABELS).stdout
        for line in ("layout: csv", "label.Left: 12", "label.Right: 8", "split.train.files: 18", "orphan_files: 0"):
            self.assertIn(line, index)
        self.succeed("data", "convert", root, "--split", "all", *self.LABELS)
        self.assertEqual(self.told("data", "check", root, *self.LABELS)["records"], IMAGES)
        self.succeed("--config", self.spec(data__root=str(root), data__format="tfrecord", data__split="all"),
                     *self.LABELS, "--output", self.folder / "out")

    def test_the_layout_is_kept_in_the_folder_and_read_by_every_verb(self):
        root = self.table()
        kept = root / "chexbench-data.json"
        saved = self.succeed("data", "index", "--explain", root, *self.LABELS, "--save")
        self.assertIn(f"layout_file: {kept}\n", saved.stdout)
        self.assertNotIn("data.labels", saved.stdout.splitlines()[-1])  # of the next command
        self.assertEqual(json.loads(kept.read_text().split("\n", 1)[1]), {"data": {
            "layout": "csv", "labels": {"columns": ["Left", "Right"], "split_column": "fold"}}})
        again = self.succeed("data", "index", "--explain", root)
        self.assertEqual(again.stdout, saved.stdout)
        self.assertIn(f"{kept} says how the folder is read", again.stderr)
        told = self.told("data", "index", "--explain", root)
        self.assertEqual((told["layout"], told["layout_file"]), ("csv", str(kept)))
        self.succeed("data", "convert", root, "--split", "train")
        self.assertEqual(self.told("data", "check", root)["records"], 18)
        near = self.folder / "near"
        self.succeed("data", "stage", root, near, "--split", "train")
        self.assertEqual((near / kept.name).read_text(), kept.read_text())
        for place, out in ((root, "out"), (near, "near-out")):
            self.succeed("--config", self.spec(data__root=str(place)), "--output", self.folder / out)
            spec = self.report(self.folder / out)["trials"][0]["spec"]
            self.assertEqual(spec["data"]["labels"]["columns"], ["Left", "Right"])

    def test_saving_a_layout_overwrites_nothing(self):
        root = self.classes()
        kept = root / "chexbench-data.json"
        kept.write_text('{"data": {"layuot": "folders"}}')
        self.fail_with(2, "data", "index", root, says=[str(kept), "did you mean 'data.layout'"])
        kept.write_text('{"data": {"layout": "folders"}} // mine')
        self.fail_with(6, "data", "index", root, "--save", says=f"{kept} is there already")
        self.assertTrue(kept.read_text().endswith("// mine"))
        kept.unlink()
        self.fail_with(3, "data", "index", self.folder / "none", "--save", says="no such folder")
        self.fail_with(2, "data", "index", "s3://bucket/set", "--save", says="is a URL")
        self.fail_with(2, "data", "index", root, "--set", "data.layout=csv", "--set", "data.labels.columns=", "--save")
        self.assertFalse(kept.exists())

    def test_how_a_folder_was_read_is_told_once(self):
        root = self.classes()
        for split in ("train", "all"):
            self.succeed("data", "convert", root, "--split", split)
        spec = self.spec(data__root=str(root),
                         sweep={"data.format": ["images", "tfrecord"], "data.split": ["train", "all"]})
        done = self.succeed("--config", spec, "--output", self.folder / "out")
        self.assertEqual(len(self.report(self.folder / "out")["trials"]), 4)
        self.assertEqual(done.stderr.count("read as data.layout folders"), 1, done.stderr)

    def test_one_engine_does_not_take_turns_with_two_numbers_of_labels(self):
        sweep = {"data.root": [str(self.classes()), str(small_images())]}
        self.succeed("--config", self.spec(sweep=sweep), "--output", self.folder / "none")
        self.fail_with(2, "--config", self.spec(sweep=sweep, engine="emulated:v100", model={"name": "resnet50"},
                                                comm={"model": "none"}),
                       "--output", self.folder / "out", says="have 3 and 14 labels")

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_a_network_gets_as_many_outputs_as_there_are_labels(self):
        quick = {"engine": "onednn", "model": {"name": "mobilenet_v2", "image_size": 32},
                 "measure": {"warmup_steps": 0, "steps": 2, "repeats": 1}}
        for root, labels in ((self.classes(), ()), (self.table(), self.LABELS)):
            out = self.folder / (root.name + "-out")
            self.succeed("--config", self.spec(data__root=str(root), **quick), *labels, "--output", out)
            self.assertGreater(float(self.rows(out)[0]["images_per_s"]), 0)

    def test_staging_writes_neither_into_the_source_nor_beside_the_copy(self):
        root = self.small_images()
        self.fail_with(2, "data", "stage", root, root / "staged", says="is within the data set")
        table = self.folder / "table.csv"
        table.write_text("file,x\n" + "".join(f"{image.name},1\n" for image in (root / "images").iterdir()))
        (self.folder / "elsewhere").mkdir()
        self.fail_with(3, "data", "stage", root / "images", self.folder / "elsewhere/near", "--split", "all", "--set",
                       "data.layout=csv", "--set", "data.labels.csv=../../table.csv", says="is not below the root")
        self.assertEqual(list((self.folder / "elsewhere").rglob("*.csv")), [])

    def test_a_staged_copy_is_a_data_set_of_its_own(self):
        for root, labels in ((self.classes(), ()), (self.table(), self.LABELS)):
            near = self.folder / ("near-" + root.name)
            command = ("data", "stage", root, near, "--split", "train", *labels)
            told = json.loads(self.succeed(*command, "--json").stdout)
            self.assertEqual(told["images"], 18)
            self.assertEqual(told["bytes_copied"], sum(file.stat().st_size for file in near.rglob("*")
                                                       if file.is_file() and not file.name.startswith("staged-")))
            self.assertIn("Nothing to copy: ", self.succeed(*command).stdout)
            shutil.rmtree(root)
            self.succeed(
                "--config", self.spec(data__root=str(near)), *labels, "--output", self.folder / (near.name + "-out")
            )

    def test_a_report_tells_whether_staging_pays(self):
        root, near = self.classes(), self.folder / "near"
        self.succeed("data", "stage", root, near, "--split", "train")
        self.measured(sweep={"data.root": [str(root), str(near)]})
        texts = [finding["text"] for finding in self.report(self.folder / "out")["findings"]
                 if finding["kind"] == "economics"]
        self.assertEqual(len(texts), 1, texts)
        self.assertRegex(
            texts[0],
            rf"staging from {root} took .* GB for 18 images, and the copy saves .*: it (pays after|never pays)",
        )
