// Where the API is, and which port to take, is told by the environment.
export default {
  // Beside the app, not in node_modules: copies of the app share those.
  cacheDir: ".vite",
  server: {
    port: Number(process.env.PORT ?? 5173),
    proxy: { "/api": process.env.API_URL ?? "http://127.0.0.1:3000" },
  },
};
