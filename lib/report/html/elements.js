// Shared by all pages: their data, elements and printing. Text is inserted as text, never as HTML.
"use strict";

const pageData = JSON.parse(document.getElementById("data").textContent);
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

// Adds an element that is folded until a reader, or printing, opens it.
function folded(parent, summary) {
  const place = element(parent, "details");
  element(place, "summary", summary);
  return place;
}

// Lets the keyboard scroll an element that is wider than the page; screen readers announce `name`.
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

// Names the program that made the page, and the library of its charts, if any.
function addCredits(version) {
  if (!charts.available) {
    element(document.querySelector("header"), "p",
      "This chexbench was built without Chart.js, so there are no charts; the tables hold all numbers.", "warning");
  }
  document.getElementById("program").textContent = "chexbench " + version;
  document.getElementById("chart-credit").hidden = !charts.available;
}

// Unfolds everything before charts are drawn for printing, because paper cannot be unfolded.
function printUnfolded() {
  let shut = [];
  addEventListener("beforeprint", () => {
    shut = [...document.querySelectorAll("details:not([open])")];
    for (const place of shut) place.open = true;
    charts.setPaper(true);
  });
  addEventListener("afterprint", () => {
    for (const place of shut) place.open = false;
    charts.setPaper(false);
  });
}
