# Run it with `pytest`, or in parallel with `pytest -n 8` (pytest-xdist): each test has a world of its own.
import json
import os
import urllib.request
import uuid

import pytest


class World:
    def __init__(self):
        self.key = f"test-{uuid.uuid4()}"
        address = json.loads(os.environ["PETSTORE"])
        self.url, self.control = address["url"], address["control"]

    def send(self, method, url, body=None, headers={}):
        data = None if body is None else json.dumps(body).encode()
        own = {"Content-Type": "application/json", "Authorization": "Bearer " + self.key}
        request = urllib.request.Request(url, data, {**own, **headers}, method=method)
        with urllib.request.urlopen(request) as response:
            return json.loads(response.read() or "null")


@pytest.fixture
def world():
    world = World()
    yield world
    world.send("DELETE", world.control)  # ends the world


# The client under test.
def add_pet(world, pet, idempotency_key):
    for _ in range(3):
        try:
            headers = {"Idempotency-Key": idempotency_key}
            return world.send("POST", world.url + "/pets", pet, headers)
        except OSError:
            pass  # no answer: send it again, with the same key
    raise OSError("no answer three times")


def test_a_create_whose_answer_was_lost_adds_one_pet(world):
    fault = {"when": {"method": "POST"}, "lose": True, "work": True}
    world.send("POST", world.control + "/faults", fault)
    rex = add_pet(world, {"name": "Rex", "categoryId": 1}, "a")
    assert rex["id"] == 51
    requests = world.send("GET", world.control + "/requests")
    assert [request["status"] for request in requests] == [None, 201]


def test_a_refused_create_is_sent_again(world):
    world.send("POST", world.control + "/faults", {"answer": {"status": 503}})
    assert add_pet(world, {"name": "Tom", "categoryId": 1}, "a")["id"] == 51
    assert world.send("GET", world.control)["pets"] == 51
