"""Other processes that take cores at random, as on a shared machine."""

import os
import random
import signal
import subprocess
import sys
import threading

MOST_PROCESSES = 4
LONGEST_S = 6.0  # for which a number of processes is kept


class RandomLoad:
    """While it is entered, 0 to MOST_PROCESSES processes compute; their number changes every few seconds."""

    def __init__(self, seed, processes=MOST_PROCESSES):
        self.random = random.Random(seed)
        self.number = processes
        self.processes = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.vary, daemon=True)

    def __enter__(self):
        spin = [sys.executable, "-c", "while True: pass"]
        self.processes = [subprocess.Popen(spin) for _ in range(self.number)]
        for process in self.processes:
            os.kill(process.pid, signal.SIGSTOP)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        for process in self.processes:
            process.kill()
            process.wait()

    def vary(self):
        while not self.ended.is_set():
            busy = self.random.randint(0, self.number)
            for index, process in enumerate(self.processes):
                os.kill(process.pid, signal.SIGCONT if index < busy else signal.SIGSTOP)
            self.ended.wait(self.random.uniform(0.5, LONGEST_S))
