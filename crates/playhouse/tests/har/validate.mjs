// Validates the HTTP archive on stdin. Prints nothing if it is valid.
import { text } from "node:stream/consumers";
import validator from "har-validator/lib/promise.js";

try {
  await validator.har(JSON.parse(await text(process.stdin)));
} catch (error) {
  console.log(error.message, JSON.stringify(error.errors, null, 1));
  process.exitCode = 1;
}
