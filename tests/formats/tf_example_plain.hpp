// The plain twin of parse_example(), the reference for its tests: it builds the whole message as a tree first.
#pragma once

#include "formats/tf_example.hpp"

namespace chexbench::formats {

// Does the same as parse_example(). Thread-safe. @throws DataError as parse_example()
ExampleView parse_example_plain(std::span<const std::byte> record, const RecordOrigin& origin = {},
                                std::size_t labels = kNihLabels);

}  // namespace chexbench::formats
