# Run it with `pytest`. With pytest-xdist each worker has its own sandbox.
import json
import subprocess
import urllib.request

import pytest

SANDBOX = "npx --no petstore sandbox --quiet --with-stdin --pets 50"


@pytest.fixture(scope="session")
def store():
    pipe = subprocess.PIPE
    with subprocess.Popen(SANDBOX.split(), stdin=pipe, stdout=pipe) as process:
        line = process.stdout.readline()
        assert line, "the sandbox did not start: see standard error"
        yield json.loads(line)
        process.stdin.close()  # ends the sandbox


@pytest.fixture(autouse=True)
def reset(store):
    send("POST", store["control"] + "/reset")


def send(method, url, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read() or "null")


# The client under test.
def add_pet(store, pet, key):
    headers = {"Authorization": "Bearer " + store["key"], "Idempotency-Key": key}
    for _ in range(3):
        try:
            return send("POST", store["url"] + "/pets", pet, headers)
        except OSError:
            pass  # no answer: send it again, with the same key
    raise OSError("no answer three times")


def test_a_create_whose_answer_was_lost_adds_one_pet(store):
    fault = {"when": {"method": "POST"}, "lose": True, "work": True}
    send("POST", store["control"] + "/faults", fault)
    rex = add_pet(store, {"name": "Rex", "categoryId": 1}, "a")
    assert rex["id"] == 51
    requests = send("GET", store["control"] + "/requests")
    assert [request["status"] for request in requests] == [None, 201]
