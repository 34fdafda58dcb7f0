"""DICOM files as a data set: measured, converted, trained on, refused; and never a patient's name in the output."""

import unittest

from dicom import PLANTED, dicom
from harness import HAS_DCMTK, HAS_ONEDNN, SystemTest
from web_server import Server


def rows(seed, width=40, height=30):
    return [[(x * 97 + y * seed * 31) % 4096 for x in range(width)] for y in range(height)]


@unittest.skipUnless(HAS_DCMTK, "built without DCMTK")
class Dicoms(SystemTest):
    def scans(self, images=12):
        """Two classes; every third file is MONOCHROME1."""
        root = self.folder / "scans"
        for i in range(images):
            path = root / ("ill" if i % 2 else "well") / f"{i:02}.{'DCM' if i == 3 else 'dcm'}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(dicom(rows(i + 1), inverted=i % 3 == 0))
        return root

    def assert_nobody_is_named(self, *texts):
        """Neither in the output nor in any file that is not a DICOM file itself."""
        files = [path for path in self.folder.rglob("*") if path.is_file() and path.suffix.lower() != ".dcm"]
        self.assertTrue(files)
        for content in [text.encode() for text in texts] + [path.read_bytes() for path in files]:
            for planted in (*PLANTED, "PLANTED"):
                self.assertNotIn(planted.encode(), content)

    def test_a_folder_is_answered_and_counted(self):
        root = self.scans()
        answer = self.succeed(root, "--time", "1", "--output", self.folder / "out")
        self.assertIn("images/s", answer.stdout)
        index = self.succeed("data", "index", "--explain", root)
        self.assertIn("files.jpeg: 0\nfiles.dicom: 12\n", index.stdout)
        self.assert_nobody_is_named(answer.stdout, answer.stderr, index.stdout)

    def test_every_format_has_the_same_pixels_and_no_name(self):
        root = self.scans()
        said = []
        for target in ("tfrecord", "webdataset", "cached"):
            more = ("--image-size", "32") if target == "cached" else ()
            said.append(self.succeed("data", "convert", root, "--split", "all", "--to", target, *more).stdout)
        again = self.succeed("data", "convert", root, "--split", "all").stdout
        self.assertIn("Nothing to convert: ", again)
        check = self.succeed("data", "check", root)
        self.assertIn(": no problems. ", " ".join(check.stdout.split()))
        out = self.folder / "out"
        formats = ["images", "tfrecord", "webdataset", "cached"]
        done = self.succeed("--config", self.spec(data__root=str(root), data__split="all", data__deliver="u8",
                                                  model__image_size=32, sweep={"data.format": formats}),
                            "--output", out)
        self.assertEqual([trial["images"] for trial in self.report(out)["trials"]], [12] * 4)
        self.assert_nobody_is_named(*said, again, check.stdout, check.stderr, done.stdout, done.stderr)

    def test_they_are_read_from_a_server(self):
        with Server(self.scans()) as server:
            self.assertEqual(self.told("data", "check", server.url)["problems"], [])
            done = self.succeed("--config", self.spec(data__root=server.url, data__split="all"), "--output",
                                self.folder / "out")
            self.assertTrue(any(path.lower().endswith(".dcm") for path, _ in server.requests))
        self.assert_nobody_is_named(done.stdout, done.stderr)

    @unittest.skipUnless(HAS_ONEDNN, "trains")
    def test_a_network_trains_on_them(self):
        out = self.folder / "out"
        done = self.succeed("--config", self.spec(data__root=str(self.scans()), data__split="all", engine="onednn",
                                                  model__name="mobilenet_v2", model__image_size=32), "--output", out)
        self.assert_nobody_is_named(done.stdout, done.stderr)

    def test_what_cannot_be_read_is_named_by_its_file_alone(self):
        root = self.scans()
        whole = dicom(rows(1))
        files = ((whole[:-100], "01.dcm: DICOM: it"), (whole[:400], "01.dcm: DICOM: its"),
                 (dicom(rows(1), syntax="1.2.840.10008.1.2.4.90"), "JPEG 2000"))
        for number, (damaged, says) in enumerate(files):
            (root / "ill/01.dcm").write_bytes(damaged)
            spec = self.spec(data__root=str(root), data__split="all", pipeline="keras")
            out = self.folder / f"out{number}"
            done = self.fail_with(3, "--config", spec, "--output", out, says=["01.dcm", says])
            self.assert_nobody_is_named(done.stdout, done.stderr)
            checked = self.fail_with(3, "data", "check", root)
            self.assertIn(": 1 problem.\n", checked.stdout)
            self.assert_nobody_is_named(checked.stdout, checked.stderr)

    def test_a_damaged_file_leaves_no_header_in_a_shard(self):
        root = self.scans()
        (root / "ill/01.dcm").write_bytes(dicom(rows(1))[:-100])
        done = self.succeed("data", "convert", root, "--split", "all")
        self.assertIn("its record holds no image", done.stderr)
        self.assert_nobody_is_named(done.stdout, done.stderr)
