# Ready: /admin/
exec python app.py
