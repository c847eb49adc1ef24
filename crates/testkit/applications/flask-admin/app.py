# An administration of employees and departments.
import os

from flask import Flask
from flask_admin import Admin
from flask_admin.contrib.sqla import ModelView
from flask_sqlalchemy import SQLAlchemy

app = Flask(__name__)
app.config["SECRET_KEY"] = "only for tests"
app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{os.getcwd()}/data.sqlite"
db = SQLAlchemy(app)


class Department(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(db.String(50), nullable=False)

    def __str__(self):
        return self.name


class Employee(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(db.String(50), nullable=False)
    hired = db.Column(db.Date)
    is_remote = db.Column(db.Boolean)
    department_id = db.Column(db.ForeignKey("department.id"))
    department = db.relationship(Department, backref="employees")

    def __str__(self):
        return self.name


class EmployeeView(ModelView):
    column_searchable_list = ["name"]
    column_filters = ["is_remote", "name"]
    column_editable_list = ["name"]
    create_modal = True


admin = Admin(app, name="Staff")
admin.add_view(EmployeeView(Employee, db.session))
admin.add_view(ModelView(Department, db.session))

with app.app_context():
    db.create_all()
    db.session.add_all([Department(name="Sales"), Department(name="Support"), Employee(name="Bob"), Employee(name="Carol", is_remote=True)])
    db.session.commit()
app.run(port=int(os.environ["PORT"]))
