// Reads whole text files: experiments, pipelines, profiles, golden files.
#pragma once

#include <string>

namespace chexbench::spec {

// Returns the text of the file at `path`. `what` is its role in errors, e.g. "experiment". A pipe is read to its end; a
// FIFO that no process writes to is empty.
// @throws SpecError if the file cannot be read (with the nearest one of its folder) or is larger than 16 MiB
std::string read_text_file(const std::string& path, const std::string& what);

}  // namespace chexbench::spec
