// Converts the image files of a split to one file of decoded pixels (formats/cached_file.hpp).
#pragma once

#include "dataset/make/convert.hpp"
#include "formats/cached_file.hpp"

namespace chexbench::dataset {

// Writes the file cached_path() and returns the contents of its manifest, which the caller writes. `dataset` has the
// image files of the split. Images are decoded with the fast decoder, resized, and rounded like data.deliver u8. Equal
// input gives equal bytes. Until the file is complete it is called PATH.partial. It reserves its whole size first, so
// that a full disk shows at once. A conversion after an interrupted one keeps the images already in this file. A
// complete file is kept if it was made from these images and is undamaged.
// @throws SpecError if the image size is out of range or a number of shards is given
// @throws DataError if an image file cannot be read, or its name has a line break; an image that cannot be decoded is
// only a warning
// @throws OutputError if the file cannot be written, or another process is writing it
// @throws InterruptedError after a signal
formats::Conversion convert_to_cached(const ConvertOptions& options, const Dataset& dataset);

}  // namespace chexbench::dataset
