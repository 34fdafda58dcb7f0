// Shows the first screen: the answer, its three numbers, and the main chart.
"use strict";

const rankCounts = Math.max(0, ...arms.map((arm) => arm.length));
const mainIsScaling = rankCounts > 2;  // two points are clearer as two bars

function drawThroughput(place) {
  charts.bars(place, titled("Images/s by trial", trials), "images/s", trials.map((trial) => ({
    name: nameIn(trials)(trial), value: trial.figures.images_per_s, interval: trial.figures.images_per_s_ci95,
    repeats: trial.repeats.map((repeat) => repeat.images_per_s), group: groupOf(trial),
  })));
}

function drawScaling(place) {
  const scaled = arms.filter((arm) => arm.length > 1);
  const groups = new Set(scaled.map((arm) => groupOf(arm[0])));  // fewer than arms if there are more arms than colours
  charts.scaling(place, titled("Images/s by ranks, with 95 % intervals", scaled.flat()), "images/s", scaled.map((arm, index) => ({
    name: armName(arm), hue: groups.size === scaled.length ? hueOf(arm[0]) : index,
    points: arm.map((trial) => ({ ranks: trial.ranks, value: trial.figures.images_per_s, interval: trial.figures.images_per_s_ci95 })),
  })));
}

const throughputNote = "Bars: median over repeats; whiskers: its 95 % interval, from five repeats on; dots: single repeats.";
const scalingNote = "Weak scaling: every rank has its own batch. Whiskers: 95 % intervals, from five repeats on. Dashed: the smallest world of each trial, times ranks.";

// ---- three numbers: {name, value, unit, note}

const interval95 = (interval, show) => interval ? `95 % interval ${interval.map(show).join(" to ")}` : "";
const nameOf = (trial) => {
  const known = trials.find((other) => other.trial === trial);
  return known ? marked(known) : trial;
};
const fastest = () => trials.filter((trial) => trains(trial) === trials.some(trains))
  .reduce((best, trial) => (best && best.figures.images_per_s >= trial.figures.images_per_s ? best : trial), null);
const told = () => trials.find((trial) => trial.trial === report.answer.trial) || fastest();

function rateNumber() {
  const { figures } = told();
  return { name: marked(told()) || "this trial", value: rate(figures.images_per_s), unit: "images/s",
           note: interval95(figures.images_per_s_ci95, rate) || "no interval: fewer than five repeats" };
}

// The ratio of the answer; for a run of one arm: its quality, its scaling, or the rate per core.
function comparedNumber() {
  const { answer } = report;
  if (!isEmpty(answer.ratio)) {
    const doubt = answer.grade === "told apart" ? "" : answer.grade + "; ";
    return { name: `${nameOf(answer.trial)} against ${nameOf(answer.base)}`, value: answer.ratio.toFixed(2), unit: "x the images/s",
             note: doubt + (interval95(answer.ratio_ci95, fixed(2)) || "no interval: fewer than five repeats") };
  }
  const { figures, ranks } = told();
  if (!isEmpty(figures.mean_auroc)) {
    return { name: `what ${marked(told()) || "this trial"} learned`, value: fixed(3)(figures.mean_auroc), unit: "mean AUROC",
             note: interval95(figures.mean_auroc_ci95, fixed(3)) };
  }
  if (!isEmpty(figures.top1)) {
    return { name: `what ${marked(told()) || "this trial"} learned`, value: fixed(3)(figures.top1), unit: "top-1 accuracy",
             note: interval95(figures.top1_ci95, fixed(3)) };
  }
  if (!isEmpty(figures.scaling_efficiency) && ranks > 1) {
    return { name: `weak scaling to ${ranks} ranks`, value: percent(figures.scaling_efficiency), unit: "%",
             note: interval95(figures.scaling_efficiency_ci95, percent) };
  }
  if (isEmpty(figures.images_per_s_per_core)) return null;
  return { name: "of one core", value: rate(figures.images_per_s_per_core), unit: "images/s", note: "" };
}

// The limits of the table of times in words.
const limits = {
  slow_rank: "a slow rank is the limit", cpu: "the cores are the limit", input: "the input is the limit",
  communication: "communication is the limit", upload: "uploads are the limit", compute: "the accelerator is the limit",
  machine: "the machine was too busy to say more", sample: "the sample is too small to say more",
};

// How long the accelerator waits; with engine none, which only waits, the op, or its part, that it waits for.
function waitNumber() {
  const { answer } = report;
  const trial = trials.find((other) => other.trial === answer.waiting) || told();
  if (trains(trial)) {
    if (isEmpty(trial.figures.wait_share)) return null;
    return { name: `${marked(trial)}: time that waits for batches`, value: percent(trial.figures.wait_share), unit: "%",
             note: answer.wait_cause || limits[trial.figures.limit] || "" };
  }
  const [wait] = trial.figures.waits;
  if (!wait) return null;
  return { name: `${marked(trial)}: most of the time goes into`, value: wait.part || wait.op, unit: `${percent(wait.share)} %`,
           note: wait.part ? `a part of ${wait.op}` : "" };
}

function addNumbers(place) {
  const list = element(place, "dl", undefined, "numbers");
  for (const number of [rateNumber(), comparedNumber(), waitNumber()].filter(Boolean)) {
    const tile = element(list, "div");
    element(tile, "dt", number.name);
    const value = element(tile, "dd", number.value, "value");
    value.append(" ");
    element(value, "span", number.unit, "unit");
    if (number.note) element(tile, "dd", number.note, "note");
  }
}

function addAnswer() {
  const place = section("answer", "Answer");
  const words = element(place, "div", undefined, "words");
  report.answer.lines.forEach((line, index) => {
    if (line === report.answer.command) {
      addCommand(words, line);
      if (report.answer.command_reads_folder) element(words, "p", "Run it in the folder of this page.", "note");
    } else {
      element(words, "p", line, index === 0 ? "lead" : "");
    }
  });
  if (report.measured) addNumbers(words);
  if (report.measured && charts.available) {
    const chart = element(place, "div", undefined, "main-chart");
    (mainIsScaling ? drawScaling : drawThroughput)(chart);
    element(chart, "p", mainIsScaling ? scalingNote : throughputNote, "note");
  }
  const run = element(place, "div", undefined, "run");
  for (const line of report.title.filter((line) => !isWarning(line))) element(run, "p", line.replace(report.experiment + ": ", ""), "note");
}
