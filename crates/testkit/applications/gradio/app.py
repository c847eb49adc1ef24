# A form that greets, a table, and files.
import json
import os

import gradio as gr


def greet(name, times, kind, friendly):
    greeting = f"Hello {name}, " * int(times) + kind
    json.dump([name, times, kind, friendly], open("greeting.json", "w"))
    return greeting


def measure(file):
    return str(len(open(file).read()))


with gr.Blocks(title="Greeter") as demo:
    gr.Markdown("# Greeter")
    with gr.Row():
        name = gr.Textbox(label="Name")
        times = gr.Slider(1, 5, 1, step=1, label="Times")
    kind = gr.Dropdown(["plain", "bold", "loud"], label="Kind")
    friendly = gr.Checkbox(label="Friendly")
    greeting = gr.Textbox(label="Greeting")
    gr.Button("Greet").click(greet, [name, times, kind, friendly], greeting)
    with gr.Tab("Letters"):
        letter = gr.Radio(["x", "y"], label="Letter")
        chosen = gr.Textbox(label="Chosen")
        letter.change(lambda it: f"You chose {it}", letter, chosen)
    with gr.Tab("Files"):
        file = gr.File(label="Upload")
        size = gr.Textbox(label="Size")
        file.upload(measure, file, size)
    with gr.Accordion("More", open=False):
        gr.Markdown("Nothing more")
demo.launch(server_port=int(os.environ["PORT"]))
