#!/usr/bin/env bash
# A server command: starts, restarts, checks and stops a dev server, and answers in JSON on stdout.
#   server.sh [--start | --restart | --status | --shutdown]
# Change the first two lines, put the file beside your app, and name it in `playhouse --server-command ./server.sh`.
# It needs bash and curl, and runs on Linux and macOS.
app=${APP:-npm run dev}               # what starts your app; it listens on the port in $PORT
path=${READY_PATH:-/}                 # a page that answers as soon as the app is ready

cd "$(dirname "$0")" || exit 1
state=${STATE_DIR:-$PWD/.dev-server}
mkdir -p "$state/logs"
out=$state/logs/stdout.log err=$state/logs/stderr.log all=$state/logs/combined.log
set -m                                # each background job gets a process group of its own

quote() { local text=${1//\\/\\\\}; text=${text//\"/\\\"}; text=${text//$'\n'/\\n}; printf '"%s"' "${text//[[:cntrl:]]/ }"; }
answer() { local IFS=,; printf '{%s}\n' "$*"; exit "$code"; }
fail() { code=1; answer '"status":"error"' "\"error\":$(quote "$1")" "\"message\":$(quote "$2")" "$logs"; }
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
born() { ps -o lstart= -p "$1" 2>/dev/null; }
# Whether the process that was started is still running: its pid alone may belong to another process now.
alive() { [ -n "${pid:-}" ] && [ "$(born "$pid")" = "$birth" ]; }
healthy() { curl --silent --output /dev/null --max-time 2 "$url$path"; }
free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

code=0
logs="\"logs\":{\"stdout\":$(quote "$out"),\"stderr\":$(quote "$err"),\"combined\":$(quote "$all")}"
recall() { pid=; [ ! -f "$state/state" ] || . "$state/state"; url=http://localhost:${port:-0}; }
facts() { facts="\"url\":\"$url\",\"port\":$port,\"pid\":$pid,\"startedAt\":\"$started\""; uptime=$(($(date +%s) - since)); }

launch() {
  local try
  for try in {1..50}; do
    port=$((20000 + RANDOM % 20000))
    free "$port" && break
  done
  url=http://localhost:$port
  : >"$out"; : >"$err"; : >"$all"
  # The readers of the app's output ignore its signals, so that they receive its last lines.
  PORT=$port bash -c "$app" </dev/null \
    > >(trap '' TERM; exec tee -a "$out" "$all" >/dev/null 2>&1) \
    2> >(trap '' TERM; exec tee -a "$err" "$all" >/dev/null 2>&1) &
  pid=$!
  started=$(now) since=$(date +%s) birth=$(born "$pid")
  printf '%s=%q\n' pid "$pid" port "$port" started "$started" since "$since" birth "$birth" >"$state/state"
  for try in {1..250}; do             # 25 seconds: a start must be answered within 30
    if ! alive; then
      wait "$pid"
      local ended=$?
      halt
      fail START_FAILED "the app ended with code $ended: $(tail -n 20 "$err")"
    fi
    healthy && { facts; return; }
    sleep 0.1
  done
  halt
  fail START_TIMEOUT "the app did not answer at $url$path: $(tail -n 20 "$all")"
}

halt() {
  local try
  kill -TERM "-$pid" 2>/dev/null
  for try in {1..100}; do             # 10 seconds: a shutdown must be answered within 15
    kill -0 "-$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "-$pid" 2>/dev/null
  rm -f "$state/state"
}

recall
case ${1:---start} in
  --start)
    if alive; then
      facts
      answer '"status":"already_running"' "$facts" "$logs" '"message":"Server is already running"'
    fi
    launch
    answer '"status":"ready"' "$facts" "$logs" '"message":"Server started"' ;;
  --restart)
    before=
    if alive; then before="\"previousPid\":$pid,\"previousPort\":$port,"; halt; fi
    launch
    answer '"status":"restarted"' "$facts" "$before$logs" '"message":"Server restarted"' ;;
  --status)
    alive || answer '"status":"stopped"' '"healthy":false' "$logs" '"message":"Server is not running"'
    facts
    if healthy; then
      answer '"status":"running"' "$facts" "\"uptime\":$uptime" '"healthy":true' "$logs" '"message":"Server is running"'
    fi
    answer '"status":"unhealthy"' "$facts" "\"uptime\":$uptime" '"healthy":false' "$logs" '"message":"Server does not answer"' ;;
  --shutdown)
    alive || answer '"status":"stopped"' "\"stoppedAt\":\"$(now)\"" '"message":"Server was not running"'
    facts
    halt
    answer '"status":"stopped"' "\"previousPid\":$pid" "\"previousPort\":$port" "\"stoppedAt\":\"$(now)\"" "\"uptime\":$uptime" \
      '"message":"Server stopped"' ;;
  *) fail WRONG_OPTION "unknown option $1" ;;
esac
