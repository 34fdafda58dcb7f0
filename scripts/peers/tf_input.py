"""Input pipelines in TensorFlow: the two op lists of the article, `naive` and `optimized`, and that of the official
models, over a ChestX-ray14 folder.

usage: tf_input.py DATA [--format png|tfrecord] [--pipeline naive|optimized|official] [--world N] ...

DATA has images/*.png and, for tfrecord, the shards from `chexbench data convert`. Starts one process a rank; all begin
their window together. Prints images/s = world x batch x steps / wall time of the slowest rank.
"""

import argparse
import glob
import os
import sys

import ranks

LABELS = 14


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--format", choices=["png", "tfrecord"], default="png")
    parser.add_argument("--pipeline", choices=["naive", "optimized", "official"], default="optimized")
    parser.add_argument("--channels", type=int, choices=[1, 3], default=3, help="decode to; batches always have 3")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--shuffle", type=int, default=500)
    ranks.add_arguments(parser, warmup=4)
    return parser.parse_args()


def make_dataset(tf, arguments):
    images = sorted(glob.glob(os.path.join(arguments.data, "images", "*.png")))
    shards = sorted(glob.glob(os.path.join(arguments.data, "tfrecord", "all-*-of-*")))
    sources = shards if arguments.format == "tfrecord" else images
    if not sources:
        sys.exit(f"no {arguments.format} files under {arguments.data}")

    def decode(png):
        image = tf.io.decode_png(png, channels=arguments.channels)
        image = tf.image.convert_image_dtype(image, tf.float32)
        image = tf.image.resize(image, [arguments.size, arguments.size])
        return image if arguments.channels == 3 else tf.image.grayscale_to_rgb(image)

    def from_record(record):
        example = tf.io.parse_single_example(record, {
            "image/encoded": tf.io.FixedLenFeature([], tf.string),
            "image/label": tf.io.FixedLenFeature([LABELS], tf.int64)})
        return decode(example["image/encoded"]), tf.cast(example["image/label"], tf.float32)

    def from_file(path):
        return decode(tf.io.read_file(path)), tf.zeros([LABELS])

    records = arguments.format == "tfrecord"
    to_example = from_record if records else from_file
    auto = tf.data.AUTOTUNE
    world, rank, batch = arguments.world, arguments.rank, arguments.batch
    if arguments.pipeline == "naive":
        source = tf.data.TFRecordDataset(sources) if records else tf.data.Dataset.from_tensor_slices(sources)
        return (source.map(to_example, num_parallel_calls=10).shard(world, rank)
                .shuffle(arguments.shuffle).repeat().batch(batch).prefetch(batch))
    official = arguments.pipeline == "official"
    files = (
        tf.data.Dataset.from_tensor_slices(sources).shard(world, rank).shuffle(1024 if official else arguments.shuffle)
    )
    if records:
        files = files.interleave(tf.data.TFRecordDataset, cycle_length=10, num_parallel_calls=auto)
    if official:
        return (files.shuffle(10000).repeat().map(to_example, num_parallel_calls=auto).batch(batch, drop_remainder=True)
                .prefetch(auto))
    fused = tf.data.experimental.map_and_batch(to_example, batch, num_parallel_batches=5, drop_remainder=True)
    return files.prefetch(batch).shuffle(arguments.shuffle).repeat().apply(fused).prefetch(auto)


def run_rank(arguments):
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    import tensorflow as tf  # late: the process that only starts the ranks does not need it
    tf.get_logger().setLevel("ERROR")
    ranks.time_window(arguments, iter(make_dataset(tf, arguments)))


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    ranks.run(ARGUMENTS) if ARGUMENTS.rank is None else run_rank(ARGUMENTS)
