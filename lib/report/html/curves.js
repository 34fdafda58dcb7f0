// Draws the run over time: steps, GPUs and queues.
"use strict";

// Returns the points of all repeats, one repeat after another, with a gap between them.
function stepCurve(trial, key) {
  const points = [];
  let step = 0;
  for (const repeat of trial.repeats) {
    for (const seconds of repeat[key]) {
      points.push({ x: step, y: 1e3 * seconds });
      step += repeat.steps_per_point;
    }
    points.push({ x: step, y: null });
  }
  return points;
}

function drawSteps() {
  const what = trials.some(trains) ? "Step times" : "Times between batches";
  const place = section("steps", what, "Repeats one after another. Where ranks differ: their median, and the slowest of them.");
  const many = trials.length > 1;
  const grid = element(many ? folded(place, `${trials.length} charts, one for each trial`) : place, "div", undefined, "grid");
  for (const trial of trials) {
    const curves = [{ name: "median of ranks", color: "accent", points: stepCurve(trial, "median_step_s") }];
    if (trial.ranks > 1) curves.unshift({ name: "slowest rank", color: "wait", width: 1, points: stepCurve(trial, "slowest_step_s") });
    charts.curves(grid, `${trains(trial) ? "Step time" : "Time between batches"}: ${marked(trial)}`, "measured step", "ms", {}, curves);
  }
}

function utilizationCurve(trial, rank) {
  const points = [];
  let begin = 0;
  for (const repeat of trial.repeats) {
    for (const gpu of repeat.gpus.filter((series) => series.rank === rank)) {
      gpu.time_s.forEach((time, index) => points.push({ x: begin + time, y: 100 * gpu.utilization[index] }));
    }
    begin += repeat.wall_s;
    points.push({ x: begin, y: null });
  }
  return points;
}

function drawUtilization(place) {
  const grid = element(place, "div", undefined, "grid");
  for (const trial of trials.filter((other) => other.repeats.some((repeat) => repeat.gpus.some((gpu) => gpu.time_s.length > 0)))) {
    const ranks = [...new Set(trial.repeats.flatMap((repeat) => repeat.gpus.map((gpu) => gpu.rank)))];
    charts.curves(grid, `GPU utilization (NVML): ${marked(trial)}`, "measured time in s, repeats one after another", "%", { max: 100 },
      ranks.map((rank) => ({ name: `rank ${rank}`, points: utilizationCurve(trial, rank) })));
  }
}

// Draws queues as shares of their capacity, so that a deep one does not flatten the others. An op that occurs twice in
// the op list gets a number.
function drawQueues(place) {
  const grid = element(place, "div", undefined, "grid");
  for (const trial of trials.filter((other) => other.repeats.some((repeat) => repeat.queues.length > 0))) {
    const queues = trial.ops.filter((op) => !isEmpty(op.queue_capacity));
    charts.curves(grid, `Queues: ${marked(trial)}`, "sampled step, repeats one after another", "% full", { suggestedMax: 100 },
      queues.map(({ op, queue_capacity: capacity }, index) => {
        const before = queues.slice(0, index).filter((other) => other.op === op).length;
        const name = before === 0 ? op : `${op} ${before + 1}`;
        return { name: `${name} (of ${+capacity.toFixed(1)})`, points: fillCurve(trial, index, capacity) };
      }));
  }
}

function fillCurve(trial, index, capacity) {
  const points = [];
  let step = 0;
  for (const repeat of trial.repeats) {
    for (const depth of (repeat.queues[index] || { depth: [] }).depth) points.push({ x: step++, y: 100 * depth / capacity });
    points.push({ x: step, y: null });
  }
  return points;
}
