exec node-red --port "$PORT" --userDir "$PWD/data"
