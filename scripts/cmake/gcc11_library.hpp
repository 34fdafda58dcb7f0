// Included into every source of the wheel, which Debian 12's GCC 12 compiles and which must run with the C++ library of
// GCC 11. GCC 12's has a new version of this one function beside the old one, and both do the same.
#pragma once

__asm__(".symver _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE, "
        "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
