import json, os, sys
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

env = os.environ
kinds = {} if sys.argv[1:] == ["default"] else {"status_forcelist": [429, 500, 502, 503, 504], "allowed_methods": None}
session = requests.Session()
session.mount("http://", HTTPAdapter(max_retries=Retry(total=3, backoff_factor=0.1, **kinds)))
session.headers["Authorization"] = "Bearer " + env["PETSTORE_KEY"]
timeout = int(env["PETSTORE_TIMEOUT_MS"]) / 1000

def ask(method, url, **more):
    response = session.request(method, url, timeout=timeout, **more)
    response.raise_for_status()
    return response

call, url = env["PETSTORE_CALL"], env["PETSTORE_URL"] + "/pets"
if call == "createPet":
    result = ask("POST", url, json=json.loads(env["PETSTORE_PET"])).json()
elif call == "getPet":
    result = ask("GET", url + "/" + env["PETSTORE_ID"]).json()
elif call == "listPets":
    result = ask("GET", url, params={"limit": env["PETSTORE_LIMIT"]}).json()
else:
    result, url = [], url + "?limit=" + env["PETSTORE_LIMIT"]
    while url:
        response = ask("GET", url)
        result += response.json()
        link = response.links.get("next")
        url = requests.compat.urljoin(url, link["url"]) if link else None
print(json.dumps(result))
