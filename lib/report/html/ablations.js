// Shows ablations: the gain of each step from one pipeline to the next.
"use strict";

const sign = (value) => (value < 0 ? "-" : "+") + rate(Math.abs(value));
// `of` returns the object with a row's ratio and its interval.
const ratioColumns = (name, key, of) => [
  { name, unit: "x", key, show: fixed(2), get: (row) => of(row)[key] },
  { name: "95 % low", unit: "x", key: key + "_low", show: fixed(2), get: (row) => (of(row)[key + "_ci95"] || [])[0] },
  { name: "95 % high", unit: "x", key: key + "_high", show: fixed(2), get: (row) => (of(row)[key + "_ci95"] || [])[1] },
];
const stepOf = (row) => row.step;
const stepColumns = [
  { name: "step", key: "label", wrap: true, get: (row) => row.name },
  { name: "images/s", unit: "median", key: "images_per_s", show: rate, get: (row) => row.step.images_per_s },
  { name: "added", unit: "images/s", key: "added", show: sign, get: (row) => row.before && row.step.images_per_s - row.before.images_per_s },
  ...ratioColumns("to the one before", "ratio", stepOf),
  { name: "worth", key: "worth", get: (row) => row.worth },
  ...ratioColumns("to the first", "ratio_to_first", stepOf),
];

// A change counts only if the two pipelines are told apart.
function worthOf(step) {
  if (isEmpty(step.ratio)) return "";
  if (step.grade !== "told apart") return step.grade;
  return step.ratio > 1 ? "gain" : "loss";
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
      briefly: isEmpty(row.step.ratio) ? "" : row.step.ratio.toFixed(2) + " x",
      clear: row.worth === "gain" || row.worth === "loss", interval: row.trial.figures.images_per_s_ci95,
    })));
  } else element(place, "h3", title);
  table(place, `ablation-${index}`, `${title}, as numbers`, stepColumns, rows);
}

function addAblations() {
  if (report.ablations.length === 0) return;
  const place = section("ablations", "Step by step", "Trials that differ in their pipeline alone, in their order: each against the one before it. " +
    "Ratios are of images/s over the rounds in which both were measured, in brackets their 95 % interval (from five rounds on).");
  report.ablations.forEach((ablation, index) => addAblation(place, ablation, index));
}
