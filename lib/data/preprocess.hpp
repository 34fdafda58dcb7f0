// Preprocessors of a chosen implementation, for tests and benchmarks; everybody else calls make_preprocessor().
#pragma once

#include <memory>

#include "data/decoder.hpp"
#include "data/isa.hpp"

namespace chexbench::data {

// `isa` must be supported(). All give the same bits.
std::unique_ptr<Preprocessor> make_preprocessor(spec::ResizeMethod resize, const BatchShape& shape, Isa isa);

}  // namespace chexbench::data
