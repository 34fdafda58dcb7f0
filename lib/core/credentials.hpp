// Keeps users, passwords and signatures of URLs out of what is printed and recorded.
#pragma once

#include <string>
#include <string_view>

namespace chexbench {

// Returns `text`, which is one URL or one argument of a command line, with what may be secret in its URLs as "...": all
// before the last '@' (user and password, %40 counts too), an authority whose port is no number (a password without its
// '@'), and all after a '?' or '#' (signatures and tokens). A user and password without a scheme, as in me:word@host,
// are hidden as well. Rather hides too much than too little: what is malformed is split as its author may have meant
// it. Thread-safe.
std::string without_credentials(std::string_view text);

// Does the same with each URL of a message. A quotation mark, a line's end, or a blank after one of ":;," ends a URL.
std::string without_credentials_in_message(std::string_view message);

}  // namespace chexbench
