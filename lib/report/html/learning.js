// Shows what trainings over epochs have learned.
"use strict";

// Whether the trial's images have one class each, which top-1 and top-5 judge in place of the AUROC.
const hasClasses = (trial) => !isEmpty(trial.figures.top1);

const learningColumns = [
  labelColumn,
  figure("epochs", "", "epochs", words, (trial) => trial.spec.training.epochs),
  figure("AUROC", "mean over findings", "mean_auroc", fixed(3)),
  figure("95 % low", "AUROC", "mean_auroc_ci95_low", fixed(3), (trial) => trial.figures.mean_auroc_ci95 && trial.figures.mean_auroc_ci95[0]),
  figure("95 % high", "AUROC", "mean_auroc_ci95_high", fixed(3), (trial) => trial.figures.mean_auroc_ci95 && trial.figures.mean_auroc_ci95[1]),
  ...(trials.some(hasClasses) ? [figure("top-1", "share of images", "top1", fixed(3)),
                                 figure("top-5", "share of images", "top5", fixed(3))] : []),
  figure("at epoch", "the best", "best_epoch", words),
  figure("time to target", "s", "time_to_auroc_s", fixed(1)),
  figure("images/s", "of its steps", "images_per_s", rate),
];

// Returns the points of one figure of the epochs over the time since the training began. Repeats are drawn over each other.
function learningCurve(trial, key) {
  const points = [];
  for (const repeat of trial.repeats) {
    for (const epoch of repeat.epochs) points.push({ x: epoch.elapsed_s, y: epoch[key] });
    points.push({ x: 0, y: null });
  }
  return points;
}

function drawLearning(place, learned) {
  for (const [key, title, unit, shown] of [
    ["mean_auroc", "AUROC by time, mean over findings", "AUROC", learned.filter((trial) => !hasClasses(trial))],
    ["top1", "Top-1 accuracy by time", "share of images", learned.filter(hasClasses)],
  ]) {
    if (shown.length === 0) continue;
    charts.curves(place, title, "s since the training began, validations included", unit, { max: 1 },
      shown.map((trial) => ({ name: marked(trial), points: learningCurve(trial, key) })));
  }
  const grid = element(place, "div", undefined, "grid");
  for (const trial of learned) {
    charts.curves(grid, `Loss: ${marked(trial)}`, "s since the training began", "cross-entropy", {}, [
      { name: "training", color: "accent", points: learningCurve(trial, "training_loss") },
      { name: "validation", color: "wait", points: learningCurve(trial, "validation_loss") },
    ]);
  }
}

// Adds a table with one row per label and one column per trial.
function addScores(place, learned) {
  const findings = [...new Set(learned.flatMap((trial) => trial.learned.map((score) => score.finding)))];
  const scoreOf = (trial, finding) => trial.learned.find((score) => score.finding === finding) || {};
  table(folded(place, "AUROC by finding"), "scores", "AUROC of each finding of the images", [
    { name: "finding", key: "finding", get: (row) => row.finding },
    { name: "with it", unit: "images", key: "positives", show: words, get: (row) => scoreOf(learned[0], row.finding).positives },
    ...learned.map((trial, index) => ({ name: marked(trial), unit: "AUROC", key: `auroc_${index}`, show: fixed(3),
                                        get: (row) => scoreOf(trial, row.finding).auroc })),
  ], findings.map((finding) => ({ finding, trial: learned[0] })));
}

function addLearning() {
  const learned = trials.filter((trial) => trial.learned.length > 0 || hasClasses(trial));
  if (learned.length === 0) return;
  const place = section("learned", "What was learned", "By images of patients that do not train. Intervals: patients drawn with replacement.");
  if (charts.available) drawLearning(place, learned);
  table(place, "learning", "What each trial learned", learningColumns, learned);
  const scored = learned.filter((trial) => trial.learned.length > 0);
  if (scored.length > 0) addScores(place, scored);
}
