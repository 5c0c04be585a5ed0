/* Preloaded (LD_PRELOAD) to make the disk fail: while the file named by FAIL_FSYNC exists, fsync and
   fdatasync return EIO. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int sync_or_fail(const char *name, int fd) {
  const char *trigger = getenv("FAIL_FSYNC");
  if (trigger != NULL && access(trigger, F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(fd);
}

int fsync(int fd) { return sync_or_fail("fsync", fd); }
int fdatasync(int fd) { return sync_or_fail("fdatasync", fd); }
