# Ready: /admin/login/
python manage.py makemigrations shop
python manage.py migrate
DJANGO_SUPERUSER_PASSWORD=secret python manage.py createsuperuser --noinput --username ada --email ada@example.com
exec python manage.py runserver --noreload "$PORT"
