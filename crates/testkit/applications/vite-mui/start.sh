exec vite --port "$PORT" --strictPort
