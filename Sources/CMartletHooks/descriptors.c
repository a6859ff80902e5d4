#define _GNU_SOURCE
#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

// More than the agent has open at once. A descriptor without a slot is just not closed in a child.
enum { SLOTS = 64 };

static struct {
    // 0 if the slot is free, -1 while it is being filled, and otherwise the descriptor's number plus 1.
    int taken;
    struct martlet_descriptor file;
} slots[SLOTS];

static bool look(int number, struct martlet_descriptor *file) {
    struct stat status;
    if (number < 0 || fstat(number, &status) != 0) return false;
    *file = (struct martlet_descriptor){number, (uint64_t)status.st_dev, (uint64_t)status.st_ino};
    return true;
}

static bool is_same(struct martlet_descriptor one, struct martlet_descriptor other) {
    return one.number == other.number && one.device == other.device && one.inode == other.inode;
}

int martlet_above_standard(int number) {
    if (number < 0 || number > STDERR_FILENO) return number;
    int moved = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(number);
    errno = error;
    return moved;
}

struct martlet_descriptor martlet_descriptor_of(int number) {
    struct martlet_descriptor file = {-1, 0, 0};
    if (!look(number, &file)) return file;
    for (size_t i = 0; i < SLOTS; i++) {
        int free = 0;
        // A child that is forked in between finds a slot without a file.
        if (!__atomic_compare_exchange_n(&slots[i].taken, &free, -1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) continue;
        slots[i].file = file;
        __atomic_store_n(&slots[i].taken, number + 1, __ATOMIC_RELEASE);
        break;
    }
    return file;
}

bool martlet_is_ours(struct martlet_descriptor file) {
    struct martlet_descriptor now;
    return look(file.number, &now) && is_same(file, now);
}

static void forget(struct martlet_descriptor file) {
    for (size_t i = 0; i < SLOTS; i++) {
        if (__atomic_load_n(&slots[i].taken, __ATOMIC_ACQUIRE) != file.number + 1) continue;
        if (!is_same(slots[i].file, file)) continue;
        __atomic_store_n(&slots[i].taken, 0, __ATOMIC_RELEASE);
        return;
    }
}

void martlet_close(struct martlet_descriptor file) {
    bool is_ours = martlet_is_ours(file);
    forget(file);
    if (is_ours) close(file.number);
}

void martlet_close_number(int number) {
    struct martlet_descriptor file;
    bool is_open = look(number, &file);
    for (size_t i = 0; i < SLOTS; i++) {
        if (__atomic_load_n(&slots[i].taken, __ATOMIC_ACQUIRE) != number + 1) continue;
        if (is_open && is_same(slots[i].file, file)) return martlet_close(file);
        // The service has closed it.
        __atomic_store_n(&slots[i].taken, 0, __ATOMIC_RELEASE);
    }
}

void martlet_close_copies(void) {
    for (size_t i = 0; i < SLOTS; i++) {
        if (slots[i].taken > 0 && martlet_is_ours(slots[i].file)) close(slots[i].file.number);
        slots[i].taken = 0;
    }
}
