exec vite dev --port "$PORT" --strictPort
