// Finds the certificate authorities to trust.
#pragma once

#include <filesystem>
#include <string>

#include "storage/environment.hpp"

namespace chexbench::storage {

// Returns the file that AWS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE names, in this order, or else the file in which
// one of the known distributions keeps its authorities; "" if there is none, so that libcurl takes the one it was built
// for. `root` stands for "/" in tests. Thread-safe.
std::string trusted_certificates(const Environment& environment, const std::filesystem::path& root = "/");

}  // namespace chexbench::storage
