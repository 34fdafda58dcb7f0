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

// Adds the times of the trials with the most ranks, rank by rank. Only here does a slow rank show.
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
  for (const finding of report.findings) {
    const line = element(list, "li", finding.text, finding.emulated ? "emulated" : "");
    if (finding.grade === "told apart") continue;
    line.append(" ");
    element(line, "span", finding.grade, "grade");
  }
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
  addLearning();
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

// Unfolds everything before printing, because paper cannot be unfolded.
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
