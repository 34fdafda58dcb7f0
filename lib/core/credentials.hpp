// Keeps the users, passwords and signatures of URLs out of output and records.
#pragma once

#include <string>
#include <string_view>

namespace chexbench {

// Returns `text`, which is one URL or one argument of a command line, with possible secrets in its URLs as "...":
// everything before the last '@' (user and password; %40 counts too), an authority whose port is not a number (a
// password without its '@'), and everything after a '?' or '#' (signatures and tokens). A user and password without a
// scheme, as in me:word@host, are hidden as well. When in doubt it hides more: malformed text is split the way its
// author may have meant it. Thread-safe.
std::string without_credentials(std::string_view text);

// Does the same for each URL in a message. A quotation mark, a line end, or a blank after one of ":;," ends a URL.
std::string without_credentials_in_message(std::string_view message);

}  // namespace chexbench
