// Draws the charts of report.html with Chart.js. Every function takes plain rows and does not depend on the report.
"use strict";

const charts = (() => {
  const available = typeof Chart !== "undefined";
  const redraws = [];  // one function per chart, which draws it in the current colours

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const series = (index) => {
    const palette = color("series").split(" ");
    return palette[index % palette.length];
  };

  // Draws intervals as whiskers and single measurements as dots, for which Chart.js has no element. A dataset has
  // `whiskers` ([low, high] or null), `dots` (lists of values) and `notes` ({at, text}: text to the right of a value),
  // one for each of its points.
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
      context.font = noteFont();
      context.fillText(note.text, at(note.at, 0)[0] + 9, element.y + 1);
    }
    for (const [width, stroke] of [[4.5, "ground"], [1.5, "text"]]) {  // an outline, because bars are dark in one theme
      context.lineWidth = width;
      context.strokeStyle = color(stroke);
      context.stroke(path);
    }
    context.restore();
  }

  const noteFont = () => `${Chart.defaults.font.size}px ${Chart.defaults.font.family}`;
  function noteWidth(notes) {
    const context = document.createElement("canvas").getContext("2d");
    context.font = noteFont();
    return Math.max(...notes.map((note) => context.measureText(note.text).width));
  }

  function axis(title, options) {
    return {
      beginAtZero: true,
      title: { display: Boolean(title), text: title, color: color("text") },
      grid: { color: color("line"), borderColor: color("line") },
      ...options,
      ticks: { color: color("text"), ...(options || {}).ticks },
    };
  }

  // Returns the height on paper: smaller, to save paper, and at most a page, so that no chart is cut in two. A low chart
  // keeps its height.
  const onPaper = (height) => height < 200 ? height : Math.min(0.8 * height, 820);

  // Adds a figure with its title and a chart of `height` pixels (less on paper) to `parent`. configure() returns the
  // parts of the chart in the current colours.
  function add(parent, title, height, configure) {
    const figure = parent.appendChild(document.createElement("figure"));
    figure.appendChild(document.createElement("figcaption")).textContent = title;
    const box = figure.appendChild(document.createElement("div"));
    box.className = "canvas";
    const canvas = box.appendChild(document.createElement("canvas"));
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", title);
    let chart = null;
    const draw = () => {
      if (chart) chart.destroy();
      box.style.height = (document.documentElement.classList.contains("paper") ? onPaper(height) : height) + "px";
      chart = new Chart(canvas, complete(configure()));
    };
    draw();
    redraws.push(draw);
  }

  function complete(config) {
    return {
      type: config.type, data: config.data, plugins: [marks],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, indexAxis: config.indexAxis || "x",
        interaction: config.interaction || {}, scales: config.scales, layout: { padding: { right: config.paddingRight || 0 } },
        plugins: {
          legend: {
            display: Boolean(config.legend), position: "top", align: "start",
            labels: { color: color("text"), boxWidth: 14, ...config.legendLabels },
          },
          tooltip: { filter: (item) => item.raw !== null, callbacks: config.tooltip || {} },
        },
      },
    };
  }

  // Breaks a long name into several lines, so that it leaves room for the bars.
  function lines(name) {
    const result = [""];
    for (const word of name.split(" ")) {
      const last = result.length - 1;
      if (result[last] && (result[last] + " " + word).length > 30) result.push(word);
      else result[last] += (result[last] ? " " : "") + word;
    }
    return result;
  }
  const categories = () => axis("", { ticks: { autoSkip: false } });
  const barsHeight = (names, perBar, around) =>
    around + names.length * Math.max(perBar, ...names.map((name) => 16 * lines(name).length + 6));

  // Draws one bar per row. rows: {name, value, interval, repeats}.
  function bars(parent, title, unit, rows) {
    const names = rows.map((row) => row.name);
    add(parent, title, barsHeight(names, 30, 60), () => ({
      type: "bar", indexAxis: "y",
      data: {
        labels: names.map(lines),
        datasets: [{ label: unit, data: rows.map((row) => row.value), whiskers: rows.map((row) => row.interval),
                     dots: rows.map((row) => row.repeats), backgroundColor: color("accent"), maxBarThickness: 22 }],
      },
      scales: { x: axis(unit, { grace: "5%" }), y: categories() },
    }));
  }

  // Draws one bar per row, which shows what it kept of the row above, and what it gained or lost. rows: {name, value,
  // before (value of the row above; none in the first row), interval, text, clear (whether the change exceeds the noise)}.
  function steps(parent, title, unit, rows) {
    const names = rows.map((row) => row.name);
    const notes = rows.map((row) => ({ text: row.text, at: Math.max(row.value, row.before || 0, ...(row.interval || [])) }));
    const piece = (applies, size) => rows.map((row) => row.before !== undefined && applies(row) ? size(row) : null);
    const change = (row) => Math.abs(row.value - row.before);
    const hollow = (name) => ({ backgroundColor: "transparent", borderColor: color(name), borderWidth: 1.5, borderSkipped: false });
    const bar = { maxBarThickness: 22 };
    add(parent, title, barsHeight(names, 32, 90), () => ({
      type: "bar", indexAxis: "y", legend: true, interaction: { mode: "index", axis: "y" },
      legendLabels: { filter: (item, data) => data.datasets[item.datasetIndex].data.some((value) => value !== null) },
      paddingRight: noteWidth(notes) + 12,
      data: {
        labels: names.map(lines),
        datasets: [
          { ...bar, label: "as the step before", data: rows.map((row) => Math.min(row.value, row.before ?? row.value)),
            backgroundColor: color("other"), whiskers: rows.map((row) => row.interval), notes },
          { ...bar, label: "gained", data: piece((row) => row.clear && row.value >= row.before, change), backgroundColor: color("accent") },
          { ...bar, label: "lost", data: piece((row) => row.clear && row.value < row.before, change), ...hollow("wait") },
          { ...bar, label: "changed within the noise", data: piece((row) => !row.clear, change), ...hollow("muted") },
        ],
      },
      scales: { x: axis(unit, { stacked: true }), y: { ...categories(), stacked: true } },
      tooltip: { label: (item) => `${item.dataset.label}: ${item.raw.toFixed(1)} ${unit}` },
    }));
  }

  // Draws stacked bars. rows: {name, shares}, with one share for each of `parts`: {name, color}. Shares sum to 1.
  function stack(parent, title, parts, rows) {
    const names = rows.map((row) => row.name);
    add(parent, title, barsHeight(names, 26, 90), () => ({
      type: "bar", indexAxis: "y", legend: true, interaction: { mode: "index", axis: "y" },
      data: {
        labels: names.map(lines),
        datasets: parts.map((part, index) => ({
          label: part.name, data: rows.map((row) => 100 * row.shares[index]),
          backgroundColor: color(part.color), borderColor: color("ground"), borderWidth: { right: 1 }, maxBarThickness: 22,
        })),
      },
      scales: { x: axis("% of the step time", { stacked: true, min: 0, max: 100 }), y: { ...categories(), stacked: true } },
      tooltip: { label: (item) => `${item.dataset.label}: ${Math.abs(item.raw).toFixed(1)} %` },
    }));
  }

  const shapes = ["circle", "rect", "triangle", "rectRot", "star", "cross"];

  // Draws rates over ranks. arms: {name, points: [{ranks, value, interval}]}, with ascending ranks. Each arm also has a
  // dashed line: the rate of its smallest world, scaled with the ranks.
  function scaling(parent, title, unit, arms) {
    const most = Math.max(...arms.flatMap((arm) => arm.points.map((point) => point.ranks)));
    const measured = (arm, index) => ({
      label: arm.name, borderColor: series(index), backgroundColor: series(index), borderWidth: 2,
      pointStyle: shapes[index % shapes.length], pointRadius: 5, whiskers: arm.points.map((point) => point.interval),
      data: arm.points.map((point) => ({ x: point.ranks, y: point.value })),
    });
    const ideal = (arm, index) => ({
      label: "ideal", borderColor: series(index), borderDash: [6, 5], borderWidth: 1.5, pointRadius: 0,
      data: [0, most].map((ranks) => ({ x: ranks, y: ranks * arm.points[0].value / arm.points[0].ranks })),
    });
    add(parent, title, 380, () => ({
      type: "line", legend: true,
      legendLabels: { usePointStyle: true, boxWidth: 8, boxHeight: 7, filter: (item) => item.text !== "ideal" },
      data: { datasets: [...arms.map(measured), ...arms.map(ideal)] },
      scales: { x: axis("ranks", { type: "linear", ticks: { precision: 0 } }), y: axis(unit) },
    }));
  }

  // Draws lines. lines: {name, color (a name in the style sheet, or undefined for one of the series), width, points:
  // [{x, y}]}. A point whose y is null makes a gap.
  function curves(parent, title, xTitle, yTitle, yOptions, lines) {
    const few = lines.every((line) => line.points.length < 4);
    const dataset = (line, index) => {
      const lineColor = line.color ? color(line.color) : series(index);
      return { label: line.name, data: line.points, pointRadius: few ? 3 : 0, borderWidth: line.width || 1.5,
               borderColor: lineColor, backgroundColor: lineColor };
    };
    const last = Math.max(...lines.flatMap((line) => line.points.map((point) => point.x)));
    add(parent, title, 190, () => ({
      type: "line", legend: lines.length > 1 && lines.length <= 8, interaction: { mode: "nearest", intersect: false },
      data: { datasets: lines.map(dataset) },
      scales: { x: axis(xTitle, { type: "linear", max: last }), y: axis(yTitle, yOptions) },
    }));
  }

  const redrawAll = () => redraws.forEach((redraw) => redraw());
  // Paper has its own width and colours, but the print style sheet does not apply yet when beforeprint is sent. So a class
  // of the page sets them.
  function setPaper(on) {
    document.documentElement.classList.toggle("paper", on);
    Chart.defaults.font.size = on ? 10 : 12;
    redrawAll();
  }
  if (available) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
    addEventListener("beforeprint", () => setPaper(true));
    addEventListener("afterprint", () => setPaper(false));
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  }

  return { available, bars, steps, stack, scaling, curves };
})();
