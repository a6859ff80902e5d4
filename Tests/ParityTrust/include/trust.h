#pragma once

// Sets the certificate authority that libcurl's new handles trust instead of the system's; NULL restores the system's.
void parity_trust(const char *authority);
