"""Builds and runs the image of deploy/Dockerfile without a container engine: `make container-check`.

Debian's debootstrap makes the root file system of the base image. The instructions of the last stage are executed in it. The server then
runs as compose.yaml and the Kubernetes manifests run it: as an ordinary user without capabilities and new privileges, with a process
namespace of its own, on a read-only root file system. A client calls a tool, and the health check is executed.
"""

import http.server
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
KEY = "a-key-of-the-container-check"
PAGE = b"<!doctype html><title>Container</title><h1>It works</h1><button>Go</button>"
# What runs inside: the mounts of compose.yaml, then the entry point as the user of the image.
START = """
set -e
mount --make-rprivate /
mount --rbind "$ROOT" "$ROOT"
mount -o remount,bind,ro "$ROOT"
mount -t proc proc "$ROOT/proc"
mount -t tmpfs -o mode=1777 tmp "$ROOT/tmp"
mount -t tmpfs -o mode=755 dev "$ROOT/dev"
for name in null zero random urandom; do touch "$ROOT/dev/$name"; mount --bind "/dev/$name" "$ROOT/dev/$name"; done
mkdir "$ROOT/dev/shm"
mount -t tmpfs -o mode=1777,size=64m shm "$ROOT/dev/shm"
mount -t tmpfs -o "mode=700,uid=$USER_ID" work "$ROOT/work"
exec env -i "PATH=$PATH" chroot "$ROOT" setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups --no-new-privs --bounding-set=-all \
  --inh-caps=-all "$@"
"""


def instructions(path):
    """Returns the instructions of the last stage: their names and arguments."""
    text = open(path, encoding="utf-8").read()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    pairs = [line.split(None, 1) for line in joined.splitlines() if line.strip()]
    last = max(at for at, pair in enumerate(pairs) if pair[0] == "FROM")
    return pairs[last:]


def in_root(root, command, environment, **options):
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin", **environment}
    return subprocess.run([CHROOT, root, *command], env=environment, check=True, **options)


def build(root, binary):
    """Executes the instructions. Returns the environment, the user, the folder, the health check and the entry point."""
    image = {"env": {}, "user": "0", "folder": "/", "health": None, "entry": None}
    for name, words in instructions(os.path.join(HERE, "Dockerfile")):
        if name == "FROM":
            suite = words.split(":")[1].removesuffix("-slim")
            if not os.path.exists(os.path.join(root, "ready")):
                shutil.rmtree(root, ignore_errors=True)
                subprocess.run(["debootstrap", "--variant=minbase", suite, root], check=True, stdout=subprocess.DEVNULL)
                open(os.path.join(root, "ready"), "w").close()
            for file in ["/etc/resolv.conf", "/etc/hosts"]:
                shutil.copy(file, root + file)
        elif name == "RUN":
            # A second run finds the user that the first one created.
            if not ("useradd" in words and "playhouse:" in open(root + "/etc/passwd").read()):
                in_root(root, ["sh", "-c", words], {"DEBIAN_FRONTEND": "noninteractive"}, stdout=subprocess.DEVNULL)
        elif name == "COPY":
            target = root + words.split()[-1]
            shutil.copy(binary, target)
            os.chmod(target, 0o755)
        elif name == "ENV":
            image["env"].update(pair.split("=", 1) for pair in shlex.split(words))
        elif name == "USER":
            image["user"] = words
        elif name == "WORKDIR":
            image["folder"] = words
        elif name == "HEALTHCHECK":
            image["health"] = json.loads(words.split("CMD", 1)[1])
        elif name == "ENTRYPOINT":
            image["entry"] = json.loads(words)
        elif name not in ("EXPOSE", "STOPSIGNAL"):
            raise SystemExit(f"deploy/rootfs.py cannot execute {name}")
    return image


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def serve():
    """Serves a page. Returns its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def ask(port, method, params):
    """Sends a request with the key over `/message` and returns the result."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/message",
        json.dumps(message).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {KEY}"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    if "result" not in answer:
        raise SystemExit(f"{method} failed: {answer}")
    return answer["result"]


def call(port, tool, arguments):
    """Calls a tool and returns the text of the answer."""
    result = ask(port, "tools/call", {"name": tool, "arguments": arguments})
    text = "\n".join(item.get("text", "") for item in result["content"])
    if result.get("isError"):
        raise SystemExit(f"{tool} failed: {text}")
    return text


def first_process(unshare):
    """Returns the first process of the namespace: tini, which forwards signals."""
    children = open(f"/proc/{unshare.pid}/task/{unshare.pid}/children", encoding="utf-8").read()
    return int(children.split()[0])


def main():
    binary, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    began = time.monotonic()
    image = build(root, binary)
    print(f"built in {time.monotonic() - began:.0f} s", flush=True)
    port, page = free_port(), serve()
    variables = {
        **image["env"],
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": image["folder"],
        "PLAYHOUSE_PORT": str(port),
        "PLAYHOUSE_API_KEY": KEY,
    }
    assignments = [f"{name}={value}" for name, value in variables.items()]
    run = ["env", f"--chdir={image['folder']}", *assignments, *image["entry"]]
    process = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "sh", "-c", START, "sh", *run],
        env={"PATH": os.environ["PATH"], "ROOT": root, "USER_ID": image["user"]},
    )
    try:
        healthy = None
        for _ in range(50):
            time.sleep(0.2)
            if process.poll() is not None:
                raise SystemExit(f"the server exited with {process.returncode}")
            check = subprocess.run([CHROOT, root, *image["health"]], env=variables, capture_output=True, text=True)
            healthy = check.returncode == 0
            if healthy:
                break
        if not healthy:
            raise SystemExit(f"the health check fails: {check.stderr}")
        print("the health check succeeds")
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "rootfs", "version": "1"}}
        server = ask(port, "initialize", client)["serverInfo"]
        tools = [tool["name"] for tool in ask(port, "tools/list", {})["tools"]]
        if "browser_navigate" not in tools:
            raise SystemExit(f"{server} lists the tools {tools}")
        print(f"{server['name']} {server['version']} lists {len(tools)} tools")
        answer = call(port, "browser_navigate", {"url": page})
        if "# It works" not in answer:
            raise SystemExit(f"browser_navigate answered: {answer}")
        print("a call is answered")
        answer = call(port, "browser_take_screenshot", {"filename": "page.png"})
        if "(./page.png)" not in answer:
            raise SystemExit(f"browser_take_screenshot answered: {answer}")
        try:
            status = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).status
        except urllib.error.HTTPError as error:
            status = error.code
        if status != 401:
            raise SystemExit(f"/metrics answers with {status} without a key")
        print("without a key, requests are refused")
        os.kill(first_process(process), signal.SIGTERM)
        code = process.wait(timeout=40)
        if code != 0:
            raise SystemExit(f"after SIGTERM the server exited with {code}")
        print("SIGTERM ends the server with status 0")
    finally:
        if process.poll() is None:
            # With its first process, all processes of the namespace end.
            os.kill(first_process(process), signal.SIGKILL)
            process.wait()


main()
