import json, os, sys, urllib.request

env = os.environ


def send(path, body=None):  # your SDK takes the place of this
    headers = {"Authorization": "Bearer " + env["PETSTORE_KEY"], "Content-Type": "application/json"}
    request = urllib.request.Request(env["PETSTORE_URL"] + path, body, headers)
    with urllib.request.urlopen(request, timeout=int(env["PETSTORE_TIMEOUT_MS"]) / 1000) as response:
        print(json.dumps(json.load(response)))


call = env["PETSTORE_CALL"]
if call == "createPet":
    send("/pets", env["PETSTORE_PET"].encode())
elif call == "getPet":
    send("/pets/" + env["PETSTORE_ID"])
elif call == "listPets":
    send("/pets?limit=" + env["PETSTORE_LIMIT"])
else:
    sys.exit(77)  # walk: not supported
