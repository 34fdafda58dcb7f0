// Builds report.html from the JSON in it, from top to bottom, with the functions of the other files of this folder.
"use strict";

const parts = [
  { name: "wait", color: "wait", key: "wait" },
  { name: "upload", color: "upload", key: "upload" },
  { name: "compute", color: "compute", key: "compute" },
  { name: "communication (exposed)", color: "communication", key: "exposed_communication" },
  { name: "update", color: "update", key: "update" },
  { name: "other", color: "other", key: "other" },
];
const training = trials.filter(trains);

// Adds the times of the trials with the most ranks, rank by rank. Nothing else shows a slow rank.
function addRankTimes(place) {
  const most = Math.max(...trials.map((trial) => trial.ranks));
  const widest = trials.filter((trial) => trial.ranks === most && most > 1);
  const shareOf = (trial, time) => (part) => trains(trial) ? time[part.key + "_s"] / time.wall_s : null;
  const rows = widest.flatMap((trial) => trial.time_by_rank.map((time) => ({ trial, time, share: shareOf(trial, time) })));
  if (rows.length === 0) return;
  const numbers = folded(place, "Times by rank");
  for (const trial of charts.available ? widest.filter(trains) : []) {
    charts.stack(numbers, `Share of the step time by rank: ${marked(trial)}`, parts, rows.filter((row) => row.trial === trial)
      .map((row) => ({ name: `rank ${row.time.rank}`, shares: parts.map(row.share) })));
  }
  table(numbers, "ranks", "Times by rank", [
    { name: "trial", key: "label", wrap: true, get: (row) => marked(row.trial) },
    { name: "rank", key: "rank", show: words, get: (row) => row.time.rank },
    { name: "steps", unit: "s", key: "wall_s", show: fixed(3), get: (row) => row.time.wall_s },
    ...parts.map((part) => ({ name: part.name, unit: "%", key: part.key + "_share", show: percent, get: (row) => row.share(part) })),
  ], rows);
}

// ---- the page, from top to bottom

const isWarning = (line) => line.startsWith("ended early");

function addHeader() {
  const header = document.querySelector("header");
  document.querySelector("h1").textContent = report.experiment;
  for (const line of report.title.filter(isWarning)) element(header, "p", line, "warning");
  if (!report.measured) element(header, "p", "Nothing was measured.", "warning");
  addCredits(report.environment.chexbench_version);
}

function addThroughput() {
  const place = section("throughput", "Throughput", "Median over repeats, with its 95 % interval from five repeats on.");
  if (charts.available && mainIsScaling) drawThroughput(place);
  table(place, "throughput", "Images/s of each trial", throughputColumns, report.trials);
  for (const note of report.notes) element(place, "p", note, "note");
}

function addScaling() {
  if (!charts.available || mainIsScaling || rankCounts < 2) return;
  drawScaling(section("scaling", "Scaling", scalingNote));
}

function addTimes() {
  const place = section("times", "Where the time went", training.length > 0 ? "Communication not overlapped with backward." : "");
  if (charts.available && training.length > 0) {
    charts.stack(place, titled("Share of the step time by trial", training), parts,
      training.map((trial) => ({ name: nameIn(training)(trial), shares: parts.map((part) => trial.figures[part.key + "_share"]) })));
  }
  table(place, "times", "Where the time of each trial went", timeColumns, trials);
  const waits = trials.flatMap((trial) => trial.figures.waits.filter(isShown).map((wait) => ({ trial, wait })));
  if (waits.length > 0) table(folded(place, "What waits are booked to"), "waits", "What waits are booked to", waitColumns, waits);
  addRankTimes(place);
}

function addGpus() {
  const sampled = trials.filter((trial) => trial.repeats.some((repeat) => repeat.gpus.length > 0));
  if (sampled.length === 0) return;
  const place = section("gpus", "GPUs");
  if (charts.available) drawUtilization(place);
  table(place, "gpus", "What NVML saw of the GPUs", gpuColumns, sampled);
}

function addQueues() {
  const rows = trials.flatMap((trial) => trial.ops.map((op) => ({ trial, op })));
  if (rows.length === 0) return;
  const place = section("queues", "Queues and ops",
    "Mean depth when an element was requested: an empty queue after a busy op is where batches are late. Times are summed over threads, ranks and repeats.");
  const numbers = folded(place, `${plural(rows.length, "op")} of ${plural(trials.length, "trial")}`);
  if (charts.available) drawQueues(numbers);
  table(numbers, "queues", "Queues and times of each op", queueColumns, rows);
}

addHeader();
addAnswer();
addFindings();
if (report.measured) {
  addThroughput();
  addScaling();
  addAblations();
  addSecondJobs();
  addLearning();
  addTimes();
  if (charts.available) drawSteps();
  addGpus();
  addQueues();
}
addEnvironment();
printUnfolded();
document.documentElement.dataset.ready = "true";
