// Tables. Cells keep the exact number in data-value.
"use strict";

const fixed = (decimals, scale = 1) => (value) => (value * scale).toFixed(decimals);
const percent = (value) => (Math.abs(value) < 0.0005 ? 0 : 100 * value).toFixed(1);

// Adds a table. columns: {name, unit, key, get, show}; without `show` the cells contain words. The first column names
// the rows. Empty columns are left out.
function table(parent, id, caption, columns, rows) {
  const shown = columns.filter((column) => rows.some((row) => !isEmpty(column.get(row))));
  const scroll = scrollable(element(parent, "div", undefined, "scroll"), caption);
  const grid = element(scroll, "table", undefined, rows.length <= 24 ? "short" : "");  // short: not split on paper
  grid.id = id;
  element(grid, "caption", caption);
  const head = element(element(grid, "thead"), "tr");
  for (const column of shown) {
    const cell = element(head, "th", column.name, column.show ? "" : "words");
    cell.scope = "col";
    if (column.unit) element(cell, "span", column.unit, "unit");
  }
  const body = element(grid, "tbody");
  for (const row of rows) {
    const line = element(body, "tr");
    if (keyOf(row)) line.dataset.trial = keyOf(row);
    shown.forEach((column, index) => fillCell(element(line, index === 0 ? "th" : "td"), column, row));
  }
}
// Returns the key of a row's trial. A row is a trial (`trial` is its name), an object with a trial in `trial`, or has
// no trial.
const keyOf = (row) => (typeof row.trial === "object" ? row.trial : row).key;

const longText = 60;  // letters from which a cell gets the width of a paragraph

function fillCell(cell, column, row) {
  const value = column.get(row);
  cell.dataset.key = column.key;
  if (cell.tagName === "TH") cell.scope = "row";
  if (!column.show) cell.className = column.wrap ? "words wrap" : "words";
  if (words(value).length > longText) cell.classList.add("long");
  if (isEmpty(value)) return;
  cell.textContent = column.show ? column.show(value) : words(value);
  if (column.show) cell.dataset.value = value;
  if (column.bar) addBar(cell, column.bar(row));
}
function addBar(cell, share) {
  if (isEmpty(share)) return;
  const bar = element(cell, "span", undefined, "bar");
  element(bar, "span").style.width = Math.min(100, 100 * share).toFixed(1) + "%";
}
