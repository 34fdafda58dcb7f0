// Shows how much trials and the second jobs on their hosts slow each other down.
"use strict";

const secondRate = (row, value) => (isEmpty(value) ? "" : row.second_counts_bytes ? (value / 1e9).toFixed(2) + " GB/s" : rate(value));
const costOf = (row) => row;
const secondJobColumns = [
  { name: "trial", key: "label", wrap: true, get: (row) => row.name },
  { name: "alone", unit: "images/s", key: "alone", show: rate, get: (row) => row.alone_images_per_s },
  { name: "with it", unit: "images/s", key: "beside", show: rate, get: (row) => row.images_per_s },
  ...ratioColumns("keeps", "kept", costOf),
  { name: "second job alone", key: "second_alone", get: (row) => secondRate(row, row.second_alone_rate) },
  { name: "with the trial", key: "second_beside", get: (row) => secondRate(row, row.second_rate) },
  ...ratioColumns("keeps", "second_kept", costOf),
];

function keptBars(rows) {
  const bar = (row, key, group) => ({
    name: row.name, value: 100 * row[key], interval: row[key + "_ci95"] && row[key + "_ci95"].map((ratio) => 100 * ratio), group,
  });
  return rows.flatMap((row) => [
    bar(row, "kept", "the trial"),
    ...(isEmpty(row.second_kept) ? [] : [bar(row, "second_kept", "the second job")]),
  ]);
}

function addSecondJobs() {
  if (report.second_jobs.length === 0) return;
  const place = section("second-jobs", "Two jobs on one host", "The share of its rate alone that each job keeps while the other runs. " +
    "Both were measured alternately; whiskers are 95 % intervals (from five rounds on).");
  const rows = report.second_jobs.map((cost) => {
    const trial = trials.find((one) => one.key === cost.key);
    return { ...cost, trial, name: trial.label + (cost.second_emulated ? " (second job emulated)" : "") };
  });
  if (charts.available) charts.bars(place, "What a job keeps while the other runs", "% of its rate alone", keptBars(rows));
  table(place, "second-jobs-table", "Rates alone and together", secondJobColumns, rows);
}
