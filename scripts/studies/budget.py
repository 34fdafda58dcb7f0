"""Measures groups one after the other as long as a study's time lasts."""

import time

from measuring import kept, measured, say
from planning import choose


def measure_until(ends, name, plan, run_of, rank_bytes):
    """(group, report) of the groups that fit before `ends` (time.monotonic()); marks the others as left out.

    A group's `seconds` is its forecast. `run_of` returns the arguments of measured() for it, or None if it cannot be
    measured, with `left_out` set. Earlier measurements cost nothing. If this machine is slower than forecast, the rest
    is assumed to be, too.
    """
    reports, pace = [], 1.0
    for group in plan:
        run = run_of(group)
        if run is None:
            continue
        report = kept(*run)
        if report is None:
            began = time.monotonic()
            group.seconds *= pace
            choose([group], ends - began, rank_bytes)
            if group.left_out:
                continue
            say(f"{name}: {group.name}, about {group.seconds:.0f} s")
            report = measured(*run)
            pace *= max(1.0, (time.monotonic() - began) / group.seconds)
        reports.append((group, report))
    return reports
