/* Preloaded (LD_PRELOAD) to make the disk full. While a file named by FULL_DISK and one of these endings
   exists, writes return ENOSPC: with `.log`, those to standard output and standard error; with `.shm`,
   those that make the index of SQLite's log longer; with `.disk`, those that make any file longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_on(const char *ending) {
  const char *name = getenv("FULL_DISK");
  char path[4096];
  if (name == NULL) return 0;
  snprintf(path, sizeof path, "%s.%s", name, ending);
  return access(path, F_OK) == 0;
}

static int is_index(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path);
  return length > 4 && memcmp(path + length - 4, "-shm", 4) == 0;
}

static int is_full(int fd, off_t end) {
  struct stat file;
  int saved = errno, is_log = fd == 1 || fd == 2;
  int full = is_log ? is_on("log")
    : fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && end > file.st_size &&
      (is_on("disk") || (is_on("shm") && is_index(fd)));
  errno = full ? ENOSPC : saved;
  return full;
}

#define REAL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

ssize_t pwrite64(int fd, const void *data, size_t count, off_t at) {
  if (is_full(fd, at + count)) return -1;
  return REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t)(fd, data, count, at);
}

ssize_t pwrite(int fd, const void *data, size_t count, off_t at) {
  return pwrite64(fd, data, count, at);
}

ssize_t write(int fd, const void *data, size_t count) {
  if ((fd == 1 || fd == 2) && is_full(fd, 0)) return -1;
  return REAL(ssize_t, "write", int, const void *, size_t)(fd, data, count);
}

ssize_t writev(int fd, const struct iovec *data, int count) {
  if ((fd == 1 || fd == 2) && is_full(fd, 0)) return -1;
  return REAL(ssize_t, "writev", int, const struct iovec *, int)(fd, data, count);
}
