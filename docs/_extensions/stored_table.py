"""The directive ``stored-table``: a table of a page is made of stored results, so that it cannot say anything else.

Every line of its content is a column: heading | file | column of the file | format | a=b to take only such rows. As the
column, ``@mean`` is the row of that name, turned. The option ``key`` names the column by which rows belong together,
and ``best`` (max, min or - per column) what is set in bold.
"""

import csv
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

RESULTS = Path(__file__).parent.parent / "results"


class StoredTable(SphinxDirective):
    """The directive."""

    has_content = True
    option_spec: ClassVar = {
        "key": directives.unchanged_required,
        "heading": directives.unchanged,
        "best": directives.unchanged,
    }

    def run(self):
        """One table, rows in the order of the first column's file."""
        key = self.options["key"]
        columns = [Column(*map(str.strip, line.split("|"))) for line in self.content if line.strip()]
        for column in columns:
            self.env.note_dependency(str(RESULTS / column.file))
        values = [column.values(key) for column in columns]
        best = [
            {"max": max, "min": min}[side](found.values(), key=float) if side in ("max", "min") else None
            for side, found in zip(self.options.get("best", "").split() or ["-"] * len(columns), values, strict=True)
        ]
        rows = [
            [nodes.paragraph(text=self.options.get("heading", key))]
            + [nodes.paragraph(text=c.heading) for c in columns]
        ]
        for name in values[0]:
            row = [nodes.paragraph(text=name.replace("_", " "))]
            for column, found, leading in zip(columns, values, best, strict=True):
                text = column.text(found.get(name, ""))
                paragraph = nodes.paragraph()
                bold = leading is not None and name in found and text == column.text(leading)
                paragraph += nodes.strong(text=text) if bold else nodes.Text(text)
                row.append(paragraph)
            rows.append(row)
        return [as_table(rows)]


class Column:
    """One column of a stored file."""

    def __init__(self, heading, file, column, shape="", condition=""):
        self.heading, self.file, self.column, self.shape = heading, file, column, shape
        self.condition = dict(part.split("=", 1) for part in condition.split(";")) if condition else {}

    def values(self, key):
        """The column by the values of the key."""
        with (RESULTS / self.file).open(encoding="utf-8", newline="") as file:
            if self.column.startswith("@"):
                names, *lines = csv.reader(file)
                return dict(zip(names[1:], next(line[1:] for line in lines if line[0] == self.column[1:]), strict=True))
            rows = [row for row in csv.DictReader(file) if all(row[k] == v for k, v in self.condition.items())]
        if not rows:
            raise ValueError(f"no row of {self.file} has {self.condition}")
        return {" x ".join(row[part] for part in key.split("+")): row[self.column] for row in rows}

    def text(self, value):
        """The value as it is shown."""
        if not self.shape or value in ("", "-"):
            return value
        number = float(value.replace(",", ""))
        return format(number, ",.0f" if abs(number) >= 1000 else self.shape)


def as_table(rows):
    """A table of docutils with one line of headings."""
    group = nodes.tgroup(cols=len(rows[0]))
    group += [nodes.colspec(colwidth=1) for _ in rows[0]]
    head, body = nodes.thead(), nodes.tbody()
    for number, row in enumerate(rows):
        line = nodes.row()
        line += [nodes.entry("", cell) for cell in row]
        (body if number else head).append(line)
    group += [head, body]
    return nodes.table("", group)


def setup(app):
    """Sphinx's hook."""
    app.add_directive("stored-table", StoredTable)
    return {"parallel_read_safe": True}
