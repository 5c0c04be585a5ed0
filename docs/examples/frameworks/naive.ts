// A pet store as you might write it in ten minutes from the interface, for the judge to find its bugs.
// Run it with `node naive.ts`, after `npm install express`.
import express from "express";

interface Pet {
  id: number;
  name: string;
  categoryId: number;
  status?: string;
}

const pets: Pet[] = [];
const app = express();
app.use(express.json());

app.use((request, response, next) => {
  if (request.headers.authorization === "Bearer secret") return next();
  const message = "API key is missing or invalid";
  response.status(401).json({ code: "UNAUTHORIZED", message, status: 401 });
});

app.get("/v1/pets", (request, response) => {
  const { limit = 20, status } = request.query;
  const found = pets.filter((pet) => !status || pet.status === status);
  response.json(found.slice(0, Number(limit)));
});

app.post("/v1/pets", (request, response) => {
  const { name, categoryId, status = "available" } = request.body;
  if (!name || !categoryId) {
    const message = "name and categoryId are required";
    response.status(400).json({ code: "BAD_REQUEST", message, status: 400 });
    return;
  }
  const pet = { id: pets.length + 1, name, categoryId, status };
  pets.push(pet);
  response.status(201).json(pet);
});

app.get("/v1/pets/:petId", (request, response) => {
  const pet = pets.find(({ id }) => id === Number(request.params.petId));
  if (pet) response.json(pet);
  else {
    const message = "Pet not found";
    response.status(404).json({ code: "NOT_FOUND", message, status: 404 });
  }
});

app.listen(3000, "127.0.0.1");
