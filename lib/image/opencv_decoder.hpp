// Decodes images by OpenCV, which is loaded from a plugin at first need.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "image/decoded_image.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::image {

// Decodes every format that OpenCV reads. Does not check the files, and OpenCV accepts truncated files as whole ones.
// Not thread-safe: use one per thread.
class OpencvDecoder {
 public:
  virtual ~OpencvDecoder() = default;
  // Decodes a file to 8 bits a channel. The memory of the result belongs to the decoder and is valid until its next
  // call.
  // @throws DataError if OpenCV cannot decode the file; the message has only the reason, since the caller knows the
  // name
  virtual DecodedImage decode(std::span<const std::byte> bytes) = 0;
};

// Returns a decoder to gray or rgb, which always has three channels. The first call loads the shared library
// chexbench_opencv.so, from $CHEXBENCH_PLUGIN_DIR only if that is set, or else from the folder of the executable or
// ../lib/chexbench from there. Thread-safe.
// @throws DataError if the library cannot be loaded or belongs to another version, or if this build has no OpenCV
// @throws std::bad_alloc if the system has no memory left
std::unique_ptr<OpencvDecoder> make_opencv_decoder(spec::Color color = spec::Color::gray);

// Returns the version of OpenCV, "4.6.0"; std::nullopt if make_opencv_decoder() has not loaded it yet. Loads nothing.
// Thread-safe.
std::optional<std::string> loaded_opencv_version();

}  // namespace chexbench::image
