// PNG files -> one file of decoded pixels.
#pragma once

#include "dataset/make/convert.hpp"
#include "formats/cached_file.hpp"

namespace chexbench::dataset {

// Writes cached_path(), and then its manifest. Decoded with the fast decoder, resized and rounded as data.deliver u8
// does it. Under way the file has the name PATH.partial: it reserves its whole size first, so that a full disk shows at
// once, and a conversion that was interrupted goes on with the images that it holds. Equal input gives equal bytes.
// `dataset`: the PNGs of the split.
// @throws SpecError: a size that is impossible, or a number of shards; OutputError: it cannot be written, or another
// process writes it
formats::Conversion convert_to_cached(const ConvertOptions& options, const Dataset& dataset);

}  // namespace chexbench::dataset
