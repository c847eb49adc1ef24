# Ready: /new
export NEXT_TELEMETRY_DISABLED=1
exec next dev --hostname localhost --port "$PORT"
