# A notebook with a slider and a table, as `marimo edit` writes it.
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    return (mo,)


@app.cell
def _(mo):
    price = mo.ui.slider(1, 10, value=2, label="Price")
    price
    return (price,)


@app.cell
def _(mo, price):
    mo.md(f"The total is **{price.value * 3}**")
    return


if __name__ == "__main__":
    app.run()
