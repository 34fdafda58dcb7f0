// Shows the environment and the specs.
"use strict";

// Returns a spec as a flat object of dotted keys. An op list is one value.
function flatSpec(value, path = "", flat = {}) {
  if (Array.isArray(value) && value.every((item) => item && item.op)) flat[path] = value.map(opText).join(" | ");
  else if (value === null || typeof value !== "object" || Array.isArray(value)) flat[path] = words(value);
  else for (const [key, inner] of Object.entries(value)) flatSpec(inner, path ? `${path}.${key}` : key, flat);
  return flat;
}
function opText({ op, ...parameters }) {
  const said = Object.entries(parameters).filter(([key, value]) => key !== "delay_s" || value > 0);
  return [op, ...said.map(([key, value]) => `${key}=${value}`)].join(" ");
}

// Returns the spec as JSON with one line per op.
function specText(spec) {
  return JSON.stringify(spec, null, 2).replace(/\{\s+("op":[^{}]*)\}/g, (_, op) => `{ ${op.trim().replace(/\n\s*/g, " ")} }`);
}

function addSpecs(place) {
  const rows = report.trials.map((trial) => ({ trial, flat: flatSpec(trial.spec) }));
  const has = (row, key) => !key.startsWith("pipeline.") || row.trial.spec.data.format !== "ready";
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row.flat)))]
    .filter((key) => key !== "pipeline.name" &&  // already in the labels
                     new Set(rows.filter((row) => has(row, key)).map((row) => row.flat[key])).size > 1);
  if (keys.length > 0) {
    table(place, "specs", "What the trials' specs differ in", [{ name: "trial", key: "label", wrap: true, get: (row) => marked(row.trial) },
                           ...keys.map((key) => ({ name: key, key, wrap: true, get: (row) => (has(row, key) ? row.flat[key] : undefined) }))],
          rows);
  }
  for (const { trial } of rows) {
    const spec = folded(place, `Spec: ${marked(trial)}`);
    spec.className = "spec";
    scrollable(element(spec, "pre", specText(trial.spec)), `Spec: ${marked(trial)}`);
  }
}

// Returns a value of the environment in words: a list of hosts, a library with its version. Unknown values and
// libraries that were not loaded are left out.
function environmentText(value) {
  if (Array.isArray(value)) return value.map(environmentText).join(value.some((item) => typeof item === "object") ? "; " : " ");
  if (value === null || typeof value !== "object") return words(value);
  return Object.entries(value).map(([key, inner]) => [key, isEmpty(inner) ? "" : environmentText(inner)])
    .filter(([, text]) => text !== "").map(([key, text]) => `${key} ${text}`).join(", ");
}

function addEnvironment() {
  const place = section("environment", "Environment and resolved specs");
  const list = element(folded(place, "Environment"), "dl");
  for (const [key, value] of Object.entries(report.environment)) {
    const text = isEmpty(value) ? "" : environmentText(value);
    if (text === "") continue;
    element(list, "dt", key);
    element(list, "dd", text);
  }
  addSpecs(place);
}
