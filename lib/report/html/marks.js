// Extends Chart.js for report.html: whiskers, dots, texts next to bars, and the width of labels. Nothing here depends
// on the report.
"use strict";

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const series = (index) => {
  const palette = color("series").split(" ");
  return palette[index % palette.length];
};

// Draws intervals as whiskers and single measurements as dots, which Chart.js lacks. A dataset has `whiskers` ([low,
// high] or null), `dots` (lists of values) and `notes` ({at, text}: text to the right of a value), one for each of its
// points.
const marks = {
  id: "marks",
  afterDatasetsDraw(chart) {
    chart.data.datasets.forEach((dataset, index) => {
      if (!chart.isDatasetVisible(index)) return;
      const along = chart.options.indexAxis === "y" ? "x" : "y";
      chart.getDatasetMeta(index).data.forEach((element, point) => {
        drawMarks(chart.ctx, chart.scales[along], along, element, dataset, point);
      });
    });
  },
};

function drawMarks(context, scale, along, element, dataset, point) {
  const at = (value, across) => {
    const pixel = scale.getPixelForValue(value);
    return along === "x" ? [pixel, element.y + across] : [element.x + across, pixel];
  };
  const path = new Path2D();
  for (const value of (dataset.dots || [])[point] || []) {
    const [x, y] = at(value, 0);
    path.moveTo(x + 1.5, y);
    path.arc(x, y, 1.5, 0, 2 * Math.PI);
  }
  const [low, high] = (dataset.whiskers || [])[point] || [];
  if (low !== undefined) {
    for (const [from, to] of [[at(low, -5), at(low, 5)], [at(low, 0), at(high, 0)], [at(high, -5), at(high, 5)]]) {
      path.moveTo(...from);
      path.lineTo(...to);
    }
  }
  const note = (dataset.notes || [])[point];
  context.save();
  if (note) {
    context.fillStyle = color("text");
    context.textBaseline = "middle";
    context.font = labelFont();
    context.fillText(note.text, at(note.at, 0)[0] + 9, element.y + 1);
  }
  for (const [width, stroke] of [[4.5, "ground"], [1.5, "text"]]) {  // an outline, because bars are dark in one theme
    context.lineWidth = width;
    context.strokeStyle = color(stroke);
    context.stroke(path);
  }
  context.restore();
}

// ---- numbers and the width of labels

// Shows at least three significant digits of a rate, or "?" if it is unknown.
const rate = (value) => value === null ? "?" : value.toFixed(value < 10 ? 2 : 1);

const labelFont = () => `${Chart.defaults.font.size}px ${Chart.defaults.font.family}`;
const textWidth = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text) => {
    context.font = labelFont();
    return context.measureText(text).width;
  };
})();
const notesWidth = (notes) => Math.max(...notes.filter(Boolean).map((note) => textWidth(note.text)), 0);

// Breaks a word wider than `most` pixels into pieces that fit.
function pieces(word, most) {
  const result = [""];
  for (const letter of word) {
    if (result[result.length - 1] && textWidth(result[result.length - 1] + letter) > most) result.push("");
    result[result.length - 1] += letter;
  }
  return result;
}

// Breaks a name into lines of at most `most` pixels, so that it leaves room for the bars without losing letters.
function linesOf(name, most) {
  const result = [""];
  for (const piece of name.split(" ").flatMap((word) => pieces(word, most))) {
    const last = result.length - 1;
    if (result[last] && textWidth(result[last] + " " + piece) > most) result.push(piece);
    else result[last] += (result[last] ? " " : "") + piece;
  }
  return result;
}
