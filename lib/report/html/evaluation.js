// Builds evaluation.html from the evaluation.json in it, from top to bottom.
"use strict";

const evaluation = pageData;

function addHeader() {
  document.querySelector("h1").textContent = `${evaluation.network}: ${evaluation.root} (${evaluation.split})`;
  addCredits(evaluation.chexbench_version);
}

function addFacts() {
  const list = element(folded(section("about", "About this evaluation"), "What was evaluated, and how"), "dl");
  for (const key of ["checkpoint", "epochs", "image_size", "crops", "precision", "engine", "device", "images", "unread_images", "patients", "date_utc"]) {
    if (isEmpty(evaluation[key])) continue;
    element(list, "dt", key);
    element(list, "dd", words(evaluation[key]));
  }
}

addHeader();
if (evaluation.task === "classes") {
  addClassesAnswer();
  addClasses();
  addConfusions();
  addCertainty();
} else {
  addFindingsAnswer();
  addFindings();
  addReliability();
}
addFacts();
printUnfolded();
document.documentElement.dataset.ready = "true";
