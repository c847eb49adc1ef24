# A form for orders, and a table of those that were saved.
import datetime
import json
from pathlib import Path

import pandas
import streamlit as st

FILE = Path("orders.json")
orders = json.loads(FILE.read_text()) if FILE.exists() else []

st.title("Orders")
with st.sidebar:
    region = st.selectbox("Region", ["North", "South", "East"])
    express = st.toggle("Express")
entry, table = st.tabs(["Entry", "Table"])
with entry, st.form("order"):
    customer = st.text_input("Customer")
    quantity = st.number_input("Quantity", 1, 100, 1)
    size = st.slider("Size", 0, 10, 3)
    colors = st.multiselect("Colors", ["Red", "Green", "Blue"])
    day = st.date_input("Day", datetime.date(2026, 1, 5))
    note = st.text_area("Note")
    if st.form_submit_button("Save"):
        orders.append([region, express, customer, quantity, size, colors, str(day), note])
        FILE.write_text(json.dumps(orders))
        st.success(f"Saved {customer}")
with table:
    st.dataframe(pandas.DataFrame(orders, columns=["region", "express", "customer", "quantity", "size", "colors", "day", "note"]))
if st.button("Delete all"):
    FILE.unlink(missing_ok=True)
