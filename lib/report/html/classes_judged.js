// Shows how often the right one of exclusive classes is found, which ones are confused, and how well probabilities are
// calibrated.
"use strict";

const shownClasses = 20;  // limit for charts with a bar per class
const classes = (pageData.classes || []).filter((one) => one.images > 0);
const confusions = pageData.confusions || [];
const byTop1 = (a, b) => a.top1 - b.top1;
const confusedShare = (pair) => pair.images / pair.of_images;

function addClassesAnswer() {
  const place = section("verdict", "How good it is", "Intervals: patients drawn with replacement, each with all images.");
  const show = fixed(3);
  const figures = ["top1", "top5"].map((key) => ({
    name: key.replace("p", "p-"), value: pageData[key], low: pageData[`${key}_ci95_low`], high: pageData[`${key}_ci95_high`],
  }));
  const told = figures.map(({ name, value, low, high }) => `${name} accuracy ${show(value)}${inPercent(low, high, show)}`);
  element(place, "p", `${told.join("; ").replace("t", "T")}, over ${plural(pageData.images, "image")} of ${classes.length} classes.`);
  const without = pageData.classes.length - classes.length;
  if (without > 0) element(place, "p", `No image of this split is of the other ${without} of ${pageData.classes.length} classes.`, "note");
  if (!charts.available) return;
  charts.bars(place, "Share of images whose class is the most probable one, or one of five", "share of images",
    figures.map(({ name, value, low, high }) => ({ name, value, interval: intervalOf(low, high), group: "" })));
}

const classColumns = [
  { name: "class", key: "class", get: (one) => one.class },
  { name: "images", key: "images", show: words, get: (one) => one.images },
  { name: "top-1", unit: "share of images", key: "top1", show: fixed(3), get: (one) => one.top1, bar: (one) => one.top1 },
  { name: "top-5", unit: "share of images", key: "top5", show: fixed(3), get: (one) => one.top5 },
];

function addClasses() {
  const place = section("classes", "Classes");
  const worst = [...classes].sort(byTop1).slice(0, shownClasses);
  const are = classes.length > shownClasses ? `the ${shownClasses} classes with the lowest` : "all classes";
  if (charts.available) {
    charts.bars(place, `Top-1 accuracy of ${are}`, "share of images", worst.map((one) => ({ name: one.class, value: one.top1, group: "" })));
  }
  const all = classes.length > shownClasses ? folded(place, `All ${classes.length} classes`) : place;
  table(all, "classes-table", "How often each class is found", classColumns, [...classes].sort(byTop1));
}

const confusionColumns = [
  { name: "class", key: "class", get: (pair) => pair.class },
  { name: "mistaken for", key: "taken_for", get: (pair) => pair.taken_for },
  { name: "images", key: "images", show: words, get: (pair) => pair.images },
  { name: "share", unit: "% of the class", key: "share", show: percent, get: confusedShare, bar: confusedShare },
];

function addConfusions() {
  const place = section("confusions", "Which classes it confuses",
    "By the class that is most probable: the pairs of most images, at most 100 of them.");
  if (confusions.length === 0) {
    element(place, "p", "None: the class of every image is the most probable one.");
    return;
  }
  if (charts.available) {
    charts.bars(place, "Images of a class that are mistaken for another one", "% of the class",
      confusions.slice(0, shownClasses).sort((a, b) => confusedShare(b) - confusedShare(a)).map((pair) => ({
        name: `${pair.class} as ${pair.taken_for}`, value: 100 * confusedShare(pair), group: "",
      })));
  }
  const all = confusions.length > shownClasses ? folded(place, `All ${confusions.length} pairs`) : place;
  table(all, "confusions-table", "Which classes are mistaken for which others", confusionColumns, confusions);
}

function addCertainty() {
  const place = section("reliability", "Do the probabilities mean what they say?",
    "The most probable class of each image, in ten bins of its probability: below the dashed line, probabilities are too high.");
  element(place, "p", `Expected calibration error ${fixed(3)(pageData.calibration_error)}: how far these probabilities are from ` +
    "the share of images whose class is right, in the mean over images.");
  if (charts.available) drawReliability(place, "Reliability of the most probable class", [reliabilityLine("most probable class", pageData.reliability)]);
}
