// How trials are told apart in tables: by what differs between them.
#pragma once

#include <string>
#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// names: of the attributes (pipeline, format, root, store, model, engine, precision, ranks, batch) in which the trials
// differ; where those do not tell all trials apart, "trial", with the trials' own names, comes first. rows: a trial
// each, a value per name. common: the other attributes, "model resnet50, precision f32".
struct Labels {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
  std::string common;
};
Labels label_trials(const std::vector<TrialResult>& trials);

// How a store was slowed down, "2 ms 100 MB/s"; "as it is" where it was not.
std::string store_words(const spec::StoreShape& shape);

// A trial's name in a sentence or a row: every mention of an emulated one says so.
std::string marked(const std::string& trial, bool emulated);

}  // namespace chexbench::results
