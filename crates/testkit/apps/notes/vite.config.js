// The environment variables API_URL and PORT are the address of the API and the port of the app.
export default {
  // Not in node_modules, because copies of the app share that folder.
  cacheDir: ".vite",
  server: {
    port: Number(process.env.PORT ?? 5173),
    proxy: { "/api": process.env.API_URL ?? "http://127.0.0.1:3000" },
  },
};
