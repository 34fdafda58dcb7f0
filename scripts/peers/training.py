"""Training on the CPU in PyTorch or TensorFlow: synthetic batches, 14 sigmoid outputs, Adam; or a large matmul.

usage: training.py torch|tensorflow NETWORK ...                  prints images/s, median of steps
       training.py torch matmul                                  prints GFLOP/s of a 4096x4096 f32 product, best of 5
"""

import argparse
import contextlib
import os
import statistics
import time

LABELS = 14
SIZE = 224
MATMUL_SIZE = 4096
# As in chexbench. Keras has neither AlexNet nor GoogLeNet.
TORCH_NETWORKS = {"resnet50": {}, "densenet121": {}, "alexnet": {}, "mobilenet_v2": {},
                  "googlenet": {"aux_logits": False, "init_weights": True}}


def torch_step(arguments):
    import torch
    import torchvision
    torch.set_num_threads(arguments.threads)
    model = getattr(torchvision.models, arguments.model)(num_classes=LABELS, **TORCH_NETWORKS[arguments.model])
    model = model.to(memory_format=torch.channels_last)
    images = torch.randn(arguments.batch, 3, SIZE, SIZE).contiguous(memory_format=torch.channels_last)
    labels = (torch.rand(arguments.batch, LABELS) < 0.1).float()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    loss_of = torch.nn.BCEWithLogitsLoss()
    if arguments.compiled:
        model = torch.compile(model)

    def forward():
        bf16 = torch.autocast("cpu", torch.bfloat16) if arguments.precision == "bf16" else contextlib.nullcontext()
        with bf16:
            return model(images)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(forward().float(), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def tensorflow_step(arguments):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    networks = {"resnet50": tf.keras.applications.ResNet50, "densenet121": tf.keras.applications.DenseNet121,
                "mobilenet_v2": tf.keras.applications.MobileNetV2}
    model = networks[arguments.model](weights=None, classes=LABELS, classifier_activation=None,
                                      input_shape=(SIZE, SIZE, 3))
    images = tf.random.normal([arguments.batch, SIZE, SIZE, 3])
    labels = tf.cast(tf.random.uniform([arguments.batch, LABELS]) < 0.1, tf.float32)
    optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def graph():
        with tf.GradientTape() as tape:
            losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, model(images, training=True))
            loss = tf.reduce_mean(losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    return lambda: float(graph())


def matmul_gflops(threads):
    import torch
    torch.set_num_threads(threads)
    left, right = torch.randn(2, MATMUL_SIZE, MATMUL_SIZE)
    times_s = []
    for _ in range(6):  # the first warms up
        start = time.perf_counter()
        torch.matmul(left, right)
        times_s.append(time.perf_counter() - start)
    return 2 * MATMUL_SIZE**3 / min(times_s[1:]) / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("framework", choices=["torch", "tensorflow"])
    parser.add_argument("model", choices=[*TORCH_NETWORKS, "matmul"])
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--compiled", action="store_true", help="PyTorch: torch.compile, in the first step")
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32", help="bf16: PyTorch's autocast")
    arguments = parser.parse_args()
    if arguments.precision == "bf16" and arguments.framework != "torch":
        parser.error("bf16 is measured in PyTorch only")
    if arguments.compiled and arguments.framework != "torch":
        parser.error("--compiled is of PyTorch only")
    if arguments.model == "matmul":
        print(f"GFLOP/s: {matmul_gflops(arguments.threads):.2f}")
        return
    step = (torch_step if arguments.framework == "torch" else tensorflow_step)(arguments)
    times_s = []
    for index in range(arguments.warmup + arguments.steps):
        start = time.perf_counter()
        step()
        if index >= arguments.warmup:
            times_s.append(time.perf_counter() - start)
    print(f"images/s: {arguments.batch / statistics.median(times_s):.3f}")


if __name__ == "__main__":
    main()
