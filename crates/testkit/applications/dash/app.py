# A dashboard of sales: filters, a table that is edited, and a file. What is edited is stored in a file.
import json
import os

from dash import Dash, Input, Output, callback, dash_table, dcc, html

app = Dash(__name__)
app.layout = html.Div(
    [
        html.H1("Sales"),
        html.Label(["Region", dcc.Dropdown(["North", "South", "East"], "North", id="region")]),
        dcc.Slider(0, 10, 1, value=3, id="weeks"),
        dcc.Checklist(["New", "Returning"], id="customers"),
        dcc.DatePickerSingle(id="day", date="2026-01-05"),
        html.P(id="filter"),
        dcc.Tabs(
            [
                dcc.Tab(
                    label="Table",
                    children=dash_table.DataTable(
                        [{"product": "Hammer", "sold": 3}, {"product": "Saw", "sold": 7}],
                        [{"name": "product", "id": "product"}, {"name": "sold", "id": "sold", "type": "numeric"}],
                        editable=True,
                        sort_action="native",
                        row_selectable="multi",
                        id="table",
                    ),
                ),
                dcc.Tab(label="Upload", children=[dcc.Upload(html.A("Select a file"), id="file"), html.P(id="uploaded")]),
            ]
        ),
        html.P(id="sum"),
    ]
)


@callback(Output("filter", "children"), Input("region", "value"), Input("weeks", "value"), Input("customers", "value"), Input("day", "date"))
def show_filter(*values):
    json.dump(values, open("filter.json", "w"))
    return f"Filter: {values}"


@callback(Output("sum", "children"), Input("table", "data"))
def show_sum(rows):
    json.dump(rows, open("table.json", "w"))
    return f"Sum: {sum(int(row['sold'] or 0) for row in rows)}"


@callback(Output("uploaded", "children"), Input("file", "filename"))
def show_file(name):
    return f"File: {name}"


app.run(port=int(os.environ["PORT"]))
