#!/bin/sh
# A server command that breaks the rules of its interface.
#
#   broken-command.sh MODE [URL [PID]] --start|--restart|--status|--shutdown
#
# MODE is one of those below, or MODE@OPTION: then only that option is answered wrongly, and the others as they should be.
# URL and PID are those of a server that the test runs itself, for answers that are right; the command starts none.
mode=${1:-good}
url=${2:-http://127.0.0.1:1}
pid=${3:-$$}
for word; do option=$word; done
case $option in
  --*) ;;
  *) option=--start ;;
esac
case $url in --*) url=http://127.0.0.1:1 ;; esac
case $pid in --*) pid=$$ ;; esac
port=${url##*:}
port=${port%%/*}

case $mode in
  *@*) [ "${mode#*@}" = "$option" ] && mode=${mode%@*} || mode=good ;;
esac

common="\"url\":\"$url\",\"port\":$port,\"pid\":$pid,\"startedAt\":\"2026-01-02T03:04:05Z\""
logs='"logs":{"stdout":"/tmp/broken.stdout.log","stderr":"/tmp/broken.stderr.log","combined":"/tmp/broken.log"}'
case $option in
  --start) good="{\"status\":\"ready\",$common,$logs,\"message\":\"Server started\"}" ;;
  --restart) good="{\"status\":\"restarted\",$common,\"previousPid\":1,\"previousPort\":2,\"message\":\"Server restarted\"}" ;;
  --status) good="{\"status\":\"running\",$common,\"uptime\":5,\"healthy\":true,$logs,\"message\":\"Server is running\"}" ;;
  --shutdown) good="{\"status\":\"stopped\",\"previousPid\":$pid,\"previousPort\":$port,\"stoppedAt\":\"2026-01-02T03:04:10Z\",\"uptime\":5,\"message\":\"Server stopped\"}" ;;
esac
say() { printf '%s\n' "$1"; }

case $mode in
  # What is right, and what one should bear.
  good) say "$good" ;;
  chatty) say "> dev"; say "compiled {in} 3 ms [ok]"; say "$good"; say "bye" ;;
  pretty) say "$good" | sed 's/,"/,\n  "/g' ;;
  extra-fields) say "$good" | sed 's/}$/,"flavour":{"of":"the day"},"extra":[1,2]}/' ;;
  no-message) say "$good" | sed 's/,"message":"[^"]*"//' ;;
  no-logs) say "$good" | sed 's/,"logs":{[^}]*}//' ;;
  no-url) say "$good" | sed 's/"url":"[^"]*",//' ;;
  warning) echo "warning: deprecated" >&2; say "$good" ;;
  byte-order-mark) printf '\357\273\277%s\r\n' "$good" ;;
  already) say "$good" | sed 's/"status":"ready"/"status":"already_running"/' ;;
  stopped) say '{"status":"stopped","healthy":false,"message":"Server is not running"}' ;;
  unhealthy) say "$good" | sed 's/"status":"running"/"status":"unhealthy"/; s/"healthy":true/"healthy":false/' ;;
  # A failure that is reported as it should be.
  error)
    echo "Error: cannot find module 'express'" >&2
    say '{"status":"error","error":"START_FAILED","message":"the app ended with code 1"}'
    exit 1 ;;
  # What is wrong.
  silent) ;;
  no-json) say "Server started on port $port"; echo "npm error missing script: dev" >&2 ;;
  no-json-fails) say "Starting"; echo "npm error missing script: dev" >&2; exit 127 ;;
  cut-off) printf '%.40s' "$good" ;;
  list) say "[$good]" ;;
  two) say "$good"; say "$good" | sed 's/"message":"[^"]*"/"message":"the second"/' ;;
  wrong-types) say "$good" | sed 's/"port":[0-9]*/"port":"the usual"/; s/"previousPort":[0-9]*/"previousPort":"the usual"/' ;;
  wrong-port) say "$good" | sed 's/"port":[0-9]*/"port":70000/' ;;
  wrong-url) say "$good" | sed 's/"url":"[^"]*"/"url":"not a url"/' ;;
  wrong-status) say "$good" | sed 's/"status":"[^"]*"/"status":"sleepy"/' ;;
  no-status) say "$good" | sed 's/"status":"[^"]*",//' ;;
  other-status) say '{"status":"stopped","message":"that is not what you asked for"}' ;;
  dead-port) say "$good" | sed 's/"port":[0-9]*/"port":1/; s,"url":"[^"]*","url":"http://127.0.0.1:1",' ;;
  ready-fails) say "$good"; exit 1 ;;
  error-succeeds) say '{"status":"error","error":"START_FAILED","message":"it failed, says the text"}' ;;
  binary) head -c 4096 /dev/urandom ;;
  endless) exec yes '{"status":"ready"' ;;
  endless-stderr) exec yes 'all work and no play' >&2 ;;
  # Two processes, so that killing only the first leaves one.
  never) echo "waiting for the database" >&2; sleep 1000001 & wait ;;
  never-stubborn) trap '' TERM INT HUP; sleep 1000002 & while :; do wait; done ;;
  answered-then-never) say "$good"; sleep 1000003 & wait ;;
  # It ends at once, and something it started goes on with its stdout.
  held-open) say "$good"; sleep 1000004 & ;;
  killed) kill -KILL $$ ;;
  *) echo "broken-command.sh: no such mode: $mode" >&2; exit 64 ;;
esac
