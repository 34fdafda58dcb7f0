"""Runs where the Python package `tensorboard` can be imported; called by tensorboard_test.py.

tensorboard_peer.py LOGDIR    prints the data for the page of `tensorboard --logdir LOGDIR`, as a JSON object:
                              run -> tag -> [[step, value, time]]
"""

import json
import sys

from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.context import RequestContext

multiplexer = EventMultiplexer().AddRunsFromDirectory(sys.argv[1])
multiplexer.Reload()
scalars = MultiplexerDataProvider(multiplexer, sys.argv[1]).read_scalars(
    RequestContext(), experiment_id="", plugin_name="scalars", downsample=10000)
json.dump({run: {tag: [[point.step, point.value, point.wall_time] for point in points]
                 for tag, points in tags.items()} for run, tags in scalars.items()}, sys.stdout)
