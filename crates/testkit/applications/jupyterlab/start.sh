# Ready: /lab
exec jupyter lab --core-mode --no-browser --allow-root --ServerApp.token= --ServerApp.password= --port "$PORT" --ServerApp.root_dir="$PWD"
