"""Shared by check-bundle and check-wheel: commands that must end as expected, and conditions that must be true."""

import os
import subprocess


class Checks:
    def __init__(self, name):
        self.name = name
        self.failed = 0
        self.errors = ""  # standard error of the previous command

    def say(self, text, holds, detail=""):
        self.failed += not holds
        print(f"{self.name}: {'ok' if holds else 'NOT SO'}: {text}" + ("" if holds else f"\n{detail}"), flush=True)

    def run(self, text, command, code=0, **environment):
        """Returns the command's output."""
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, cwd="/tmp",
                              env={**os.environ, **environment})
        self.say(text, done.returncode == code, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"[-3000:])
        self.errors = done.stderr
        return done.stdout
