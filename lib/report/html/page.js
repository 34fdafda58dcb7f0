// Builds report.html from the JSON in it. Text goes in as text, never as HTML. Cells keep the exact number in data-value.
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const trials = report.trials.filter((trial) => trial.repeats.length > 0);
const main = document.querySelector("main");

function element(parent, tag, text, className) {
  const child = parent.appendChild(document.createElement(tag));
  if (text !== undefined) child.textContent = text;
  if (className) child.className = className;
  return child;
}
function section(title, note) {
  const place = element(main, "section");
  element(place, "h2", title);
  if (note) element(place, "p", note, "note");
  return place;
}

// ---- emulated trials say so wherever they are named

const marked = (trial) => trial.label + (trial.emulated ? " (emulated)" : "");
function titled(title, shown) {
  const emulated = shown.filter((trial) => trial.emulated).length;
  if (emulated === 0) return title;
  return title + (emulated === shown.length ? " (emulated)" : " (some emulated: marked)");
}

// ---- tables

const fixed = (decimals, scale = 1) => (value) => (value * scale).toFixed(decimals);
const rate = (value) => value.toFixed(value < 10 ? 2 : 1);
const percent = (value) => (Math.abs(value) < 0.0005 ? 0 : 100 * value).toFixed(1);
const words = (value) => String(value);

// columns: {name, unit, key, get, show}; without `show` the cell holds words. Columns empty in every row are left out.
function table(parent, id, columns, rows) {
  const shown = columns.filter((column) => rows.some((row) => !isEmpty(column.get(row))));
  const scroll = element(parent, "div", undefined, "scroll");
  const grid = element(scroll, "table", undefined, rows.length <= 24 ? "short" : "");  // fits on a page, where it is printed
  grid.id = id;
  const head = element(element(grid, "thead"), "tr");
  for (const column of shown) {
    const cell = element(head, "th", column.name, column.show ? "" : "words");
    if (column.unit) element(cell, "span", column.unit, "unit");
  }
  const body = element(grid, "tbody");
  for (const row of rows) {
    const line = element(body, "tr");
    line.dataset.trial = keyOf(row);
    for (const column of shown) fillCell(element(line, "td"), column, row);
  }
}
// A row is a trial, whose `trial` is its name, or an object that holds one.
const keyOf = (row) => (typeof row.trial === "string" ? row : row.trial).key;
const isEmpty = (value) => value === null || value === undefined || value === "";

function fillCell(cell, column, row) {
  const value = column.get(row);
  cell.dataset.key = column.key;
  if (!column.show) cell.className = column.wrap ? "words wrap" : "words";
  if (isEmpty(value)) return;
  cell.textContent = column.show ? column.show(value) : words(value);
  if (column.show) cell.dataset.value = value;
  if (column.bar) addBar(cell, column.bar(row));
}
function addBar(cell, share) {
  if (isEmpty(share)) return;
  const bar = element(cell, "span", undefined, "bar");
  element(bar, "span").style.width = Math.min(100, 100 * share).toFixed(1) + "%";
}

const figure = (name, unit, key, show, get) => ({ name, unit, key, show, get: get || ((trial) => trial.figures[key]) });
const labelColumn = { name: "trial", key: "label", wrap: true, get: (trial) => marked(trial) };
const flagsColumn = { name: "flags", key: "flags", wrap: true, get: (trial) => trial.flags.filter((flag) => flag !== "(emulated)").join(", ") };
const bound = (index) => (trial) => trial.figures.images_per_s_ci95 && trial.figures.images_per_s_ci95[index];

const throughputColumns = [
  labelColumn,
  figure("images/s", "median", "images_per_s", rate),
  figure("+- MAD", "images/s", "images_per_s_mad", rate),
  figure("95 % low", "images/s", "images_per_s_ci95_low", rate, bound(0)),
  figure("95 % high", "images/s", "images_per_s_ci95_high", rate, bound(1)),
  figure("repeats", "", "repeats", words, (trial) => trial.repeats.length),
  figure("scaling", "%", "scaling_efficiency", percent),
  figure("per core", "images/s", "images_per_s_per_core", rate),
  figure("decoded", "per trained", "decoded_per_trained", fixed(2)),
  figure("memory", "peak, MB", "peak_rss_bytes", fixed(0, 1e-6), (trial) => trial.figures.peak_rss_bytes || null),
  flagsColumn,
];
const timeColumns = [
  labelColumn,
  figure("wait", "%", "wait_share", percent),
  figure("upload", "%", "upload_share", percent),
  figure("compute", "%", "compute_share", percent),
  figure("communication", "% exposed", "exposed_communication_share", percent),
  figure("update", "%", "update_share", percent),
  figure("other", "%", "other_share", percent),
  figure("busy", "%", "busy_share", percent),
  figure("AU", "%", "au_share", percent),
  figure("cores busy", "%", "cores_busy_share", percent),
  figure("short of cores", "% of runnable", "cpu_wait_share", percent),
  { name: "limit", key: "limit", get: (trial) => trial.figures.limit },
];
const gpuColumns = [
  labelColumn,
  figure("utilization", "% (NVML)", "gpu_utilization", percent),
  figure("memory utilization", "% (NVML)", "gpu_memory_utilization", percent),
  figure("peak memory", "MB", "gpu_peak_memory_bytes", fixed(0, 1e-6)),
  figure("power of one", "W", "gpu_power_w", fixed(0)),
  figure("lowest clock", "MHz", "gpu_lowest_sm_clock_hz", fixed(0, 1e-6)),
  figure("lowest memory clock", "MHz", "gpu_lowest_memory_clock_hz", fixed(0, 1e-6)),
  figure("highest temperature", "degrees C", "gpu_highest_temperature_c", fixed(0)),
  figure("throttled", "% of samples", "gpu_throttled_share", percent),
  figure("new ECC errors", "uncorrected", "gpu_new_uncorrected_ecc_errors", words),
];
const field = (name, unit, key, show, bar) => ({ name, unit, key, show, bar, get: (row) => row.op[key] });
const queueColumns = [
  { name: "trial", key: "label", wrap: true, get: (row) => marked(row.trial) },
  { name: "op", key: "op", get: (row) => row.op.op },
  field("mean queue", "elements", "mean_queue_depth", fixed(1),
        (row) => isEmpty(row.op.mean_queue_depth) ? null : row.op.mean_queue_depth / row.op.queue_capacity),
  field("capacity", "elements", "queue_capacity", fixed(0)),
  field("busy", "s", "busy_wall_s", fixed(2)),
  field("blocked", "s, on input", "blocked_input_s", fixed(2)),
  field("blocked", "s, on output", "blocked_output_s", fixed(2)),
  field("out", "elements", "elements_out", words),
  field("held, at the end", "MB a rank", "bytes_held", fixed(1, 1e-6)),
];

const waitColumns = [
  { name: "trial", key: "label", wrap: true, get: (row) => marked(row.trial) },
  { name: "waits for", key: "op", get: (row) => row.wait.op },
  { name: "part", key: "part", get: (row) => row.wait.part },
  { name: "share", unit: "% of the step time", key: "share", show: percent, bar: (row) => row.wait.share, get: (row) => row.wait.share },
];
const isShown = (wait) => percent(wait.share) !== "0.0";

const sign = (value) => (value < 0 ? "-" : "+") + rate(Math.abs(value));
const ratioColumns = (name, key) => [
  { name, unit: "x", key, show: fixed(2), get: (row) => row.step[key] },
  { name: "95 % low", unit: "x", key: key + "_low", show: fixed(2), get: (row) => (row.step[key + "_ci95"] || [])[0] },
  { name: "95 % high", unit: "x", key: key + "_high", show: fixed(2), get: (row) => (row.step[key + "_ci95"] || [])[1] },
];
const stepColumns = [
  { name: "step", key: "label", wrap: true, get: (row) => row.name },
  { name: "images/s", unit: "median", key: "images_per_s", show: rate, get: (row) => row.step.images_per_s },
  { name: "added", unit: "images/s", key: "added", show: sign, get: (row) => row.before && row.step.images_per_s - row.before.images_per_s },
  ...ratioColumns("to the one before", "ratio"),
  { name: "worth", key: "worth", get: (row) => row.worth },
  ...ratioColumns("to the first", "ratio_to_first"),
];

// ---- charts

const parts = [
  { name: "wait", color: "wait", key: "wait" },
  { name: "upload", color: "upload", key: "upload" },
  { name: "compute", color: "compute", key: "compute" },
  { name: "communication (exposed)", color: "communication", key: "exposed_communication" },
  { name: "update", color: "update", key: "update" },
  { name: "other", color: "other", key: "other" },
];

function drawScaling() {
  const arms = [...new Set(trials.map((trial) => trial.arm))]
    .map((arm) => trials.filter((trial) => trial.arm === arm).sort((a, b) => a.ranks - b.ranks))
    .filter((arm) => arm.length > 1);
  if (arms.length === 0) return;
  const place = section("Scaling", "Weak scaling: every rank has its own batch. Dashed: the smallest world of each arm, times ranks.");
  charts.scaling(place, titled("Images/s by ranks, with 95 % intervals", arms.flat()), "images/s", arms.map((arm) => ({
    name: marked(arm[0]).replace(/,? ?ranks \d+/, "") || arm[0].trial,
    points: arm.map((trial) => ({ ranks: trial.ranks, value: trial.figures.images_per_s, interval: trial.figures.images_per_s_ci95 })),
  })));
}

// An interval of the ratio that holds 1 could be noise alone.
function worthOf(step) {
  if (!step.ratio_ci95) return "";
  const [low, high] = step.ratio_ci95;
  return low > 1 ? "gain" : high < 1 ? "loss" : "within the noise";
}
function ratioText(step) {
  if (isEmpty(step.ratio)) return "";
  const interval = step.ratio_ci95 ? ` (${step.ratio_ci95.map(fixed(2)).join(" .. ")})` : "";
  return `${step.ratio.toFixed(2)} x${interval}`;
}

function addAblation(place, ablation, index) {
  const rows = ablation.steps.map((step, at) => ({
    step, before: ablation.steps[at - 1], worth: worthOf(step), trial: trials.find((trial) => trial.key === step.key),
    name: step.name + (ablation.emulated ? " (emulated)" : ""),
  }));
  const title = `Images/s step by step over ${ablation.over}${ablation.emulated ? " (emulated)" : ""}`;
  if (charts.available) {
    charts.steps(place, title, "images/s", rows.map((row) => ({
      name: row.name, value: row.step.images_per_s, before: row.before && row.before.images_per_s, text: ratioText(row.step),
      clear: row.worth === "gain" || row.worth === "loss", interval: row.trial.figures.images_per_s_ci95,
    })));
  } else element(place, "h3", title);
  table(place, `ablation-${index}`, stepColumns, rows);
}

function addAblations() {
  if (report.ablations.length === 0) return;
  const place = section("Step by step", "Trials that differ in their pipeline alone, in their order: each against the one before it. " +
    "Ratios are of images/s over the rounds in which both were measured, in brackets their 95 % interval (from five rounds on); one that holds 1 could be noise alone.");
  report.ablations.forEach((ablation, index) => addAblation(place, ablation, index));
}

// The trials of the largest world, rank by rank: one slow rank shows here and nowhere else.
function addRankTimes(place) {
  const most = Math.max(...trials.map((trial) => trial.ranks));
  const widest = trials.filter((trial) => trial.ranks === most && most > 1);
  const rows = widest.flatMap((trial) => trial.time_by_rank.map((time) => ({ trial, time, share: (part) => time[part.key + "_s"] / time.wall_s })));
  for (const trial of charts.available ? widest : []) {
    charts.stack(place, `Share of the step time by rank: ${marked(trial)}`, parts, rows.filter((row) => row.trial === trial)
      .map((row) => ({ name: `rank ${row.time.rank}`, shares: parts.map(row.share) })));
  }
  if (rows.length === 0) return;
  const numbers = element(place, "details");
  element(numbers, "summary", "Shares by rank as numbers");
  table(numbers, "ranks", [
    { name: "trial", key: "label", wrap: true, get: (row) => marked(row.trial) },
    { name: "rank", key: "rank", show: words, get: (row) => row.time.rank },
    { name: "steps", unit: "s", key: "wall_s", show: fixed(3), get: (row) => row.time.wall_s },
    ...parts.map((part) => ({ name: part.name, unit: "%", key: part.key + "_share", show: percent, get: (row) => row.share(part) })),
  ], rows);
}

// The repeats one after another, with a gap between them.
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
  const place = section("Step times", "Repeats one after another. Where ranks differ: their median, and the slowest of them.");
  const grid = element(place, "div", undefined, "grid");
  for (const trial of trials) {
    const curves = [{ name: "median of ranks", color: "accent", points: stepCurve(trial, "median_step_s") }];
    if (trial.ranks > 1) curves.unshift({ name: "slowest rank", color: "wait", width: 1, points: stepCurve(trial, "slowest_step_s") });
    charts.curves(grid, `Step time: ${marked(trial)}`, "measured step", "ms", {}, curves);
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

// The queues of one trial, an op that stands in the list twice told apart by a number.
function drawQueues(place) {
  const grid = element(place, "div", undefined, "grid");
  for (const trial of trials.filter((other) => other.repeats.some((repeat) => repeat.queues.length > 0))) {
    const ops = trial.repeats[0].queues.map((queue) => queue.op);
    charts.curves(grid, `Queue depth: ${marked(trial)}`, "sampled step, repeats one after another", "elements", {},
      ops.map((op, index) => {
        const before = ops.slice(0, index).filter((other) => other === op).length;
        return { name: before === 0 ? op : `${op} ${before + 1}`, points: depthCurve(trial, index) };
      }));
  }
}

function depthCurve(trial, index) {
  const points = [];
  let step = 0;
  for (const repeat of trial.repeats) {
    for (const depth of (repeat.queues[index] || { depth: [] }).depth) points.push({ x: step++, y: depth });
    points.push({ x: step, y: null });
  }
  return points;
}

// ---- the page, from top to bottom

function addHeader() {
  document.querySelector("h1").textContent = report.experiment;
  const title = document.getElementById("title");
  for (const line of report.title) {
    element(title, "p", line.replace(report.experiment + ": ", ""), line.startsWith("ended early") ? "warning" : "");
  }
  document.getElementById("program").textContent = "chexbench " + report.environment.chexbench_version;
  document.getElementById("chart-credit").hidden = !charts.available;
}

function addFindings() {
  const place = section("Findings");
  const list = element(place, "ul", undefined, "findings");
  for (const finding of report.findings) element(list, "li", finding.text, finding.emulated ? "emulated" : "");
  if (report.findings.length === 0) element(place, "p", "None.");
}

function addResults() {
  if (!charts.available) element(main, "p", "This chexbench was built without Chart.js, so there are no charts; the tables hold all numbers.", "warning");
  const throughput = section("Throughput", "Median over repeats; the whisker is its 95 % interval (from five repeats on), dots are single repeats.");
  if (charts.available) {
    charts.bars(throughput, titled("Images/s by trial", trials), "images/s", trials.map((trial) => ({
      name: marked(trial), value: trial.figures.images_per_s, interval: trial.figures.images_per_s_ci95,
      repeats: trial.repeats.map((repeat) => repeat.images_per_s),
    })));
  }
  table(throughput, "throughput", throughputColumns, report.trials);
  for (const note of report.notes) element(throughput, "p", note, "note");
  if (charts.available) drawScaling();
  addAblations();
  const times = section("Where the time went", "Communication as far as backward did not hide it.");
  if (charts.available) {
    charts.stack(times, titled("Share of the step time by trial", trials), parts,
      trials.map((trial) => ({ name: marked(trial), shares: parts.map((part) => trial.figures[part.key + "_share"]) })));
  }
  table(times, "times", timeColumns, trials);
  const waits = trials.flatMap((trial) => trial.figures.waits.filter(isShown).map((wait) => ({ trial, wait })));
  if (waits.length > 0) {
    element(times, "h3", "What waits are booked to");
    table(times, "waits", waitColumns, waits);
  }
  addRankTimes(times);
  if (charts.available) drawSteps();
  addGpus();
  addQueues();
}

function addGpus() {
  const sampled = trials.filter((trial) => trial.repeats.some((repeat) => repeat.gpus.length > 0));
  if (sampled.length === 0) return;
  const place = section("GPUs");
  if (charts.available) drawUtilization(place);
  table(place, "gpus", gpuColumns, sampled);
}

function addQueues() {
  const rows = trials.flatMap((trial) => trial.ops.map((op) => ({ trial, op })));
  if (rows.length === 0) return;
  const place = section("Queues and ops",
    "Mean depth that whoever asked found: an empty queue behind a busy op is where batches are late. Times are summed over threads, ranks and repeats.");
  if (charts.available) drawQueues(place);
  table(place, "queues", queueColumns, rows);
}

// A spec by its dotted keys, each with one value; an op list is one of them.
function flatSpec(value, path = "", flat = {}) {
  if (Array.isArray(value) && value.every((item) => item && item.op)) flat[path] = value.map(opText).join(" | ");
  else if (value === null || typeof value !== "object" || Array.isArray(value)) flat[path] = words(value);
  else for (const [key, inner] of Object.entries(value)) flatSpec(inner, path ? `${path}.${key}` : key, flat);
  return flat;
}
function opText({ op, ...parameters }) {
  const said = Object.entries(parameters).filter(([key, value]) => key !== "delay_s" || value > 0);
  return [op, ...said.map(([key, value]) => `${key}=${value}`)].join(" ");
}

// JSON with one line for each op.
function specText(spec) {
  return JSON.stringify(spec, null, 2).replace(/\{\s+("op":[^{}]*)\}/g, (_, op) => `{ ${op.trim().replace(/\n\s*/g, " ")} }`);
}

function addSpecs(place) {
  const rows = report.trials.map((trial) => ({ trial, flat: flatSpec(trial.spec) }));
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row.flat)))]
    .filter((key) => key !== "pipeline.name" && rows.some((row) => row.flat[key] !== rows[0].flat[key]));  // labels have the name
  if (keys.length > 0) {
    element(place, "h3", "What the trials' specs differ in");
    table(place, "specs", [{ name: "trial", key: "label", wrap: true, get: (row) => marked(row.trial) },
                           ...keys.map((key) => ({ name: key, key, wrap: true, get: (row) => row.flat[key] }))], rows);
  }
  for (const { trial } of rows) {
    const spec = element(place, "details", undefined, "spec");
    element(spec, "summary", `Spec: ${marked(trial)}`);
    element(spec, "pre", specText(trial.spec));
  }
}

function addEnvironment() {
  const place = section("Environment and resolved specs");
  const environment = element(place, "details");
  element(environment, "summary", "Environment");
  const list = element(environment, "dl");
  for (const [key, value] of Object.entries(report.environment)) {
    if (isEmpty(value) || value.length === 0) continue;
    element(list, "dt", key);
    element(list, "dd", Array.isArray(value) ? value.join(" ") : words(value));
  }
  addSpecs(place);
}

// Paper cannot be unfolded.
function unfoldOnPaper() {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const place of folded) place.open = true;
  });
  addEventListener("afterprint", () => folded.forEach((place) => { place.open = false; }));
}

addHeader();
addFindings();
if (report.measured) addResults();
else element(main, "p", "Nothing was measured.", "warning");
addEnvironment();
unfoldOnPaper();
document.documentElement.dataset.ready = "true";
