#!/usr/bin/env python3
"""Training on a GPU in PyTorch, as fast as PyTorch allows: the other side of every reported ratio.

usage: torch_gpu.py resnet50|densenet121 [--batch N] [--precision fp16|bf16] [--mode eager|compiled] ...

torchvision's networks with 14 sigmoid outputs, channels-last, cudnn.benchmark, automatic mixed precision (fp16 with
GradScaler), Adam in one fused kernel, images and labels on the device. `compiled` passes forward pass and loss to
torch.compile. Prints one JSON line a window of steps: wall clock between two synchronizations, none within.
"""

import argparse
import json
import math
import sys
import time

LABELS = 14
SIZE = 224


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["resnet50", "densenet121"])
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--precision", choices=["fp16", "bf16"], default="fp16")
    parser.add_argument("--mode", choices=["eager", "compiled"], default="eager")
    parser.add_argument("--compile-mode", default="default", metavar="MODE",
                        help="torch.compile's: default, reduce-overhead (CUDA graphs), max-autotune-no-cudagraphs, ...")
    parser.add_argument("--benchmark-limit", type=int, default=10,
                        help="plans that cudnn.benchmark tries for a convolution; 0: all (PyTorch's own default is 10)")
    parser.add_argument("--warmup", type=int, default=20, help="steps before the first window")
    parser.add_argument("--steps", type=int, default=20, help="steps of a window")
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument(
        "--device", choices=["cuda", "cpu"], default="cuda", help="cpu: to try this script, never a figure"
    )
    return parser.parse_args()


def make_step(torch, arguments):
    """A function that queues one training step and returns its loss, a tensor on the device."""
    import torchvision
    device = torch.device(arguments.device)
    model = getattr(torchvision.models, arguments.model)(num_classes=LABELS)
    model = model.to(device, memory_format=torch.channels_last).train()
    # Half of the input's bytes, and no cast in each step: autocast would make the same tensor from f32 images.
    number = {"fp16": torch.float16, "bf16": torch.bfloat16}[arguments.precision]
    images = torch.randn(arguments.batch, 3, SIZE, SIZE, device=device)
    images = images.to(number).contiguous(memory_format=torch.channels_last)
    labels = (torch.rand(arguments.batch, LABELS, device=device) < 0.1).float()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, fused=True)
    scaler = torch.amp.GradScaler(arguments.device, enabled=arguments.precision == "fp16")
    loss_of = torch.nn.BCEWithLogitsLoss()

    def forward():
        with torch.autocast(arguments.device, dtype=number):
            return loss_of(model(images), labels)

    if arguments.mode == "compiled":
        forward = torch.compile(forward, mode=arguments.compile_mode)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = forward()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    return step


def main():
    arguments = parse_arguments()
    import torch
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch_gpu.py: PyTorch finds no GPU")
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.benchmark_limit = arguments.benchmark_limit
    torch.set_float32_matmul_precision("high")  # for operations that autocast leaves in f32
    synchronize = torch.cuda.synchronize if arguments.device == "cuda" else lambda: None
    step = make_step(torch, arguments)
    start = time.perf_counter()
    for _ in range(arguments.warmup):
        step()
    synchronize()
    facts = {"torch": torch.__version__, "cudnn": torch.backends.cudnn.version(),
             "warmup_s": round(time.perf_counter() - start, 2)}
    for _ in range(arguments.windows):
        start = time.perf_counter()
        for _ in range(arguments.steps):
            loss = step()
        synchronize()
        rate = arguments.batch * arguments.steps / (time.perf_counter() - start)
        if not math.isfinite(loss.item()):
            sys.exit(f"torch_gpu.py: the loss is {loss.item()}")
        if arguments.device == "cuda":
            facts["peak_memory_bytes"] = torch.cuda.max_memory_allocated()
        print(json.dumps({"images_per_s": round(rate, 2), "loss": round(loss.item(), 4), **facts}), flush=True)


if __name__ == "__main__":
    main()
