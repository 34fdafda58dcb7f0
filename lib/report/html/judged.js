// Draws how good the probabilities of labels are: ROC curves with their bands, and reliability.
"use strict";

// Returns ", 95 % interval LOW to HIGH", or "" without an interval.
const inPercent = (low, high, show) => isEmpty(low) ? "" : `, 95 % interval ${show(low)} to ${show(high)}`;
const intervalOf = (low, high) => [low, high].some(isEmpty) ? undefined : [low, high];

const share01 = { min: 0, max: 1 };
const rocTitles = ["false positive rate", "sensitivity"];
const reliabilityTitles = ["mean probability", "share that has it"];
const diagonal = (name) => ({ name, color: "muted", dashed: true, width: 1, points: [{ x: 0, y: 0 }, { x: 1, y: 1 }] });

// Returns the line of a ROC curve and its 95 % band. A label without a curve has none.
function rocLine(name, roc) {
  const points = roc.false_positive_rate.map((x, index) => ({ x, y: roc.sensitivity[index] }));
  const bounds = roc.false_positive_rate.map((x, index) => ({
    x, low: roc.sensitivity_ci95_low[index], high: roc.sensitivity_ci95_high[index],
  }));
  const hasBand = bounds.every((bound) => bound.low !== null);
  return { name: hasBand ? `${name}, 95 % band` : name, points, band: hasBand ? bounds : undefined };
}

// Returns the points of the bins that have images.
function reliabilityLine(name, bins) {
  const points = bins.filter((bin) => bin.images > 0).map((bin) => ({ x: bin.mean_probability, y: bin.share_of_positives }));
  return { name, points };
}

// Returns the combined bins of several labels, which show whether probabilities are too high or too low overall.
function pooled(labels) {
  return labels[0].reliability.map((bin, index) => {
    const same = labels.map((label) => label.reliability[index]);
    const sum = (key) => same.reduce((total, one) => total + one[key], 0);
    const images = sum("images");
    return { images, mean_probability: sum("sum_of_probabilities") / images, share_of_positives: sum("positives") / images };
  });
}

const drawRoc = (place, title, lines) => charts.curves(place, title, ...rocTitles, share01, [...lines, diagonal("guessing")]);
const drawReliability = (place, title, lines) =>
  charts.curves(place, title, ...reliabilityTitles, share01, [...lines, diagonal("as they say")]);

// Adds a folded chart for each label. labels: {finding, roc, reliability}.
function addLabelCurves(place, labels, of) {
  const judged = labels.filter((label) => label.roc.sensitivity.every((value) => value !== null));
  const curves = element(folded(place, `ROC curves ${of}`), "div", undefined, "grid");
  for (const label of judged) drawRoc(curves, `ROC: ${label.finding}`, [rocLine(label.finding, label.roc)]);
  const grid = element(folded(place, `Reliability ${of}`), "div", undefined, "grid");
  for (const label of labels) drawReliability(grid, `Reliability: ${label.finding}`, [reliabilityLine(label.finding, label.reliability)]);
}
