"""A page of a study, from blocks, as Markdown and as HTML. Every text is plain: neither form has markup in it."""

import html
import textwrap

import drawing
from measuring import say

COLUMNS = 100  # of Markdown, as in the project's own pages
STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}
table{border-collapse:collapse;margin:1rem 0;font-size:.9rem}td,th{border:1px solid #ccc;padding:.3rem .6rem;
text-align:left;vertical-align:top}th{background:#f3f3f3}img{max-width:100%}h2{margin-top:2rem}"""


def heading(text):
    return ("heading", text)


def paragraph(text):
    return ("paragraph", text)


def bullets(texts):
    return ("bullets", list(texts))


def table(header, rows):
    return ("table", header, rows)


def picture(file, text):
    return ("picture", file, text)


def figure(draw, folder, name, title, *arguments, **options):
    """The picture of a function of drawing; none without matplotlib."""
    if drawing.pyplot:
        draw(folder, name, title, *arguments, **options)
        yield picture(f"{name}.svg", title)


def wrapped(text, indent=""):
    return textwrap.fill(text, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def markdown(title, blocks):
    parts = [f"# {title}"]
    for kind, *content in blocks:
        if kind == "heading":
            parts.append(f"## {content[0]}")
        elif kind == "paragraph":
            parts.append(wrapped(content[0]))
        elif kind == "bullets":
            parts.append("\n".join(wrapped(f"- {text}", "  ") for text in content[0]))
        elif kind == "picture":
            parts.append(f"![{content[1]}]({content[0]})")
        else:
            header, rows = content
            lines = [header, ["---"] * len(header), *rows]
            parts.append("\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |"
                                   for line in lines))
    return "\n\n".join(parts) + "\n"


def cells(tag, line):
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in line) + "</tr>"


def as_html(title, blocks):
    parts = []
    for kind, *content in blocks:
        if kind == "heading":
            parts.append(f"<h2>{html.escape(content[0])}</h2>")
        elif kind == "paragraph":
            parts.append(f"<p>{html.escape(content[0])}</p>")
        elif kind == "bullets":
            parts.append("<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in content[0]) + "</ul>")
        elif kind == "picture":
            parts.append(f'<img src="{html.escape(content[0])}" alt="{html.escape(content[1])}">')
        else:
            header, rows = content
            parts.append("<table>" + cells("th", header) + "".join(cells("td", row) for row in rows) + "</table>")
    name = html.escape(title)
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>\n'
            f"<style>{STYLE}</style></head><body>\n<h1>{name}</h1>\n" + "\n".join(parts) + "\n</body></html>\n")


def write(folder, title, blocks):
    """Writes both forms of the page; returns their paths."""
    paths = [folder / "index.html", folder / "README.md"]
    for path, text in zip(paths, (as_html(title, blocks), markdown(title, blocks))):
        path.write_text(text)
    return paths


def publish(folder, title, blocks):
    """Writes the page, and reports missing requirements of its figures; returns the paths."""
    paths = write(folder, title, list(blocks))
    if not drawing.pyplot:
        say(drawing.HOW_TO_DRAW)
    return paths
