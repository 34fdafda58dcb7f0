// How libjpeg's errors leave its functions: by a jump, because it is written in C. For the sources that call it.
#pragma once

#include <array>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it and does not include it

#include <jpeglib.h>

namespace chexbench::image {

struct JpegErrors {
  jpeg_error_mgr manager;  // first, so that libjpeg's pointer to it also points to this struct
  std::jmp_buf escape;
  std::array<char, JMSG_LENGTH_MAX> text;
};

// The error_exit of `manager`: writes libjpeg's message to `text` and jumps to `escape`.
[[noreturn]] inline void leave_libjpeg(j_common_ptr info) {
  auto* const errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->text.data());
  std::longjmp(errors->escape, 1);
}

}  // namespace chexbench::image
