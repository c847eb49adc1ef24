// The app of the documentation: answers every request, on the port in PORT.
import { createServer } from "node:http";

createServer((_request, response) => response.end("<title>App</title>")).listen(process.env.PORT);
