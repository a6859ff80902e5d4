#pragma once
#if !__has_include(<zlib.h>)
#error "Martlet needs zlib's header. Debian and Ubuntu: apt-get install zlib1g-dev; Fedora and Amazon Linux: dnf install zlib-devel"
#endif
#include <zlib.h>
