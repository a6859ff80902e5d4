#pragma once

// The certificate authority that libcurl's new handles trust in place of the system's; NULL for the system's.
void parity_trust(const char *authority);
