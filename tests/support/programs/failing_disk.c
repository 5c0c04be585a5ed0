/* Preloaded (LD_PRELOAD) to make the disk fail, while the file that a variable names exists:
   FAIL_FSYNC lets fsync and fdatasync return EIO, FULL_DISK lets no file grow, FULL_FOR_SHM no -shm file
   of SQLite, and FULL_LOG lets nothing be written to standard output and standard error. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
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

static int is_shm(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path);
  return length >= 4 && memcmp(path + length - 4, "-shm", 4) == 0;
}

static int is_full(int fd, off_t end) {
  struct stat stats;
  int saved = errno;
  int is_log = fd == STDOUT_FILENO || fd == STDERR_FILENO;
  int is_full = is_log
    ? is_on("FULL_LOG")
    : fstat(fd, &stats) == 0 && S_ISREG(stats.st_mode) && end > stats.st_size &&
      (is_on("FULL_DISK") || (is_shm(fd) && is_on("FULL_FOR_SHM")));
  errno = is_full ? ENOSPC : saved;
  return is_full;
}

static off_t end_of(int fd, size_t count) {
  return lseek(fd, 0, SEEK_CUR) + (off_t)count;
}

/* SQLite uses one of the first three, as it was built; logs are written by the first or the last. */
ssize_t write(int fd, const void *bytes, size_t count) {
  if (is_full(fd, end_of(fd, count))) return -1;
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

ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (is_full(fd, end_of(fd, count > 0 ? parts[0].iov_len : 0))) return -1;
  static ssize_t (*real)(int, const struct iovec *, int);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "writev");
  return real(fd, parts, count);
}
