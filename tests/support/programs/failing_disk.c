/* Preloaded (LD_PRELOAD) to make the disk fail, while the file that a variable names exists:
   FAIL_FSYNC lets fsync and fdatasync return EIO, FULL_FOR_SHM lets no -shm file of SQLite grow. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_on(const char *variable) {
  const char *trigger = getenv(variable);
  return trigger != NULL && access(trigger, F_OK) == 0;
}

static int sync_or_fail(const char *name, int fd) {
  if (is_on("FAIL_FSYNC")) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(fd);
}

int fsync(int fd) { return sync_or_fail("fsync", fd); }
int fdatasync(int fd) { return sync_or_fail("fdatasync", fd); }

static int is_full(int fd, off_t end) {
  if (!is_on("FULL_FOR_SHM")) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path);
  if (length < 4 || memcmp(path + length - 4, "-shm", 4) != 0) return 0;
  struct stat stats;
  if (fstat(fd, &stats) != 0 || end <= stats.st_size) return 0;
  errno = ENOSPC;
  return 1;
}

/* SQLite uses one of these, as it was built. */
ssize_t write(int fd, const void *bytes, size_t count) {
  if (is_full(fd, lseek(fd, 0, SEEK_CUR) + (off_t)count)) return -1;
  static ssize_t (*real)(int, const void *, size_t);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "write");
  return real(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  if (is_full(fd, offset + (off_t)count)) return -1;
  static ssize_t (*real)(int, const void *, size_t, off_t);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
  return real(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  return pwrite(fd, bytes, count, (off_t)offset);
}
