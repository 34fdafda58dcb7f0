// Labels for the rows of a table: the attributes in which its trials differ, so that rows do not repeat shared
// settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::results {

// The labels of a list of trials.
struct Labels {
  std::vector<std::string> names;              // attributes in which the trials differ, see label_trials()
  std::vector<std::vector<std::string>> rows;  // one per trial, with one value per name
  std::string common;                          // the attributes that all share: "model resnet50, precision f32"
};

// Compares the attributes pipeline, format, root, store, model, engine, precision, ranks and batch of the trials. If
// these do not distinguish all trials, "trial" comes first, with the trials' names. `common` leaves out the root of the
// data, and a store that is not slowed down. Pipeline, root and store of a trial over ready-made batches are empty, and
// do not count.
Labels label_trials(const std::vector<TrialResult>& trials);

// Returns the name of a trial's pipeline, or "" if its batches are ready-made (data.format ready).
std::string pipeline_name(const spec::TrialSpec& spec);

// Returns the grade for such a text; told_apart for any other, because reports of old versions contain none.
Grade grade_from(std::string_view text);

// Returns the finding's text, followed by its grade in brackets unless that is told_apart.
std::string graded_text(const Finding& finding);

// Describes how a store was slowed down: "2 ms 100 MB/s", or "as it is" if it was not.
std::string store_words(const spec::StoreShape& shape);

// Returns "(emulated)" or "(scale model, 1 : 80)" for such a trial, with ", computed speed" before the bracket if its
// step times were computed, and "" for others. Every mention of such a trial must include it.
std::string mark_of(const TrialResult& trial);

// Returns a trial's name for a sentence or a row, followed by its mark.
std::string marked(const TrialResult& trial);
std::string marked(const std::string& trial, bool emulated);

}  // namespace chexbench::results
