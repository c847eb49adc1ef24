exec uvicorn app:app --port "$PORT"
