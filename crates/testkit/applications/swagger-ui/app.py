# An API of pets, whose documentation is Swagger UI.
from fastapi import FastAPI, HTTPException
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel

app = FastAPI(title="Pets", docs_url=None)
pets = {1: {"name": "Rex", "tag": "dog"}}


class Pet(BaseModel):
    name: str
    tag: str | None = None


@app.get("/pets")
def list_pets(tag: str | None = None, limit: int = 10):
    return [{"id": id, **pet} for id, pet in pets.items() if tag in (None, pet["tag"])][:limit]


@app.post("/pets", status_code=201)
def create_pet(pet: Pet):
    id = max(pets) + 1
    pets[id] = pet.model_dump()
    return {"id": id, **pets[id]}


@app.delete("/pets/{id}", status_code=204)
def delete_pet(id: int):
    if id not in pets:
        raise HTTPException(404, "There is no such pet")
    del pets[id]


# The documentation without a CDN.
app.mount("/static", StaticFiles(directory="../../node_modules/swagger-ui-dist"))


@app.get("/", include_in_schema=False)
def documentation():
    files = {"swagger_js_url": "/static/swagger-ui-bundle.js", "swagger_css_url": "/static/swagger-ui.css"}
    return get_swagger_ui_html(openapi_url="/openapi.json", title="Pets", **files)
