#include "storage/http/trusted_certificates.hpp"

#include <system_error>

namespace chexbench::storage {

std::string trusted_certificates(const Environment& environment, const std::filesystem::path& root) {
  // OpenSSL, the curl command and Amazon's tools take a private authority from these variables; libcurl reads none.
  for (const char* const name : {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (std::string file = environment(name); !file.empty()) return file;
  }
  // libcurl knows the place of the distribution that it was built on, but the program may run on another one.
  for (const char* const name : {"etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
                                 "etc/pki/tls/certs/ca-bundle.crt",    // RHEL, Fedora
                                 "etc/ssl/ca-bundle.pem",              // openSUSE
                                 "etc/ssl/cert.pem"}) {                // Alpine, BSDs
    std::error_code ignored;
    if (std::filesystem::exists(root / name, ignored)) return root / name;
  }
  return {};
}

}  // namespace chexbench::storage
