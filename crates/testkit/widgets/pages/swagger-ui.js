import "swagger-ui-dist/swagger-ui.css";
import SwaggerUIBundle from "swagger-ui-dist/swagger-ui-es-bundle.js";

const pet = { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } } };
const answer = { description: "OK", content: { "application/json": { schema: pet } } };
SwaggerUIBundle({
  domNode: document.querySelector("#root"),
  spec: {
    openapi: "3.0.3",
    info: { title: "Pets", version: "1.0.0", description: "A small service." },
    tags: [{ name: "pet", description: "Everything about your pets" }],
    paths: {
      "/pet/{id}": {
        get: {
          tags: ["pet"],
          summary: "Find a pet",
          parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
          responses: { 200: answer, 404: { description: "Not found" } },
        },
        delete: { tags: ["pet"], summary: "Delete a pet", responses: { 204: { description: "Gone" } } },
      },
    },
    components: { schemas: { Pet: pet } },
  },
});
