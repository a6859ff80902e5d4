#include "turns.h"

static __thread int64_t service_time = -1;

int64_t martlet_service_time(void) { return service_time; }

void martlet_set_service_time(int64_t nanoseconds) { service_time = nanoseconds; }
