// Shared by all parts of report.html: the report, and its trials by name and colour.
"use strict";

const report = pageData;
const trials = report.trials.filter((trial) => trial.repeats.length > 0);

// ---- names of trials, marked if emulated

const marked = (trial) => (trial.label + " " + trial.mark).trimEnd();
const trains = (trial) => trial.spec.engine !== "none";
// Returns a title for a chart of these trials, and their names in it: a mark that all of them share is only in the
// title.
const markedAlike = (shown) => shown.every((trial) => trial.mark === shown[0].mark);
function titled(title, shown) {
  if (!shown.some((trial) => trial.mark)) return title;
  return title + " " + (markedAlike(shown) ? shown[0].mark : "(some emulated: marked)");
}
const nameIn = (shown) => (trial) => (markedAlike(shown) && trial.label ? trial.label : marked(trial)) || trial.trial;

// ---- groups of trials, one colour each

// The arms that were measured, each with its trials by ranks.
const arms = [...new Set(trials.map((trial) => trial.arm))]
  .map((arm) => trials.filter((trial) => trial.arm === arm).sort((a, b) => a.ranks - b.ranks));
const armName = (arm) => nameIn(trials)(arm[0]).replace(/,? ?ranks \d+/, "").trim() || arm[0].trial;
const pipelineName = (trial) => trial.spec.data.format === "ready" ? "ready-made batches" : trial.spec.pipeline.name;

// Returns the name of a trial's group: its arm, if the ranks of arms were swept and there are enough colours, else its
// pipeline. If all are the same there is one group, "".
const groupOf = (() => {
  const scales = arms.length > 1 && arms.some((arm) => arm.length > 1);
  if (scales && arms.length <= 7) return (trial) => armName(arms.find((arm) => arm.includes(trial)));
  return new Set(trials.map(pipelineName)).size > 1 ? pipelineName : () => "";
})();
const hueOf = (trial) => [...new Set(trials.map(groupOf))].indexOf(groupOf(trial));
