#!/bin/sh
# Ends the servers of a folder, and removes the folder, once standard input ends: that is, once the
# process that holds its other end is gone, however it ended.
#
# guard.sh FOLDER

folder=$1
trap '' HUP INT TERM
cat >/dev/null
cd "$folder" || exit

# A number in a file may be another's by now; the server's command line names the folder.
runs() {
  pid=$(head -n 1 "$pidfile" 2>/dev/null) && [ -n "$pid" ] &&
    tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF -- "$folder/"
}

family() { echo "$pid" "$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)"; }

# Of one program, or of several; under Patroni PostgreSQL writes a file of its own.
for pidfile in pid */pid */data/postmaster.pid; do
  runs || continue
  kill -CONT $(family)
  kill -QUIT "$pid" # PostgreSQL then ends at once
  for _ in $(seq 100); do
    runs || break
    sleep 0.1
  done
  runs && kill -KILL $(family)
done 2>/dev/null

# An initdb, which has no such file, writes until it misses what has been removed.
for _ in $(seq 100); do
  rm -rf -- "$folder" && break
  sleep 0.1
done 2>/dev/null
