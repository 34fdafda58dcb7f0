// Shows the results of trainings over epochs.
"use strict";

// Whether the trial's images have one class each; then top-1 and top-5 replace the AUROC.
const hasClasses = (trial) => !isEmpty(trial.figures.top1);

const learningColumns = [
  labelColumn,
  figure("epochs", "", "epochs", words, (trial) => trial.spec.training.epochs),
  figure("AUROC", "mean over findings", "mean_auroc", fixed(3)),
  figure("95 % low", "AUROC", "mean_auroc_ci95_low", fixed(3), (trial) => trial.figures.mean_auroc_ci95 && trial.figures.mean_auroc_ci95[0]),
  figure("95 % high", "AUROC", "mean_auroc_ci95_high", fixed(3), (trial) => trial.figures.mean_auroc_ci95 && trial.figures.mean_auroc_ci95[1]),
  figure("worst", "of repeats", "mean_auroc_worst", fixed(3), (trial) => repeatAurocs(trial)[0]),
  figure("best", "of repeats", "mean_auroc_best", fixed(3), (trial) => repeatAurocs(trial).at(-1)),
  ...(trials.some(hasClasses) ? [figure("top-1", "share of images", "top1", fixed(3)),
                                 figure("top-5", "share of images", "top5", fixed(3))] : []),
  figure("at epoch", "the best", "best_epoch", words),
  figure("time to target", "s", "time_to_auroc_s", fixed(1)),
  figure("images/s", "of its steps", "images_per_s", rate),
];

// Returns the best mean AUROC of each repeat in ascending order; nothing for a single repeat.
function repeatAurocs(trial) {
  const best = trial.repeats.map((repeat) => Math.max(...repeat.epochs.map((epoch) => epoch.mean_auroc ?? -1)))
    .filter((auroc) => auroc >= 0).sort((a, b) => a - b);
  return best.length > 1 ? best : [];
}

// Returns the points of one figure of the epochs over `along`: their number, or the time since the training began.
// Repeats overlap.
function learningCurve(trial, key, along) {
  const points = [];
  for (const repeat of trial.repeats) {
    for (const epoch of repeat.epochs) points.push({ x: epoch[along], y: epoch[key] });
    points.push({ x: 0, y: null });
  }
  return points;
}

const byTime = ["s since the training began, validations included", "elapsed_s"];
const byEpoch = ["epoch", "epoch"];

function drawScores(place, learned, words, [axis, along]) {
  for (const [key, title, unit, shown] of [
    ["mean_auroc", `AUROC by ${words}, mean over findings`, "AUROC", learned.filter((trial) => !hasClasses(trial))],
    ["top1", `Top-1 accuracy by ${words}`, "share of images", learned.filter(hasClasses)],
  ]) {
    if (shown.length === 0) continue;
    charts.curves(place, title, axis, unit, { max: 1 },
      shown.map((trial) => ({ name: marked(trial), points: learningCurve(trial, key, along) })));
  }
}

function drawLosses(place, learned, [axis, along]) {
  for (const trial of learned) {
    charts.curves(place, `Loss: ${marked(trial)}`, axis, "cross-entropy", {}, [
      { name: "training", color: "accent", points: learningCurve(trial, "training_loss", along) },
      { name: "validation", color: "wait", points: learningCurve(trial, "validation_loss", along) },
    ]);
  }
}

function drawLearning(place, learned) {
  drawScores(place, learned, "time", byTime);
  drawLosses(element(place, "div", undefined, "grid"), learned, byTime);
  const epochs = folded(place, "The same by epoch");
  drawScores(epochs, learned, "epoch", byEpoch);
  drawLosses(element(epochs, "div", undefined, "grid"), learned, byEpoch);
}

// Draws the curves of each trial's best epoch; with several repeats, those of the median repeat.
function addCurves(place, learned) {
  const curved = learned.filter((trial) => trial.curves.length > 0);
  for (const trial of charts.available ? curved : []) addLabelCurves(place, trial.curves, `by finding: ${marked(trial)}`);
  if (!charts.available || curved.length === 0) return;
  drawReliability(folded(place, "Reliability of all findings together"), "Reliability, all findings",
    curved.map((trial) => reliabilityLine(marked(trial), pooled(trial.curves))));
}

// Draws the quality of trials over their speed, if they differ in settings that affect it: a line for each number of
// images per step, through its learning rates.
function drawTradeoff(place, learned) {
  const lines = new Map();
  for (const trial of learned) {
    const { batch_size: batch, accumulate_steps: parts, learning_rate: rate } = trial.spec.training;
    const images = batch * parts * trial.ranks;
    if (!lines.has(images)) lines.set(images, { rates: new Set(), points: [] });
    lines.get(images).rates.add(rate);
    lines.get(images).points.push({ x: trial.figures.images_per_s, y: trial.figures.mean_auroc });
  }
  if (lines.size < 2 && [...lines.values()].every((line) => line.rates.size < 2)) return;
  charts.curves(place, "AUROC by images/s, a line for each batch of all ranks, through its learning rates", "images/s", "AUROC", { max: 1 },
    [...lines].map(([images, { points }]) => ({ name: `${images} images a step`, points: points.sort((a, b) => a.x - b.x) })));
}

// Adds a table with one row per label and one column per trial.
function addScores(place, learned) {
  const findings = [...new Set(learned.flatMap((trial) => trial.learned.map((score) => score.finding)))];
  const scoreOf = (trial, finding) => trial.learned.find((score) => score.finding === finding) || {};
  const published = Object.keys(learned[0].learned[0].published || {});
  const scores = folded(place, "AUROC by finding");
  if (published.length > 0) {
    element(scores, "p", "Published AUROCs are of other images: random splits of ChestX-ray14 by patients, not its official test list.");
  }
  table(scores, "scores", "AUROC of each finding of the images", [
    { name: "finding", key: "finding", get: (row) => row.finding },
    { name: "with it", unit: "images", key: "positives", show: words, get: (row) => scoreOf(learned[0], row.finding).positives },
    ...learned.map((trial, index) => ({ name: marked(trial), unit: "AUROC", key: `auroc_${index}`, show: fixed(3),
                                        get: (row) => scoreOf(trial, row.finding).auroc })),
    ...published.map((name) => ({ name, unit: "published, of other data", key: `published_${name}`, show: fixed(3),
                                  get: (row) => scoreOf(learned[0], row.finding).published[name] })),
  ], findings.map((finding) => ({ finding, trial: learned[0] })));
}

function addLearning() {
  const learned = trials.filter((trial) => trial.learned.length > 0 || hasClasses(trial));
  if (learned.length === 0) return;
  const place = section("learned", "What was learned", "By images of patients that do not train, unless training.validation_share is 0. Intervals: patients drawn with replacement.");
  if (charts.available) drawLearning(place, learned);
  if (charts.available) drawTradeoff(place, learned);
  table(place, "learning", "What each trial learned", learningColumns, learned);
  const scored = learned.filter((trial) => trial.learned.length > 0);
  if (scored.length > 0) addScores(place, scored);
  addCurves(place, learned);
}
