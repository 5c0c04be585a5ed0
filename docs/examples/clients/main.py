import os
import re
import uuid

from pet_store_client import AuthenticatedClient
from pet_store_client.api.animals import create_pet, list_pets
from pet_store_client.models import Error, NewPet


def check(response):
    """Ends the program if a request was refused."""
    response.read()
    try:
        body = response.json()
        if response.is_success:
            return
        error = Error.from_dict(body)
    except (KeyError, TypeError, ValueError):
        # A proxy may answer with something other than JSON, or with other members.
        raise SystemExit(f"HTTP {response.status_code}, not from the pet store")
    if error.code == "unauthorized":
        raise SystemExit(f"{error.code}: set PETSTORE_KEY to a valid key")
    raise SystemExit(f"{error.code}: {error.message}")


client = AuthenticatedClient(
    os.environ["PETSTORE_URL"],
    os.environ["PETSTORE_KEY"],
    httpx_args={"event_hooks": {"response": [check]}},
)
# With the same key it can be sent again: a lost answer adds no second pet.
key = str(uuid.uuid4())
create_pet.sync(client=client, body=NewPet("Rex", 9007199254740993), idempotency_key=key)
after = None
while True:
    page = list_pets.sync_detailed(client=client, limit=1, after=after)
    for pet in page.parsed:
        print(pet.id, pet.name, pet.category_id)
    link = re.search(r"[?&]after=(-?\d+)", page.headers.get("link", ""))
    if link is None:
        break
    after = int(link[1])
