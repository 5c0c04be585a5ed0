import os
import re

from pet_store_client import AuthenticatedClient
from pet_store_client.api.animals import create_pet, list_pets
from pet_store_client.models import Error, NewPet

client = AuthenticatedClient("http://127.0.0.1:8000/v1", os.environ["PETSTORE_KEY"])
created = create_pet.sync(client=client, body=NewPet("Rex", 9007199254740993))
if isinstance(created, Error):
    raise SystemExit(created.code)
after = None
while True:
    page = list_pets.sync_detailed(client=client, limit=1, after=after)
    for pet in page.parsed:
        print(pet.id, pet.name, pet.category_id)
    link = re.search(r"[?&]after=(-?\d+)", page.headers.get("link", ""))
    if link is None:
        break
    after = int(link[1])
