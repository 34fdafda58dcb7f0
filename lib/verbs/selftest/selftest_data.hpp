// Compares the data path on this machine with golden values, for `chexbench dev selftest`.
#pragma once

#include <string>

namespace chexbench::verbs {

// With both decoders, decodes the images of the data set at `root` that are in the golden file, resizes them to 224x224
// with both methods, and compares pixel values in [0, 1], their mean and their standard deviation with the golden ones,
// with a tolerance of 2e-6. Returns a summary for people.
// @throws ComparisonError if a difference is larger; the message names the image, the decoder and the method
// @throws DataError if the golden file, the data set or a decoder is missing, or the data set has none of the golden
// file's images
std::string selftest_preprocess(const std::string& golden_path, const std::string& root);

// Makes the interleave op, parallel and plain, read shards with the lengths in the golden file, and compares the order
// of the records. Writes the shards into a temporary folder, which it removes. Returns a summary for people.
// @throws ComparisonError if an order differs; the message names the case
// @throws DataError if the golden file cannot be read
// @throws OutputError if the shards cannot be written
std::string selftest_interleave(const std::string& golden_path);

}  // namespace chexbench::verbs
