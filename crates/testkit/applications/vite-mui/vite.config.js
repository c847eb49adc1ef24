import { writeFileSync } from "node:fs";
import react from "@vitejs/plugin-react";

/** The API of the page: stores the trips that it sends in a file. */
const api = {
  name: "api",
  configureServer: ({ middlewares }) => {
    middlewares.use("/api/trips", (request, response) => {
      let body = "";
      request.on("data", (part) => (body += part));
      request.on("end", () => {
        writeFileSync("trips.json", body);
        response.end("{}");
      });
    });
  },
};

export default { plugins: [react(), api], clearScreen: false };
