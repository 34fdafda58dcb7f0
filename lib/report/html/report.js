// What the parts of report.html share: the report, its trials by name and colour, and elements. Text is inserted as text,
// never as HTML.
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const trials = report.trials.filter((trial) => trial.repeats.length > 0);
const main = document.querySelector("main");

const isEmpty = (value) => value === null || value === undefined || value === "";
const words = (value) => String(value);
const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

function element(parent, tag, text, className) {
  const child = parent.appendChild(document.createElement(tag));
  if (text !== undefined) child.textContent = text;
  if (className) child.className = className;
  return child;
}

// Adds a section, and a link to it in the list of sections.
function section(name, title, note) {
  const place = element(main, "section", undefined, name);
  const heading = element(place, "h2", title);
  heading.id = name + "-heading";
  place.setAttribute("aria-labelledby", heading.id);
  element(element(document.querySelector("nav ul"), "li"), "a", title).href = "#" + heading.id;
  if (note) element(place, "p", note, "note");
  return place;
}

// Adds what is folded until a reader, or the printer, opens it.
function folded(parent, summary) {
  const place = element(parent, "details");
  element(place, "summary", summary);
  return place;
}

// Lets the keyboard scroll a place, whose name readers of the screen hear, while it is wider than the page.
function scrollable(place, name) {
  new ResizeObserver(() => {
    const hidden = place.scrollWidth > place.clientWidth;
    for (const [key, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", name]]) {
      if (hidden) place.setAttribute(key, value);
      else place.removeAttribute(key);
    }
  }).observe(place);
  return place;
}

function addCommand(parent, command) {
  element(element(parent, "pre", undefined, "command"), "code", command);
}

// ---- names of trials, which say if a trial is emulated

const marked = (trial) => (trial.label + " " + trial.mark).trimEnd();
const trains = (trial) => trial.spec.engine !== "none";
// Returns a title for a chart of these trials, and their names in it: what marks all of them alike stands in the title alone.
const markedAlike = (shown) => shown.every((trial) => trial.mark === shown[0].mark);
function titled(title, shown) {
  if (!shown.some((trial) => trial.mark)) return title;
  return title + " " + (markedAlike(shown) ? shown[0].mark : "(some emulated: marked)");
}
const nameIn = (shown) => (trial) => (markedAlike(shown) && trial.label ? trial.label : marked(trial)) || trial.trial;

// ---- groups of trials, which have a colour each

// The arms that were measured, each with its trials by ranks.
const arms = [...new Set(trials.map((trial) => trial.arm))]
  .map((arm) => trials.filter((trial) => trial.arm === arm).sort((a, b) => a.ranks - b.ranks));
const armName = (arm) => nameIn(trials)(arm[0]).replace(/,? ?ranks \d+/, "").trim() || arm[0].trial;
const pipelineName = (trial) => trial.spec.data.format === "synthetic" ? "ready-made batches" : trial.spec.pipeline.name;

// Returns the name of a trial's group: its arm, if the ranks of arms were swept and there are colours enough, else its
// pipeline. Where all are the same there is one group, "".
const groupOf = (() => {
  const scales = arms.length > 1 && arms.some((arm) => arm.length > 1);
  if (scales && arms.length <= 7) return (trial) => armName(arms.find((arm) => arm.includes(trial)));
  return new Set(trials.map(pipelineName)).size > 1 ? pipelineName : () => "";
})();
const hueOf = (trial) => [...new Set(trials.map(groupOf))].indexOf(groupOf(trial));
