// Shows the findings, grouped by trial and cause. The costliest come first, as in the report.
"use strict";

// The cause for each kind of finding; verdicts come first in each list.
const causes = Object.entries({
  input: ["starved", "cpu_starved", "fed", "amplification", "few_parallel_calls", "small_shards", "epoch_starts"],
  ranks: ["slow_rank", "communication", "scaling"],
  accelerator: ["upload", "throttled", "partly_busy", "ecc_errors", "nvml_differs", "nvml_window"],
  memory: ["shuffle_decoded", "prefetch_batches"],
  "data set": ["batch_remainder", "shared_patients", "unknown_patients", "old_shards", "other_images", "left_out"],
  measurement: ["busy_machine", "sample_too_small", "page_cache"],
  comparison: ["pipeline_ratio", "format_ratio", "storage_ratio", "ceiling", "ablation", "second_job", "second_job_resources"],
  conversion: ["economics"],
  learning: ["accuracy", "accuracy_ratio"],
});
const causeOf = (finding) => (causes.find(([, kinds]) => kinds.includes(finding.kind)) || ["other"])[0];

const fewFindings = 6;  // with at most this many, all groups are unfolded
const wholeRun = "The whole run";

// Returns the trial that a finding is about. In reports of old versions, only the beginning of the text names it.
function trialOf(finding) {
  const named = report.trials.find((trial) => trial.trial === finding.trial);
  if (named || finding.headline) return named;
  const begins = report.trials.filter((trial) => finding.text.startsWith(trial.trial + " ") || finding.text.startsWith(trial.trial + ":"));
  return begins.sort((a, b) => b.trial.length - a.trial.length)[0];
}

const worth = (finding) => finding.worth_share || 0;

// Returns [key, items] of each group of items with an equal key, in the order of their first items.
function grouped(items, key) {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) || []), item]);
  return [...groups];
}

function worthText(finding) {
  if (worth(finding) >= 1) return "do not use these figures";
  return worth(finding) < 0.005 ? "" : `costs up to ${(100 * worth(finding)).toFixed(0)} % of the time`;
}

// Adds a finding: its headline with folded details, or the whole text if it has no headline.
function addFinding(list, finding) {
  const line = element(list, "li", undefined, finding.emulated ? "finding emulated" : "finding");
  const place = finding.headline ? element(line, "details") : line;
  const head = finding.headline ? element(place, "summary") : place;
  element(head, "span", finding.headline || finding.text, finding.headline ? "headline" : "text");
  const labels = [["cause", causeOf(finding)], ["worth", worthText(finding)],
                  ["grade", finding.grade === "told apart" ? "" : finding.grade]];
  for (const [name, text] of labels.filter(([, text]) => !isEmpty(text))) {
    head.append(" ");
    element(head, "span", text, "label " + name);
  }
  if (!finding.headline) return;
  for (const part of ["reason", "advice"]) {
    if (finding[part]) element(place, "p", finding[part], part);
  }
  if (finding.command) addCommand(place, finding.command);
  element(place, "p", finding.text, "note");
}

// Adds the findings about one trial, or about the whole run. A folded group shows the first of its headlines.
function addGroup(place, trial, findings, open) {
  const group = element(place, "details", undefined, "group");
  group.open = open;
  const head = element(group, "summary");
  element(head, "h3", trial ? marked(trial) : wholeRun);
  element(head, "span", ` ${plural(findings.length, "finding")}`, "count");
  element(head, "span", findings[0].headline || "", "first");
  const list = element(group, "ul", undefined, "findings");
  for (const [, alike] of grouped(findings, causeOf)) alike.forEach((finding) => addFinding(list, finding));
}

function addFindings() {
  const place = section("findings", "Findings");
  if (report.findings.length === 0) element(place, "p", "None.");
  const few = report.findings.length <= fewFindings;
  grouped(report.findings, trialOf).forEach(([trial, findings], index) => addGroup(place, trial, findings, few || index === 0));
}
