// Distinguishes a local path from an address such as s3://bucket/images.
#pragma once

#include <string_view>

namespace chexbench::spec {

inline bool is_url(std::string_view root) { return root.find("://") != std::string_view::npos; }

}  // namespace chexbench::spec
