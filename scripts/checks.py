"""What check-bundle and check-wheel share: commands that must end as expected, and sentences that must hold."""

import os
import subprocess


class Checks:
    def __init__(self, name):
        self.name = name
        self.failed = 0
        self.errors = ""  # what the command before wrote to its standard error

    def say(self, text, holds, detail=""):
        self.failed += not holds
        print(f"{self.name}: {'ok' if holds else 'NOT SO'}: {text}" + ("" if holds else f"\n{detail}"), flush=True)

    def run(self, text, command, code=0, **environment):
        """Returns what the command printed."""
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, cwd="/tmp",
                              env={**os.environ, **environment})
        self.say(text, done.returncode == code, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"[-3000:])
        self.errors = done.stderr
        return done.stdout
