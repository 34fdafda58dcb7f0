// Shows how good the probabilities of findings are; an image can have any number of findings.
"use strict";

const labels = (pageData.labels || []).map((label) => ({ ...label, finding: label.label }));
const isJudged = (label) => !isEmpty(label.auroc);

function addFindingsAnswer() {
  const place = section("verdict", "How good it is");
  const { auroc, auroc_ci95_low: low, auroc_ci95_high: high } = pageData.mean;
  const show = fixed(3);
  element(place, "p", isEmpty(auroc) ? "No finding has images both with and without it, so none has an AUROC."
    : `Mean AUROC ${show(auroc)}${inPercent(low, high, show)}, over ${plural(labels.filter(isJudged).length, "finding")} of ` +
      `${plural(pageData.images, "image")}.`);
  if (pageData.left_out_of_means.length > 0) {
    element(place, "p", `Not judged, because all images or none have them: ${pageData.left_out_of_means.join(", ")}.`, "note");
  }
  if (charts.available && !isEmpty(auroc)) drawRoc(place, "ROC curve, mean over findings", [rocLine("mean of findings", pageData.mean.roc)]);
}

const bound = (name, key) => ({ name, unit: "AUROC", key, show: fixed(3), get: (label) => label[key] });
const findingColumns = [
  { name: "finding", key: "label", get: (label) => label.finding },
  { name: "with it", unit: "images", key: "positives", show: words, get: (label) => label.positives },
  { name: "AUROC", key: "auroc", show: fixed(3), get: (label) => label.auroc },
  bound("95 % low", "auroc_ci95_low"),
  bound("95 % high", "auroc_ci95_high"),
  { name: "average precision", key: "average_precision", show: fixed(3), get: (label) => label.average_precision },
  { name: "Brier", key: "brier", show: fixed(4), get: (label) => label.brier },
];

function addFindings() {
  const place = section("findings", "Findings", "Intervals and bands: patients drawn with replacement, each with all images.");
  if (charts.available) {
    charts.bars(place, "AUROC by finding", "AUROC", labels.filter(isJudged).map((label) => ({
      name: label.finding, value: label.auroc, interval: intervalOf(label.auroc_ci95_low, label.auroc_ci95_high), group: "",
    })));
  }
  table(place, "findings-table", "How good the probabilities of each finding are", findingColumns, labels);
  if (charts.available) addLabelCurves(place, labels, "by finding");
}

function addReliability() {
  if (!charts.available) return;
  const place = section("reliability", "Do the probabilities mean what they say?",
    "All findings together, in ten bins: below the dashed line, probabilities are too high.");
  drawReliability(place, "Reliability, all findings", [reliabilityLine("all findings", pooled(labels))]);
}
