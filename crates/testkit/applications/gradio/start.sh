export GRADIO_ANALYTICS_ENABLED=False
exec python app.py
