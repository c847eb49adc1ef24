exec marimo edit notebook.py --port "$PORT" --headless --no-token --skip-update-check
