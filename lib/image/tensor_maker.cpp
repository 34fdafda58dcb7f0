#include "image/tensor_maker.hpp"

#include <new>

namespace chexbench::image {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

void TensorMaker::Free::operator()(std::byte* p) const { ::operator delete(p, kAlignment); }

TensorMaker::TensorMaker(const BatchShape& shape, spec::ResizeMethod resize)
    : decoder_(make_decoder(spec::DecoderKind::fast, {},
                            shape.deliver == Deliver::u8_rgb ? spec::Color::rgb : spec::Color::gray)),
      preprocessor_(make_preprocessor(resize, shape)),
      bytes_(shape.bytes()),
      memory_(static_cast<std::byte*>(::operator new(bytes_, kAlignment))) {}

std::span<const std::byte> TensorMaker::run(std::span<const std::byte> bytes, const std::string& name) {
  preprocessor_->run(decoder_->decode(bytes, name), false, memory_.get());
  return memory();
}

}  // namespace chexbench::image
