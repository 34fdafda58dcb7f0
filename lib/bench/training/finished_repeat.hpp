// What a finished training has measured, kept beside its last checkpoint, so that a kill between that checkpoint and
// the line in the journal costs nothing.
#pragma once

#include <optional>
#include <string>

#include "results/record.hpp"

namespace chexbench::bench {

// Writes the repeat of the trial with this key into `folder`, which holds the training's checkpoints, as repeat.json: a
// line as in a journal. It must be there before the last checkpoint of the training is. Makes the folder.
// @throws OutputError if it cannot be written
void keep_finished_repeat(const std::string& folder, const std::string& key, const results::RepeatResult& repeat);

// Returns repeat `repeat` of the trial with this key if last.safetensors in `folder` is the checkpoint that ended it,
// with the same epochs; else std::nullopt, as for a training that was killed before.
// @throws DataError if one of the two files is damaged
std::optional<results::RepeatResult> find_finished_repeat(const std::string& folder, const std::string& key,
                                                          int repeat);

}  // namespace chexbench::bench
