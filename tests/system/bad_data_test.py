"""Data that is missing or broken: exit code 3, and the file, the place and the reason."""

import os

from harness import SystemTest, png

VICTIM = "00000001_000.png"  # is in the train split


class BadImages(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.small_images()
        self.victim = self.root / "images" / VICTIM

    def spec_over_all(self, **keys):
        """Nine steps of two: each of the 18 images of the train split once."""
        return self.spec(
            data__root=str(self.root), measure__warmup_steps=0, measure__steps=9, measure__repeats=1, **keys
        )

    def refuse(self, says=()):
        named = [VICTIM] + ([says] if isinstance(says, str) else list(says))
        self.fail_with(3, "--config", self.spec_over_all(), "--output", self.folder / "out", says=named)

    def test_png_with_a_bad_crc(self):
        spoiled = bytearray(self.victim.read_bytes())
        spoiled[len(spoiled) // 2] ^= 0x10
        self.victim.write_bytes(spoiled)
        self.refuse("CRC")

    def test_a_large_file_of_another_format_is_refused_by_its_first_bytes(self):
        for size in (100 << 20, 3 << 30):
            for head in (b"", b"BM", b"NES\x1a"):
                with self.subTest(size=size, head=head):
                    self.victim.write_bytes(head)
                    os.truncate(self.victim, size)
                    self.refuse("byte 0: not a PNG, JPEG or DICOM file")
                    done = self.fail_with(3, "data", "check", self.root)
                    self.assertRegex(done.stdout, f"{VICTIM}: byte 0: ")
        for to in ("tfrecord", "webdataset", "cached"):
            with self.subTest(to=to):
                size = ["--image-size", 32] if to == "cached" else []
                self.fail_with(3, "data", "convert", self.root, "--split", "all", "--to", to, *size,
                               says=[VICTIM, "byte 0: not a PNG"])
                self.assertEqual(list((self.root / to).glob("*-manifest.json")), [])
        self.assertRegex(self.succeed("data", "index", "--explain", self.root).stdout, r"\nmissing_files: 0\n")

    def test_a_png_may_have_as_many_bytes_as_any_image(self):
        self.victim.write_bytes(png(64, 64))
        os.truncate(self.victim, 3 << 30)
        self.refuse("at most 537 MB")
        self.fail_with(3, "data", "convert", self.root, "--split", "all", says=[VICTIM, "at most 537 MB"])

    def test_images_without_a_file_are_left_out_and_counted(self):
        self.victim.unlink()
        done = self.succeed("--config", self.spec_over_all(), "--output", self.folder / "out")
        self.assertRegex(done.stderr, r"warning: .*\b1 of the 18 images")

    def test_a_bad_image_is_skipped_and_counted_where_the_spec_says_so(self):
        self.victim.write_bytes(b"")
        out = self.folder / "out"
        self.succeed("--config", self.spec_over_all(data__on_bad_record="skip"), "--output", out)
        repeat = self.report(out)["trials"][0]["repeats"][0]
        self.assertGreaterEqual(repeat["bad_records"], 1)

    def test_nothing_readable_ends_every_pipeline_though_bad_images_are_skipped(self):
        for image in (self.root / "images").iterdir():
            image.write_bytes(b"")
        for pipeline in ("naive", "optimized", "keras", "pytorch"):
            with self.subTest(pipeline=pipeline):
                self.fail_with(3, "--config", self.spec_over_all(data__on_bad_record="skip", pipeline=pipeline),
                               "--output", self.folder / pipeline,
                               says=["pipeline[", f"of '{pipeline}'", f"`chexbench data check {self.root}`"])


class BadConversions(SystemTest):
    def spec_of(self, data_format, **keys):
        """Each of the 24 images once."""
        return self.spec(data__root=str(self.folder / "nih"), data__split="all", data__format=data_format,
                         training__batch_size=1, measure__warmup_steps=0, measure__steps=24, measure__repeats=1, **keys)

    def refuse(self, file, says, data_format, **keys):
        self.fail_with(3, "--config", self.spec_of(data_format, **keys), "--output", self.folder / "out",
                       says=[file.name, *says])
        self.assertIn(file.name, self.fail_with(3, "data", "check", self.folder / "nih").stdout)

    def flip(self, path, place):
        contents = bytearray(path.read_bytes())
        contents[place] ^= 1
        path.write_bytes(contents)

    def test_a_flipped_byte_of_a_tfrecord(self):
        root = self.small_images(converted=True)
        shard = max((root / "tfrecord").glob("all-*-of-*"), key=lambda path: path.stat().st_size)
        self.flip(shard, shard.stat().st_size // 2)
        self.refuse(shard, (), "tfrecord")

    def test_a_truncated_tar_file_which_may_be_skipped(self):
        root = self.small_images()
        self.succeed("data", "convert", root, "--split", "all", "--to", "webdataset")
        shard = root / "webdataset/all-000000.tar"  # of two samples
        os.truncate(shard, shard.stat().st_size - 9000)
        self.refuse(shard, ("tar member at offset", "truncated"), "webdataset")
        out = self.folder / "skipped"
        self.succeed("--config", self.spec_of("webdataset", data__on_bad_record="skip"), "--output", out)
        self.assertGreaterEqual(int(self.rows(out)[0]["bad_records"]), 1)

    def test_a_flipped_byte_of_cached_pixels(self):
        root = self.small_images()
        self.succeed("data", "convert", root, "--split", "all", "--to", "cached", "--image-size", 32)
        self.flip(root / "cached/all-32-bilinear.gray", -1)
        self.refuse(root / "cached/all-32-bilinear.gray", ("pixels at offset", "CRC"), "cached", data__deliver="u8",
                    model__image_size=32)


class MissingSets(SystemTest):
    def test_missing_root(self):
        self.fail_with(3, "--config", self.spec(data__root="no-such-folder"), "--output", self.folder / "out",
                       says="no-such-folder")


class LostRecords(SystemTest):
    def test_shards_that_are_smaller_than_they_were_written_are_told(self):
        root = self.small_images(converted=True)
        spec = self.spec(data={"root": str(root), "format": "tfrecord", "split": "all"}, measure__repeats=1)
        whole = self.succeed("--config", spec, "--output", self.folder / "whole")
        self.assertNotIn("records are lost", whole.stderr)
        sorted((root / "tfrecord").glob("all-0*"))[3].write_bytes(b"")
        done = self.succeed("--config", spec, "--output", self.folder / "lost")
        self.assertIn("records are lost; `chexbench data check`", done.stderr)
