# Ready: /add
export NUXT_TELEMETRY_DISABLED=1
exec nuxt dev --port "$PORT"
