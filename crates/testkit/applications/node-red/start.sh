exec node-red --define uiHost=127.0.0.1 --port "$PORT" --userDir "$PWD/data"
