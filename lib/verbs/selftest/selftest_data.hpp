// Holds this machine's data path against golden values.
#pragma once

#include <string>

namespace chexbench::verbs {

// Decodes the golden file's images from the data set at `root` with both decoders, resizes them to 224x224 with both
// methods and compares the values (2e-6). Returns a summary for people. @throws ComparisonError naming the image, the
// method and the place of the largest difference; DataError for a missing file
std::string selftest_preprocess(const std::string& golden_path, const std::string& root);

// Lets the interleave op, parallel and plain, read shards of the golden file's lengths, and compares the order.
// Writes the shards into a temporary folder. @throws ComparisonError naming the case; DataError, OutputError
std::string selftest_interleave(const std::string& golden_path);

}  // namespace chexbench::verbs
