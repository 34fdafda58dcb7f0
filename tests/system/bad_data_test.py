"""Data that is missing or broken: exit code 3, and the file, the place and the reason."""

import os
import struct

from harness import SystemTest, chunk, png

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

    def decode(self):
        self.succeed("--config", self.spec_over_all(), "--output", self.folder / "out")

    def test_truncated_png(self):
        self.victim.write_bytes(self.victim.read_bytes()[:2000])
        self.refuse()

    def test_png_with_a_bad_crc(self):
        spoiled = bytearray(self.victim.read_bytes())
        spoiled[len(spoiled) // 2] ^= 0x10
        self.victim.write_bytes(spoiled)
        self.refuse("CRC")

    def test_zero_byte_file(self):
        self.victim.write_bytes(b"")
        self.refuse()

    def test_jpeg_named_png(self):
        self.victim.write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(1000))
        self.refuse("JPEG: expected a marker")

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

    def test_an_enormous_header_is_refused_before_memory_is_taken(self):
        self.victim.write_bytes(png(60000, 60000))
        self.refuse("60000")

    def test_images_without_a_file_are_left_out_and_counted(self):
        self.victim.unlink()
        done = self.succeed("--config", self.spec_over_all(), "--output", self.folder / "out")
        self.assertRegex(done.stderr, r"warning: .*\b1 of the 18 images")

    def test_16_bit_png_is_decoded(self):
        rows = b"".join(b"\0" + struct.pack(">256H", *range(0, 65536, 256)) for _ in range(256))
        self.victim.write_bytes(png(256, 256, bit_depth=16, rows=rows))
        self.decode()

    def test_palette_png_is_decoded(self):
        palette = chunk(b"PLTE", bytes(value for level in range(256) for value in (level, level, level)))
        rows = b"".join(b"\0" + bytes(range(256)) for _ in range(256))
        self.victim.write_bytes(png(256, 256, color=3, rows=rows, extra=palette))
        self.decode()

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


class BadRecords(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.small_images(converted=True)
        shards = sorted((self.root / "tfrecord").glob("all-*-of-*"), key=lambda path: path.stat().st_size)
        self.shard = shards[-1]
        self.bytes = bytearray(self.shard.read_bytes())

    def refuse(self):
        self.shard.write_bytes(self.bytes)
        spec = self.spec(data__root=str(self.root), data__split="all", data__format="tfrecord",
                         measure__warmup_steps=0, measure__steps=12, measure__repeats=1)
        self.fail_with(3, "--config", spec, "--output", self.folder / "out", says=self.shard.name)
        done = self.fail_with(3, "data", "check", self.root)
        self.assertIn(self.shard.name, done.stdout)

    def test_flipped_byte(self):
        self.bytes[len(self.bytes) // 2] ^= 1
        self.refuse()

    def test_truncated_tail(self):
        del self.bytes[-1000:]
        self.refuse()

    def test_absurd_length(self):
        self.bytes[0:8] = struct.pack("<Q", 1 << 60)
        self.refuse()


class BadTarFiles(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.small_images()
        self.succeed("data", "convert", self.root, "--split", "all", "--to", "webdataset")
        self.shard = self.root / "webdataset/all-000000.tar"  # of two samples
        self.bytes = bytearray(self.shard.read_bytes())

    def trial(self, **keys):
        return self.spec(data__root=str(self.root), data__split="all", data__format="webdataset",
                         training__batch_size=1, measure__warmup_steps=0, measure__steps=24, measure__repeats=1, **keys)

    def refuse(self, *says):
        self.shard.write_bytes(self.bytes)
        self.fail_with(3, "--config", self.trial(), "--output", self.folder / "out", says=["all-000000.tar", *says])
        done = self.fail_with(3, "data", "check", self.root)
        self.assertIn("all-000000.tar", done.stdout)
        out = self.folder / "skipped"
        self.succeed("--config", self.trial(data__on_bad_record="skip"), "--output", out)
        self.assertGreaterEqual(int(self.rows(out)[0]["bad_records"]), 1)

    def test_truncated_member(self):
        del self.bytes[-9000:]
        self.refuse("tar member at offset", "truncated")

    def test_wrong_checksum(self):
        self.bytes[0] ^= 1
        self.refuse("tar member at offset 0", "checksum")

    def test_sample_without_labels(self):
        size = int(self.bytes[124:135], 8)
        del self.bytes[:512 + (size + 511) // 512 * 512]  # the first member, a .json
        self.refuse("record at offset 0", "has no labels")

    def test_unfinished_conversion(self):
        (self.root / "webdataset/all-unfinished").write_text("16")
        self.fail_with(3, "--config", self.trial(), "--output", self.folder / "out", says="data convert")


class BadCachedPixels(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.small_images()
        self.succeed("data", "convert", self.root, "--split", "all", "--to", "cached", "--image-size", 32)

    def refuse(self, *says, **keys):
        spec = self.spec(data__root=str(self.root), data__split="all", data__format="cached", data__deliver="u8",
                         **{"model__image_size": 32, "measure__steps": 24, **keys})
        self.fail_with(3, "--config", spec, "--output", self.folder / "out", says=says)

    def test_another_size(self):
        self.refuse("all-32-bilinear.gray", "--to cached --image-size 64", model__image_size=64)

    def test_stale(self):
        with open(self.root / "images/00000001_000.png", "ab") as file:
            file.write(b"more")
        self.refuse("is stale: image 00000001_000.png", "data convert")

    def test_flipped_byte(self):
        path = self.root / "cached/all-32-bilinear.gray"
        contents = bytearray(path.read_bytes())
        contents[-1] ^= 1
        path.write_bytes(contents)
        self.refuse("all-32-bilinear.gray: pixels at offset", "CRC")


class BadSets(SystemTest):
    def refuse(self, says, **keys):
        self.fail_with(3, "--config", self.spec(**keys), "--output", self.folder / "out", says=says)

    def test_missing_root(self):
        self.refuse("no-such-folder", data__root="no-such-folder")

    def test_root_without_a_table(self):
        self.refuse("Data_Entry", data__root=str(self.folder))

    def test_empty_split(self):
        root = self.small_images()
        (root / "test_list.txt").write_text("")
        self.refuse("test", data__root=str(root), data__split="test")

    def test_missing_tfrecords_name_the_command_that_makes_them(self):
        root = self.small_images()
        self.refuse(["chexbench data convert", str(root)], data__root=str(root), data__format="tfrecord")

    def test_unknown_label(self):
        root = self.small_images()
        table = root / "Data_Entry_2017.csv"
        table.write_text(table.read_text().replace("Cardiomegaly", "Cardiomegalia"))
        self.refuse(["Cardiomegalia", "Cardiomegaly"], data__root=str(root))


class LostRecords(SystemTest):
    def test_shards_that_are_smaller_than_they_were_written_are_told(self):
        root = self.small_images(converted=True)
        spec = self.spec(data={"root": str(root), "format": "tfrecord", "split": "all"}, measure__repeats=1)
        whole = self.succeed("--config", spec, "--output", self.folder / "whole")
        self.assertNotIn("records are lost", whole.stderr)
        sorted((root / "tfrecord").glob("all-0*"))[3].write_bytes(b"")
        done = self.succeed("--config", spec, "--output", self.folder / "lost")
        self.assertIn("records are lost; `chexbench data check`", done.stderr)
