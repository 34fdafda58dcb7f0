"""Several processes of one script whose windows begin together."""

import subprocess
import sys


def run(arguments):
    """Starts arguments.world ranks of this program, lets them begin together, and prints what they reached."""
    command = [sys.executable, *sys.argv]
    ranks = [subprocess.Popen([*command, "--rank", str(rank)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
             for rank in range(arguments.world)]
    for rank in ranks:
        if rank.stdout.readline().strip() != "ready":
            sys.exit("a rank failed before its first batch")
    for rank in ranks:
        rank.stdin.write("go\n")
        rank.stdin.flush()
    slowest_s = max(float(rank.communicate()[0]) for rank in ranks)
    images = arguments.world * arguments.batch * arguments.steps
    print(f"images/s: {images / slowest_s:.2f}")


def begin_together():
    """To be called by a rank that is warm."""
    print("ready", flush=True)
    sys.stdin.readline()
