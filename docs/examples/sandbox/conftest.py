# One sandbox for all workers of pytest-xdist.
import os
import subprocess

SANDBOX = "npx --no petstore sandbox --quiet --with-stdin --worlds --pets 50"


def pytest_configure(config):
    if "PETSTORE" in os.environ:
        return  # this is a worker, or the sandbox runs elsewhere
    pipe = subprocess.PIPE
    process = subprocess.Popen(SANDBOX.split(), stdin=pipe, stdout=pipe, text=True)
    line = process.stdout.readline()
    assert line, "the sandbox did not start: see standard error"
    os.environ["PETSTORE"] = line  # workers inherit it
    config.add_cleanup(process.wait)
    config.add_cleanup(process.stdin.close)  # ends the sandbox; the last is called first
