exec python app.py
